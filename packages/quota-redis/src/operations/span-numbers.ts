import { type Layout, PERIOD_NUMBERS } from '@scoregw/quota/store'

/** No period has these: the script finds its clock outside of them. */
const UNKNOWN = 0

/** The spans that the rows of one batch are looked at in, said once for all rows whose periods are the same. */
export class SpanNumbers {
  readonly #layout: Layout
  /** Numbers from 1, by the periods of a row. */
  readonly #known = new Map<string, number>()
  /** By the array that a request brought: everybody's are in one. */
  readonly #byPeriods = new Map<readonly number[] | undefined, readonly number[]>()
  readonly #numbers: number[] = []

  constructor(layout: Layout) {
    this.#layout = layout
  }

  /** As scripts read them: how many, and the periods of each. Nothing where no window is of the calendar. */
  get numbers(): readonly number[] {
    return this.#layout.calendars.length === 0 ? [] : [this.#known.size, ...this.#numbers]
  }

  /** The number of each row's spans, of so many rows. */
  of(periods: readonly number[] | undefined, rows: number): readonly number[] {
    if (this.#layout.calendars.length === 0) return []
    const known = this.#byPeriods.get(periods)
    if (known !== undefined && known.length >= rows) return known.slice(0, rows)
    const made = Array.from({ length: rows }, (_, slot) => this.#numberOf(periods, slot))
    this.#byPeriods.set(periods, made)
    return made
  }

  #numberOf(periods: readonly number[] | undefined, slot: number): number {
    const from = this.#layout.periodsAt(slot)
    const ofRow = Array.from(
      { length: PERIOD_NUMBERS * this.#layout.calendars.length },
      (_, index) => periods?.[from + index] ?? UNKNOWN,
    )
    const name = ofRow.join()
    const known = this.#known.get(name)
    if (known !== undefined) return known
    this.#numbers.push(...ofRow)
    this.#known.set(name, this.#known.size + 1)
    return this.#known.size
  }
}
