import { charge, type Layout, reanchor, type Spans, viewRow } from '@scoregw/quota/store'

/** The rows that everybody shares as a grant found them, to replay on them what it did. */
export class SiteRows {
  readonly #cells: Float64Array
  readonly #layout: Layout
  readonly #now: number
  readonly #count: number

  constructor(cells: Float64Array, layout: Layout, now: number) {
    this.#cells = cells
    this.#layout = layout
    this.#now = now
    this.#count = cells.length / layout.rowCells
    for (let row = 0; row < this.#count; row++) reanchor(cells, layout.rowAt(row), layout.width, now)
  }

  /** `[startedAt, used]` of every window, `idle` tokens of each left out. */
  states(idle = 0): number[] {
    const states = new Array<number>(this.#cells.length).fill(0.5)
    for (let row = 0; row < this.#count; row++) {
      const at = this.#layout.rowAt(row)
      viewRow(this.#cells, at, this.#spans(row), this.#now, states, at)
    }
    return idle > 0 ? without(states, idle) : states
  }

  charge(tokens: number): void {
    if (tokens === 0) return
    for (let row = 0; row < this.#count; row++) {
      charge(this.#cells, this.#layout.rowAt(row), this.#spans(row), tokens, this.#now)
    }
  }

  #spans(row: number): Spans {
    return this.#layout.spansAt(this.#now, undefined, row)!
  }

  /** When the first window that is open ends, epoch milliseconds. */
  endsAt(): number {
    return firstEnd(this.states(), this.#layout)
  }
}

/** When the first of the windows of states ends that are open, epoch milliseconds; never: `Infinity`. */
export function firstEnd(states: readonly number[], { width, lengthsMs }: Layout): number {
  let endsAt = Number.POSITIVE_INFINITY
  for (let window = 0; window < states.length / 2; window++) {
    const start = states[2 * window]!
    if (start >= 0) endsAt = Math.min(endsAt, start + lengthsMs[window % width]!)
  }
  return endsAt
}

/** States with so many tokens less in each window. */
export function without(states: readonly number[], tokens: number): number[] {
  return states.map((value, index) => (index % 2 === 1 ? Math.max(0, value - tokens) : value))
}

/** The starts of states. */
export function startsOf(states: readonly number[]): number[] {
  return states.filter((_, index) => index % 2 === 0)
}
