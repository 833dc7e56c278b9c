/** Every value that each label can have. */
export type LabelValues = Readonly<Record<string, readonly string[]>>

/** One value of each label. */
export type Labels = Readonly<Record<string, string>>

/**
 * Counts under labels, cheap to raise: every decision raises several, and libraries of metrics work out a text from the
 * labels each time. So numbers are added to a table, and handed over when the metrics are read.
 */
export class CountTable {
  /** Every combination of values, by its place in the table. */
  readonly combinations: readonly Labels[]
  /** What was counted, at the same places. */
  readonly counts: number[]
  /** For each label the place of each value; the sum over the labels is the place in the table. */
  readonly #places: readonly ReadonlyMap<string, number>[]

  constructor(labels: LabelValues) {
    let combinations: Labels[] = [{}]
    const places: Map<string, number>[] = []
    for (const [label, values] of Object.entries(labels)) {
      const size = combinations.length
      places.push(new Map(values.map((value, index) => [value, index * size])))
      combinations = values.flatMap((value) => combinations.map((others) => ({ ...others, [label]: value })))
    }
    this.#places = places
    this.combinations = combinations
    this.counts = combinations.map(() => 0)
  }

  /** @param values one of each label, in the order of the labels */
  raise(by: number, ...values: readonly string[]): void {
    let at = 0
    for (let label = 0; label < values.length; label++) at += this.#places[label]!.get(values[label]!)!
    this.counts[at]! += by
  }
}
