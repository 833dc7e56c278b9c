import { type Amounts, TOKENS } from '../windows/units.ts'

/** What the limits of a policy count, in the order of costs: operations are priced in tokens. */
export const POLICY_UNITS: readonly string[] = [TOKENS]

/** The costs of a request, as stores take them: one number a unit, and behind them its slots. */
export function costsOf(tokens: number, slot: boolean): readonly number[] {
  return [tokens, Number(slot)]
}

/** Whether costs take a slot. */
export function takesSlots(costs: readonly number[]): boolean {
  return costs.at(-1) !== 0
}

/** Whether costs are 0 in every unit; slots are none of them. */
export function isFree(costs: readonly number[]): boolean {
  for (let unit = 0; unit < costs.length - 1; unit++) if (costs[unit] !== 0) return false
  return true
}

/** A cost that a caller gave, as the fingerprint of an id has it: a number as it is, a record as `name=n` in one order. */
export function costText(cost: number | Amounts | undefined): string {
  if (typeof cost !== 'object') return String(cost ?? '')
  const names = Object.keys(cost).sort()
  return names.map((name) => `${name}=${cost[name]}`).join(',')
}
