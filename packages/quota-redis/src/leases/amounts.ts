/** One amount per unit of a schema. One that is absent is 0; further ones, such as slots in costs, are ignored. */
export type UnitAmounts = readonly number[]

export function plus(a: UnitAmounts, b: UnitAmounts): number[] {
  return a.map((amount, unit) => amount + (b[unit] ?? 0))
}

export function minus(a: UnitAmounts, b: UnitAmounts): number[] {
  return a.map((amount, unit) => amount - (b[unit] ?? 0))
}

/** Adds to amounts in place. */
export function addTo(amounts: number[], more: UnitAmounts): void {
  for (let unit = 0; unit < amounts.length; unit++) amounts[unit] = (amounts[unit] ?? 0) + (more[unit] ?? 0)
}

/** Subtracts from amounts in place. */
export function takeFrom(amounts: number[], costs: UnitAmounts): void {
  for (let unit = 0; unit < amounts.length; unit++) amounts[unit] = (amounts[unit] ?? 0) - (costs[unit] ?? 0)
}

/** Whether the amounts cover the costs in every unit. */
export function covers(amounts: UnitAmounts, costs: UnitAmounts): boolean {
  for (let unit = 0; unit < amounts.length; unit++) if ((amounts[unit] ?? 0) < (costs[unit] ?? 0)) return false
  return true
}

export function isNothing(amounts: UnitAmounts): boolean {
  for (let unit = 0; unit < amounts.length; unit++) if (amounts[unit] !== 0) return false
  return true
}

/** The sum over all units, for reports. */
export function total(amounts: UnitAmounts): number {
  return amounts.reduce((sum, amount) => sum + amount, 0)
}

/** The costs, each at least 1. A refusal under limits of 0 then also re-anchors windows that a fast clock opened. */
export function atLeastOne(costs: UnitAmounts): readonly number[] {
  return costs.map((cost, unit) => (unit < costs.length - 1 ? Math.max(1, cost) : cost))
}

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

  /** @param steadyMs now, by a clock that never steps */
  add(costs: UnitAmounts, steadyMs: number): void {
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
