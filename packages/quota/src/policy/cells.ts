import { type CellSchema, cellsIn, slotsCell, windowCell } from '../windows/identity.ts'
import { SLOTS } from '../windows/units.ts'
import type { Policy } from './policy.ts'
import { unitNames, unitOfWindow } from './units.ts'
import { ownOf } from './values.ts'

/** The members of a policy that determine its limits. */
type Limiting = Pick<Policy, 'units' | 'windows' | 'concurrency'>

/** Returns the cells of each row of a policy, in row order. */
export function policyCells(policy: Limiting): readonly CellSchema[] {
  const { windows, concurrency } = policy
  const units = unitNames(policy)
  const slots = concurrency === undefined ? [] : [slotsCell(concurrency.label)]
  return cellsIn(units, [...windows.map((window) => windowCell(window, unitOfWindow(units, window))), ...slots])
}

/** Returns the unit of a label's limit. */
export function unitOfLabel(policy: Limiting, label: string): string {
  const units = unitNames(policy)
  const window = policy.windows.find((each) => each.label === label)
  // If the policy names no units, all limits count tokens.
  return window === undefined && policy.units !== undefined ? SLOTS : unitOfWindow(units, window ?? {})
}

/** Returns the labels of all limits in display order: windows in the policy's order, then concurrency. */
export function limitLabels({ windows, concurrency }: Pick<Policy, 'windows' | 'concurrency'>): readonly string[] {
  const labels = windows.map(({ label }) => label)
  return concurrency === undefined ? labels : [...labels, concurrency.label]
}

/**
 * Whether a layer and category have a limit with this label. All have the windows; concurrency needs an entry in the
 * base.
 */
export function hasLimit(policy: Pick<Policy, 'base'>, layer: string, category: string, label: string): boolean {
  return ownOf(ownOf(ownOf(policy.base, layer), category), label) !== undefined
}

/** Whether some limit counts the operation's concurrency, even if its layers are off. */
export function takesSlot(policy: Policy, operation: string): boolean {
  const { concurrency, layers, operations } = policy
  if (concurrency === undefined) return false
  const { category } = operations[operation]!
  const isNamed = concurrency.operations?.includes(operation) || concurrency.categories?.includes(category)
  return isNamed === true && layers.some(({ name }) => hasLimit(policy, name, category, concurrency.label))
}
