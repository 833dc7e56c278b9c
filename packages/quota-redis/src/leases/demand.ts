import type { Moment } from './lease.ts'

/** Demand is measured over about this time, in milliseconds; a lease is for as much. */
const DEMAND_MS = 500

/** Tokens asked for in the last half second or so. */
export class Demand {
  #tokens = 0
  #atMs = 0

  get tokens(): number {
    return this.#tokens
  }

  add(cost: number, { steadyMs }: Moment): void {
    const elapsed = steadyMs - this.#atMs
    if (elapsed >= 1) {
      this.#tokens *= Math.exp(-elapsed / DEMAND_MS)
      this.#atMs = steadyMs
    }
    this.#tokens += cost
  }
}
