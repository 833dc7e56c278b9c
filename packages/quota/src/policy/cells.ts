import { type CellSchema, cellsIn, slotsCell, windowCell } from '../windows/identity.ts'
import { type Layout, layoutOf } from '../windows/layout.ts'
import type { StoreSchema } from '../windows/schema.ts'
import { SLOTS } from '../windows/units.ts'
import type { Policy } from './policy.ts'
import { unitNames, unitOfWindow } from './units.ts'
import { ownOf } from './values.ts'

/** The members of a policy that determine its limits. */
type Limiting = Pick<Policy, 'units' | 'windows' | 'concurrency'>
/** The members that determine its counters. */
type Placing = Limiting & Pick<Policy, 'layers' | 'categories'>

/**
 * A policy's limits, arranged for stores. A store has a layer for each layer and category of the policy. Each limit has
 * a position: by layer, then by category, then in row order.
 */
export interface PlacedLimits {
  /** The cells of each row, in row order. */
  readonly rowCells: readonly CellSchema[]
  readonly schema: StoreSchema
  readonly layout: Layout
}

const PLACED = new WeakMap<object, PlacedLimits>()

/** Returns a policy's limits as placed. Computed once per policy. */
export function placedLimits(policy: Placing): PlacedLimits {
  const known = PLACED.get(policy)
  if (known !== undefined) return known
  const { categories } = policy
  const cells = policyCells(policy)
  const layers = policy.layers.flatMap(({ name, shared }) =>
    categories.map((category) => ({ name: `${name}/${category}`, by: name, shared, cells })),
  )
  const all = [...layers.flatMap(() => cells).keys()]
  const isOf = (category: number, at: number): boolean => Math.floor(at / cells.length) % categories.length === category
  const sets = [all, ...categories.map((_, category) => all.filter((at) => isOf(category, at)))]
  const schema = { units: unitNames(policy), layers, sets }
  const placed = { rowCells: cells, schema, layout: layoutOf(schema) }
  PLACED.set(policy, placed)
  return placed
}

/** The set of all limits. */
export const ALL = 0

/** Returns the set of a category's limits. @param category its index */
export function setOf(category: number): number {
  return category + 1
}

/** Returns the index of the category whose limits a set has. */
export function categoryOf(set: number): number {
  return set - 1
}

/** Returns the index of the store's layer for a layer and category of a policy, by their indices. */
export function layerAt({ categories }: Pick<Policy, 'categories'>, layer: number, category: number): number {
  return layer * categories.length + category
}

/** Returns the index of the policy's layer of which a store's layer is a part. */
export function policyLayerOf({ categories }: Pick<Policy, 'categories'>, layer: number): number {
  return Math.floor(layer / categories.length)
}

/** Returns the layer and category of the limit at a position. */
export function namesAt(policy: Placing, at: number): { readonly layer: string; readonly category: string } {
  const { layers, categories } = policy
  const index = placedLimits(policy).layout.layerOf[at]!
  const layer = layers[policyLayerOf(policy, index)]!.name
  return { layer, category: categories[index % categories.length]! }
}

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

/** The positions of all limits of some layers and categories, by index. */
export function limitsOf(policy: Policy, layers: readonly number[], categories: readonly number[]): number[] {
  const { layout } = placedLimits(policy)
  const chosen = layers.flatMap((layer) => categories.map((category) => layerAt(policy, layer, category)))
  return [...layout.cells.keys()].filter((at) => chosen.includes(layout.layerOf[at]!))
}
