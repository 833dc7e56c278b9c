import { type CellSchema, cellsIn, slotsCell, windowCell } from '../windows/identity.ts'
import type { Policy } from './policy.ts'
import { POLICY_UNITS } from './units.ts'
import { ownOf } from './values.ts'

/** The cells of every row of a policy, in the order of a row. */
export function policyCells({ windows, concurrency }: Pick<Policy, 'windows' | 'concurrency'>): readonly CellSchema[] {
  const slots = concurrency === undefined ? [] : [slotsCell(concurrency.label)]
  return cellsIn(POLICY_UNITS, [...windows.map((window) => windowCell(window)), ...slots])
}

/** Labels of all limits, as people see them: windows in the policy's order, then that of concurrency. */
export function limitLabels({ windows, concurrency }: Pick<Policy, 'windows' | 'concurrency'>): readonly string[] {
  const labels = windows.map(({ label }) => label)
  return concurrency === undefined ? labels : [...labels, concurrency.label]
}

/**
 * Whether a layer and category have a limit of this label: one for each window, and for concurrency where the base has
 * an entry.
 */
export function hasLimit(policy: Pick<Policy, 'base'>, layer: string, category: string, label: string): boolean {
  return ownOf(ownOf(ownOf(policy.base, layer), category), label) !== undefined
}

/** Whether an operation takes a slot, and there is a limit that this counts for; also while its layers are off. */
export function takesSlot(policy: Policy, operation: string): boolean {
  const { concurrency, layers, operations } = policy
  if (concurrency === undefined) return false
  const { category } = operations[operation]!
  const isNamed = concurrency.operations?.includes(operation) || concurrency.categories?.includes(category)
  return isNamed === true && layers.some(({ name }) => hasLimit(policy, name, category, concurrency.label))
}
