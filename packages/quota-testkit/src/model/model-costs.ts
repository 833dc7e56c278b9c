import type { Policy } from '@scoregw/quota'
import type { ModelCosts } from './model-counters.ts'

/** A cost: a number if the policy has one unit, else amounts by unit. Money is whole millionths. */
export type ModelCost = number | { readonly [unit: string]: number | undefined }

/** An amount in answers: a number if the policy has one unit, else amounts by unit. */
export type ModelAmount = number | ModelCosts

function unitsOf({ units }: Policy): readonly string[] {
  return units.map((unit) => (typeof unit === 'string' ? unit : unit.name))
}

/** The amounts that a cost names. */
export function named(policy: Policy, cost: ModelCost): ModelCosts {
  const [only = ''] = unitsOf(policy)
  const entries = typeof cost === 'number' ? [[only, cost] as const] : Object.entries(cost)
  return Object.fromEntries(entries.filter((entry): entry is [string, number] => entry[1] !== undefined))
}

/** An amount of each unit. Those that a cost leaves out are taken from the next one, then 0. */
export function whole(policy: Policy, ...costs: readonly (ModelCost | undefined)[]): ModelCosts {
  const given = costs.flatMap((cost) => (cost === undefined ? [] : [named(policy, cost)]))
  return Object.fromEntries(
    unitsOf(policy).map((unit) => [unit, given.find((each) => each[unit] !== undefined)?.[unit] ?? 0]),
  )
}

/** What an operation costs: the price in the settings, else the policy's, else 1 of `requests`. */
export function priceOf(policy: Policy, stored: ModelCost | undefined, operation: string): ModelCosts {
  const standard = unitsOf(policy).includes('requests') ? { requests: 1 } : {}
  return whole(policy, stored, operationOf(policy, operation).cost, standard)
}

export function shown(policy: Policy, costs: ModelCosts): ModelAmount {
  const all = whole(policy, costs)
  const [only, ...others] = unitsOf(policy)
  return others.length === 0 ? (all[only ?? ''] ?? 0) : all
}

export function isFree(costs: ModelCosts): boolean {
  return Object.values(costs).every((amount) => amount === 0)
}

export function operationOf({ operations }: Policy, operation: string): Policy['operations'][string] {
  const definition = operations[operation]
  if (definition === undefined) throw new RangeError(`the policy has no operation "${operation}"`)
  return definition
}
