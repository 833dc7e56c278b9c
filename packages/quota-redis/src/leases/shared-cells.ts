import { add, type Instant, type Layout, periodAt, reanchor, view } from '@scoregw/quota/internal'
import type { UnitAmounts } from './amounts.ts'
import type { SharedRequest } from './shared-answer.ts'

/** The shared rows as a grant found them, to replay the grant on. */
export class SharedCells {
  readonly #cells: Float64Array
  readonly #layout: Layout
  readonly #now: number
  readonly #periods: readonly number[] | undefined
  readonly #rates: readonly number[] | undefined
  readonly #instant: Instant

  /**
   * Rows as seen at an instant; `undefined` if it is outside the periods.
   *
   * @param terms the limits that they are charged under
   * @param instant is moved to that time, and must not move while the rows are used
   */
  static at(
    cells: Float64Array,
    layout: Layout,
    now: number,
    terms: Pick<SharedRequest, 'periods' | 'rates'>,
    instant: Instant,
  ): SharedCells | undefined {
    if (!instant.moveTo(now, terms.periods)) return undefined
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

  /** `[startedAt, used]` of every cell, without the `idle` amounts. */
  states(idle?: UnitAmounts): number[] {
    const states = new Array<number>(this.#cells.length).fill(0.5)
    this.#each((i, at) => view(this.#cells, i, this.#instant.after[at]!, this.#now, states, i))
    return idle === undefined ? states : without(this.#layout, states, idle)
  }

  charge(costs: UnitAmounts): void {
    const { units } = this.#layout
    this.#each((i, at) => {
      const cost = costs[units[at]!]!
      if (cost === 0) return
      this.#instant.roll(this.#cells, i, at, this.#rates)
      add(this.#cells, i, cost)
    })
  }

  /** When each cell ends, epoch milliseconds; `Infinity` if it is not open. */
  ends(): number[] {
    const { cells, calendars } = this.#layout
    const ends = startsOf(this.states()).map((start, at) =>
      start >= 0 ? start + cells[at]!.lengthMs : Number.POSITIVE_INFINITY,
    )
    for (const at of calendars) {
      const period = periodAt(this.#now, this.#periods, this.#layout.periodsAt(at))
      if (ends[at]! < Number.POSITIVE_INFINITY) ends[at] = period!.end
    }
    return ends
  }

  /** When the first open window ends, epoch milliseconds; `Infinity` if none is open. */
  endsAt(): number {
    return Math.min(...this.ends())
  }

  /** Calls `visit` for every cell, with the index of its pair and of its limit. */
  #each(visit: (i: number, at: number) => void): void {
    for (let i = 0; i < this.#cells.length; i += 2) visit(i, i / 2)
  }
}

/** States with the given amounts subtracted in each window. */
export function without({ units }: Layout, states: readonly number[], amounts: UnitAmounts): number[] {
  return states.map((value, index) => {
    const isStart = index % 2 === 0
    return isStart ? value : Math.max(0, value - amounts[units[(index - 1) / 2]!]!)
  })
}

/** The starts of states. */
export function startsOf(states: readonly number[]): number[] {
  return states.filter((_, index) => index % 2 === 0)
}
