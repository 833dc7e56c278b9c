import { add, type Instant, type Layout, periodAt, reanchor, view } from '@scoregw/quota/internal'
import type { UnitAmounts } from './amounts.ts'
import type { SharedRequest } from './shared-answer.ts'

/** How shared rows are seen and charged. */
export interface SharedTerms extends Pick<SharedRequest, 'periods' | 'rates'> {
  readonly layout: Layout
  /** It is at {@link now}, and must not move while the rows are used. */
  readonly instant: Instant
  readonly now: number
}

/** The shared rows as a grant found them, to replay the grant on. */
export class SharedCells {
  readonly #cells: Float64Array
  readonly #terms: SharedTerms

  constructor(cells: Float64Array, terms: SharedTerms) {
    const { instant, now } = terms
    this.#cells = cells
    this.#terms = terms
    this.#each((i, at) => reanchor(cells, i, instant.afterAt(at), now))
  }

  /** `[startedAt, used]` of every cell, without the `idle` amounts. */
  states(idle?: UnitAmounts): number[] {
    const states = new Array<number>(this.#cells.length).fill(0.5)
    const { instant, now, layout } = this.#terms
    this.#each((i, at) => view(this.#cells, i, instant.afterAt(at), now, states, i))
    return idle === undefined ? states : without(layout, states, idle)
  }

  charge(costs: UnitAmounts): void {
    const { layout, instant, rates } = this.#terms
    this.#each((i, at) => {
      const cost = costs[layout.cellAt(at).unit] ?? 0
      if (cost === 0) return
      instant.roll(this.#cells, i, at, rates)
      add(this.#cells, i, cost)
    })
  }

  /** When each cell ends, epoch milliseconds; `Infinity` if it is not open. */
  ends(): number[] {
    const { layout, now, periods } = this.#terms
    return startsOf(this.states()).map((start, at) => {
      if (start < 0) return Number.POSITIVE_INFINITY
      const { kind, lengthMs } = layout.cellAt(at)
      return kind === 'calendar' ? (periodAt(now, periods, layout.periodsAt(at))?.end ?? start) : start + lengthMs
    })
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
export function without(layout: Layout, states: readonly number[], amounts: UnitAmounts): number[] {
  return states.map((value, index) => {
    if (index % 2 === 0) return value
    return Math.max(0, value - (amounts[layout.cellAt((index - 1) / 2).unit] ?? 0))
  })
}

/** The starts of states. */
export function startsOf(states: readonly number[]): number[] {
  return states.filter((_, index) => index % 2 === 0)
}
