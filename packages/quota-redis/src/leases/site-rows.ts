import { charge, reanchor, viewRow } from '@scoregw/quota/rows'

/** The rows that everybody shares as a grant found them, to replay on them what it did. */
export class SiteRows {
  readonly #cells: Float64Array
  readonly #lengthsMs: readonly number[]
  readonly #now: number
  readonly #count: number

  constructor(cells: Float64Array, lengthsMs: readonly number[], now: number) {
    this.#cells = cells
    this.#lengthsMs = lengthsMs
    this.#now = now
    this.#count = cells.length / (2 * lengthsMs.length)
    for (let row = 0; row < this.#count; row++) reanchor(cells, this.#at(row), lengthsMs.length, now)
  }

  /** `[startedAt, used]` of every window, `idle` tokens of each left out. */
  states(idle = 0): number[] {
    const states = new Array<number>(this.#cells.length).fill(0.5)
    for (let row = 0; row < this.#count; row++) {
      viewRow(this.#cells, this.#at(row), this.#lengthsMs, this.#now, states, this.#at(row))
    }
    for (let i = 1; idle > 0 && i < states.length; i += 2) states[i] = Math.max(0, states[i]! - idle)
    return states
  }

  charge(tokens: number): void {
    if (tokens === 0) return
    for (let row = 0; row < this.#count; row++) charge(this.#cells, this.#at(row), this.#lengthsMs, tokens, this.#now)
  }

  /** When the first window that is open ends, epoch milliseconds. */
  endsAt(): number {
    let endsAt = Number.POSITIVE_INFINITY
    for (const [index, start] of startsOf(this.states()).entries()) {
      if (start >= 0) endsAt = Math.min(endsAt, start + this.#lengthsMs[index % this.#lengthsMs.length]!)
    }
    return endsAt
  }

  #at(row: number): number {
    return row * 2 * this.#lengthsMs.length
  }
}

/** The starts of states. */
export function startsOf(states: readonly number[]): number[] {
  return states.filter((_, index) => index % 2 === 0)
}
