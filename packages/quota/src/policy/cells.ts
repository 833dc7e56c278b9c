import { type CellDefinition, cellsIn, slotsCell, windowCell } from '../windows/identity.ts'
import { type Layout, layoutOf } from '../windows/layout.ts'
import type { StoreSchema } from '../windows/schema.ts'
import type { LimitRule, Policy } from './policy.ts'
import { unitNames } from './units.ts'

/**
 * A policy's limits, arranged for stores. Each has a position: by layer, then in row order. Limits, states and periods
 * are lists by that position, whichever layers apply.
 */
export interface PlacedLimits {
  /** By position. */
  readonly rules: readonly LimitRule[]
  readonly positions: ReadonlyMap<string, number>
  readonly schema: StoreSchema
  readonly layout: Layout
  /** The set of limits that each operation counts in: an index of the schema's `sets`. */
  readonly setOf: ReadonlyMap<string, number>
}

const PLACED = new WeakMap<object, PlacedLimits>()

/** The set of all limits. */
export const ALL = 0

/** Returns a policy's limits as placed. Computed once per policy. */
export function placedLimits(policy: Policy): PlacedLimits {
  const known = PLACED.get(policy)
  if (known !== undefined) return known
  const placed = place(policy)
  PLACED.set(policy, placed)
  return placed
}

function place(policy: Policy): PlacedLimits {
  const units = unitNames(policy)
  const rules: LimitRule[] = []
  const layers = policy.layers.map(({ name, shared }, index) => {
    const own = policy.limits.filter(({ layer }) => layer === index)
    const cells = cellsIn(units, own.map(cellOf))
    rules.push(...cells.map(({ identity }) => own.find((rule) => identityOf(rule) === identity)!))
    return { name, shared, cells }
  })
  const all = [...rules.keys()]
  const sets: (readonly number[])[] = [all]
  const setOf = new Map<string, number>()
  for (const operation of Object.keys(policy.operations)) {
    const counted = all.filter((at) => counts(rules[at]!, operation))
    const same = sets.findIndex((set) => set.join() === counted.join())
    setOf.set(operation, same === -1 ? sets.push(counted) - 1 : same)
  }
  const schema = { units, layers, sets }
  const positions = new Map(rules.map(({ name }, at) => [name, at]))
  return { rules, positions, schema, layout: layoutOf(schema), setOf }
}

function cellOf({ name, formerly = name, unit, window }: LimitRule): CellDefinition {
  return window === undefined ? slotsCell(formerly) : windowCell(window, unit)
}

/** Returns what identifies a limit's counter in its layer. */
export function identityOf(rule: LimitRule): string {
  return cellOf(rule).identity
}

/** Whether a limit counts an operation. */
export function counts({ operations }: LimitRule, operation: string): boolean {
  return operations === undefined || operations.includes(operation)
}

/** Returns the names of all limits in display order. */
export function limitNames({ limits }: Pick<Policy, 'limits'>): readonly string[] {
  return limits.map(({ name }) => name)
}

/** Returns a limit by name. */
export function limitNamed({ limits }: Pick<Policy, 'limits'>, name: string): LimitRule | undefined {
  return limits.find((limit) => limit.name === name)
}

/** Returns the limits of a layer. */
export function limitsOfLayer(
  { limits, layers }: Pick<Policy, 'limits' | 'layers'>,
  layer: string,
): readonly LimitRule[] {
  return limits.filter((rule) => layers[rule.layer]!.name === layer)
}

/** Whether some limit counts the operation's concurrency, even if its layers are off. */
export function takesSlot(policy: Policy, operation: string): boolean {
  return policy.limits.some((rule) => rule.window === undefined && counts(rule, operation))
}
