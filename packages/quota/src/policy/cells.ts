import { type CellSchema, cellsIn, slotsCell, windowCell } from '../windows/identity.ts'
import { SLOTS } from '../windows/units.ts'
import type { Policy } from './policy.ts'
import { unitNames, unitOfWindow } from './units.ts'
import { ownOf } from './values.ts'

/** The part of a policy that says what limits there are. */
type Limiting = Pick<Policy, 'units' | 'windows' | 'concurrency'>

/** The cells of every row of a policy, in the order of a row. */
export function policyCells(policy: Limiting): readonly CellSchema[] {
  const { windows, concurrency } = policy
  const units = unitNames(policy)
  const slots = concurrency === undefined ? [] : [slotsCell(concurrency.label)]
  return cellsIn(units, [...windows.map((window) => windowCell(window, unitOfWindow(units, window))), ...slots])
}

/** What the limit of a label counts. */
export function unitOfLabel(policy: Limiting, label: string): string {
  const units = unitNames(policy)
  const window = policy.windows.find((each) => each.label === label)
  // Where nothing names units, all limits are said to be of tokens.
  return window === undefined && policy.units !== undefined ? SLOTS : unitOfWindow(units, window ?? {})
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
