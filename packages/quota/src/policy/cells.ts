import {
  type CellDefinition,
  cellsIn,
  inRowOrder,
  SLOTS,
  type StoreSchema,
  slotsCell,
  windowCell,
} from '../windows/identity.ts'
import type { KindName } from '../windows/kinds.ts'
import { type Layout, layoutOf } from '../windows/layout.ts'
import type { LayerDefinition, LimitRule, Policy } from './policy.ts'
import { unitNames } from './units.ts'

/** A limit of a policy, and where stores have its counter. */
export interface PlacedLimit {
  /** Its position: by layer, then in row order. */
  readonly at: number
  readonly rule: LimitRule
  readonly kind: KindName
  /** See `CellDefinition.lengthMs`. */
  readonly lengthMs: number
  /** See `CellDefinition.identity`. */
  readonly identity: string
  /** The amount that it counts: an index of a request's costs. */
  readonly unit: number
  /** The index of its layer. */
  readonly layer: number
  readonly ofLayer: LayerDefinition
}

/**
 * A policy's limits, arranged for stores. Each has a position: by layer, then in row order. Limits, states and periods
 * are lists by that position, whichever layers apply.
 */
export interface PlacedLimits {
  /** By position. */
  readonly limits: readonly PlacedLimit[]
  /** In the policy's order. */
  readonly shown: readonly PlacedLimit[]
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
  const amounts = [...units, SLOTS]
  const limits: PlacedLimit[] = []
  const layers = policy.layers.map((ofLayer, layer) => {
    const own = policy.limits.filter((rule) => rule.layer === layer)
    for (const { rule, kind, lengthMs, identity, unit } of inRowOrder(own.map((rule) => ({ rule, ...cellOf(rule) })))) {
      const at = limits.length
      limits.push({ at, rule, kind, lengthMs, identity, unit: amounts.indexOf(unit), layer, ofLayer })
    }
    return { name: ofLayer.name, shared: ofLayer.shared, cells: cellsIn(units, own.map(cellOf)) }
  })
  const sets: (readonly number[])[] = [[...limits.keys()]]
  const setOf = new Map<string, number>()
  for (const operation of Object.keys(policy.operations)) {
    const counted = limits.filter(({ rule }) => counts(rule, operation)).map(({ at }) => at)
    const same = sets.findIndex((set) => set.join() === counted.join())
    setOf.set(operation, same === -1 ? sets.push(counted) - 1 : same)
  }
  const schema = { units, layers, sets }
  const shown = limits.toSorted((a, b) => policy.limits.indexOf(a.rule) - policy.limits.indexOf(b.rule))
  return { limits, shown, schema, layout: layoutOf(schema), setOf }
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

/** Returns the layer of a limit. */
export function layerOf({ layers }: Pick<Policy, 'layers'>, { layer }: Pick<LimitRule, 'layer'>): LayerDefinition {
  return layers[layer]!
}

/** Returns the limits of a layer. */
export function limitsOfLayer(policy: Pick<Policy, 'limits' | 'layers'>, layer: string): readonly LimitRule[] {
  return policy.limits.filter((rule) => layerOf(policy, rule).name === layer)
}

/** Returns the limits that each subject has of its own. */
export function ownLimits(policy: Pick<Policy, 'limits' | 'layers'>): readonly LimitRule[] {
  return policy.limits.filter((rule) => !layerOf(policy, rule).shared)
}

/** Whether some limit counts the operation's concurrency, even if its layers are off. */
export function takesSlot(policy: Policy, operation: string): boolean {
  return policy.limits.some((rule) => rule.window === undefined && counts(rule, operation))
}
