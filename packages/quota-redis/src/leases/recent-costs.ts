import { addTo, type UnitAmounts } from './amounts.ts'
import type { Moment } from './lease.ts'

/** Costs are added up over about this time, in milliseconds. A lease is as large as they are. */
const RECENT_MS = 500

/** What requests of the last half second or so cost, per unit. */
export class RecentCosts {
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
      const left = Math.exp(-elapsed / RECENT_MS)
      for (const [unit, amount] of amounts.entries()) amounts[unit] = amount * left
      this.#atMs = steadyMs
    }
    addTo(amounts, costs)
  }
}
