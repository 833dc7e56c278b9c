import { Counter, type Registry, type RegistryContentType } from 'prom-client'

/** What a {@link Tally} counts under. */
export interface TallyOptions<Label extends string> {
  readonly name: string
  readonly help: string
  readonly registry: Registry<RegistryContentType>
  /** Every value that each label can have; all combinations are there from the beginning, at 0. */
  readonly labels: Readonly<Record<Label, readonly string[]>>
}

/**
 * A counter of prom-client that is cheap to raise. Every decision raises several, and prom-client works out a text from
 * the labels each time; so numbers are added to a table, and handed over when the metrics are read.
 */
export class Tally<Label extends string> {
  readonly counter: Counter<Label>
  /** For each label the place of each value; the sum over the labels is the place in the table. */
  readonly #places: readonly ReadonlyMap<string, number>[]
  readonly #combinations: readonly Record<Label, string>[]
  readonly #pending: number[]

  constructor({ name, help, registry, labels }: TallyOptions<Label>) {
    const names = Object.keys(labels) as Label[]
    let combinations: Partial<Record<Label, string>>[] = [{}]
    const places: Map<string, number>[] = []
    for (const label of names) {
      const values = labels[label]
      const size = combinations.length
      places.push(new Map(values.map((value, index) => [value, index * size])))
      combinations = values.flatMap((value) => combinations.map((others) => ({ ...others, [label]: value })))
    }
    this.#places = places
    this.#combinations = combinations as Record<Label, string>[]
    this.#pending = combinations.map(() => 0)
    this.counter = new Counter({
      name,
      help,
      registers: [registry],
      labelNames: names,
      collect: () => this.#handOver(),
    })
    for (const combination of this.#combinations) this.counter.inc(combination, 0)
  }

  /** @param values one of each label, in the order of the labels */
  raise(by: number, ...values: readonly string[]): void {
    let at = 0
    for (let label = 0; label < values.length; label++) at += this.#places[label]!.get(values[label]!)!
    this.#pending[at]! += by
  }

  #handOver(): void {
    for (const [at, by] of this.#pending.entries()) {
      if (by === 0) continue
      this.#pending[at] = 0
      this.counter.inc(this.#combinations[at]!, by)
    }
  }
}
