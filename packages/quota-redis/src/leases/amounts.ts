/** Amounts, one for each unit of a schema; what stands behind them, as slots in costs, is passed over. */
export type UnitAmounts = readonly number[]

export function plus(a: UnitAmounts, b: UnitAmounts): number[] {
  return a.map((amount, unit) => amount + b[unit]!)
}

/** Whether there is enough of every unit. */
export function covers(amounts: UnitAmounts, costs: UnitAmounts): boolean {
  for (let unit = 0; unit < amounts.length; unit++) if (amounts[unit]! < costs[unit]!) return false
  return true
}

export function isNothing(amounts: UnitAmounts): boolean {
  for (let unit = 0; unit < amounts.length; unit++) if (amounts[unit] !== 0) return false
  return true
}

/** Of all units together, for reports. */
export function total(amounts: UnitAmounts): number {
  return amounts.reduce((sum, amount) => sum + amount, 0)
}

/** Costs of something: a refusal under limits of 0 moves windows that a fast clock opened, as every one does. */
export function atLeastOne(costs: UnitAmounts): readonly number[] {
  return costs.map((cost, unit) => (unit < costs.length - 1 ? Math.max(1, cost) : cost))
}
