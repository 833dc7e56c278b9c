import { KINDS } from './kinds.ts'
import type { Layout } from './layout.ts'
import { PERIOD_NUMBERS, periodAt } from './period.ts'

/** The windows open at one instant under one request's periods: computed once, for all rows that are read then. */
export class Instant {
  /** By layer that applies and cell, as {@link Layout.limitAt}: a cell is open while its start is later than this. */
  readonly after: number[] = []
  /** In the same places: the start of a cell that opens now, unless an earlier opening was later. */
  readonly opensAt: number[] = []
  readonly #layout: Layout
  #now = Number.NaN
  #periods: readonly number[] | undefined
  #layers = 0

  constructor(layout: Layout) {
    this.#layout = layout
  }

  /**
   * Moves to an instant.
   *
   * @param now epoch milliseconds
   * @param periods as of a take
   * @param layers how many apply
   * @returns `false`: the instant is in neither of the periods of some calendar window, and nothing here is of use
   */
  moveTo(now: number, periods: readonly number[] | undefined, layers: number): boolean {
    if (now === this.#now && periods === this.#periods && layers === this.#layers) return true
    const { cells, size } = this.#layout
    this.#now = Number.NaN
    for (let l = 0; l < layers; l++) {
      let periodsAt = this.#layout.periodsAt(l)
      for (let c = 0; c < size; c++) {
        const { kind, lengthMs } = cells[c]!
        const isCalendar = kind === 'calendar'
        const period = isCalendar ? periodAt(now, periods, periodsAt) : undefined
        if (isCalendar && period === undefined) return false
        if (isCalendar) periodsAt += PERIOD_NUMBERS
        this.after[l * size + c] = KINDS[kind].after(lengthMs, now, period)
        this.opensAt[l * size + c] = KINDS[kind].opensAt(now, period)
      }
    }
    this.#now = now
    this.#periods = periods
    this.#layers = layers
    return true
  }
}
