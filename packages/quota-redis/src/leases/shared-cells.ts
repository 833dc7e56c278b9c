import { add, type Instant, type Layout, PERIOD_NUMBERS, periodAt, reanchor, view } from '@scoregw/quota/store'
import type { UnitAmounts } from './amounts.ts'
import type { SharedRequest } from './shared-answer.ts'

/** The rows that all subjects share as a grant found them, to replay on them what it did. */
export class SharedCells {
  readonly #cells: Float64Array
  readonly #layout: Layout
  readonly #now: number
  readonly #periods: readonly number[] | undefined
  readonly #rates: readonly number[] | undefined
  readonly #instant: Instant

  /**
   * Rows as they are at an instant; `undefined` where it is outside of the periods.
   *
   * @param terms under which they are charged
   * @param instant moves there, and stays while the rows are used
   */
  static at(
    cells: Float64Array,
    layout: Layout,
    now: number,
    terms: Pick<SharedRequest, 'periods' | 'rates'>,
    instant: Instant,
  ): SharedCells | undefined {
    if (!instant.moveTo(now, terms.periods, cells.length / layout.rowCells)) return undefined
    return new SharedCells(cells, layout, now, terms, instant)
  }

  private constructor(
    cells: Float64Array,
    layout: Layout,
    now: number,
    { periods, rates }: Pick<SharedRequest, 'periods' | 'rates'>,
    instant: Instant,
  ) {
    this.#cells = cells
    this.#layout = layout
    this.#now = now
    this.#periods = periods
    this.#rates = rates
    this.#instant = instant
    this.#each((i, at) => reanchor(cells, i, instant.after[at]!, now))
  }

  /** `[startedAt, used]` of every cell, what lies `idle` left out. */
  states(idle?: UnitAmounts): number[] {
    const states = new Array<number>(this.#cells.length).fill(0.5)
    this.#each((i, at) => view(this.#cells, i, this.#instant.after[at]!, this.#now, states, i))
    return idle === undefined ? states : without(this.#layout, states, idle)
  }

  charge(costs: UnitAmounts): void {
    const { size, units, width } = this.#layout
    this.#each((i, at) => {
      const cost = costs[units[at % size]!] ?? 0
      if (cost === 0 || at % size >= width) return
      this.#instant.roll(this.#cells, i, at, this.#rates)
      add(this.#cells, i, cost)
    })
  }

  /** When each cell ends, epoch milliseconds; `Infinity` of windows that are not open, and of slots. */
  ends(): number[] {
    const { lengthsMs, calendars, size, width } = this.#layout
    const ends = startsOf(this.states()).map((start, index) => {
      const isOpen = index % size < width && start >= 0
      return isOpen ? start + lengthsMs[index % size]! : Number.POSITIVE_INFINITY
    })
    for (let row = 0; row < ends.length / size; row++) {
      for (const [index, window] of calendars.entries()) {
        const at = this.#layout.limitAt(row, window)
        const period = periodAt(this.#now, this.#periods, this.#layout.periodsAt(row) + PERIOD_NUMBERS * index)
        if (ends[at]! < Number.POSITIVE_INFINITY) ends[at] = period!.end
      }
    }
    return ends
  }

  /** When the first window that is open ends, epoch milliseconds; `Infinity` where none is. */
  endsAt(): number {
    return Math.min(...this.ends())
  }

  /** Calls for every cell: where its pair begins, and its place among limits. */
  #each(visit: (i: number, at: number) => void): void {
    for (let i = 0; i < this.#cells.length; i += 2) visit(i, i / 2)
  }
}

/** States with so much less in each window. */
export function without({ size, units, width }: Layout, states: readonly number[], amounts: UnitAmounts): number[] {
  return states.map((value, index) => {
    const cell = Math.floor(index / 2) % size
    const isUsed = index % 2 === 1 && cell < width
    return isUsed ? Math.max(0, value - amounts[units[cell]!]!) : value
  })
}

/** The starts of states. */
export function startsOf(states: readonly number[]): number[] {
  return states.filter((_, index) => index % 2 === 0)
}
