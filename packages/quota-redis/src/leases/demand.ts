import type { UnitAmounts } from './amounts.ts'
import type { Moment } from './lease.ts'

/** Demand is measured over about this time, in milliseconds. A lease is as large as this demand. */
const DEMAND_MS = 500

/** The demand of the last half second or so, per unit. */
export class Demand {
  readonly #amounts: number[]
  #atMs = 0

  constructor(units: number) {
    this.#amounts = new Array<number>(units).fill(0)
  }

  get amounts(): UnitAmounts {
    return this.#amounts
  }

  add(costs: UnitAmounts, { steadyMs }: Moment): void {
    const amounts = this.#amounts
    const elapsed = steadyMs - this.#atMs
    if (elapsed >= 1) {
      const left = Math.exp(-elapsed / DEMAND_MS)
      for (let unit = 0; unit < amounts.length; unit++) amounts[unit]! *= left
      this.#atMs = steadyMs
    }
    for (let unit = 0; unit < amounts.length; unit++) amounts[unit]! += costs[unit]!
  }
}
