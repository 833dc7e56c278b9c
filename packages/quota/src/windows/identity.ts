import { KINDS, type KindName, WINDOW_RULES, type WindowDefinition } from './kinds.ts'

/** The unit of counters whose identities don't name one. */
export const TOKENS = 'tokens'
/** The unit of limits that don't name one. An operation costs 1 of it, unless its price says otherwise. */
export const REQUESTS = 'requests'
/** The reserved unit of concurrency. It comes last in each schema, without being in the list. */
export const SLOTS = 'slots'

/** Amounts by unit, {@link SLOTS} included. Stored rows use names, never positions. */
export type Amounts = Readonly<Record<string, number>>

/**
 * Converts a request's amounts to amounts by unit, without those of 0.
 *
 * @param units of the schema
 * @param amounts one per unit, then slots if present
 */
export function named(units: readonly string[], amounts: readonly number[]): Amounts {
  let record: Record<string, number> | undefined
  for (let at = 0; at < amounts.length; at++) {
    if (amounts[at] === 0) continue
    record ??= {}
    record[units[at] ?? SLOTS] = amounts[at]!
  }
  return record ?? NOTHING
}

/** Shared by all empty records, because most are empty. */
const NOTHING: Amounts = Object.freeze({})

/** Converts amounts by unit to a schema's order: 0 if missing, without unknown units. */
export function amountsIn(units: readonly string[], amounts: Amounts): readonly number[] {
  return units.map((unit) => amounts[unit] ?? 0)
}

/** A limit's counter, described by names only, so that it doesn't depend on a policy. */
export interface CellDefinition {
  readonly kind: KindName
  readonly label: string
  /** Identifies the counter: kind, label, length or calendar rule, and unit. One line of text. */
  readonly identity: string
  /**
   * How long after its start the counter has ended, in milliseconds. Exact for a rolling window, the maximum for a
   * calendar period and a bucket. `Infinity` for slots, which time doesn't end.
   */
  readonly lengthMs: number
  /** The name of the unit that it counts; for concurrency {@link SLOTS}. */
  readonly unit: string
}

/** A cell in the rows of one schema. */
export interface CellSchema extends Omit<CellDefinition, 'unit'> {
  /** The unit that it counts: an index into the schema's `units`; `units.length` for slots. */
  readonly unit: number
}

const UNIT_MARK = ' unit:'
/** Rejects names of inherited properties. */
const UNIT_NAME = /^(?!__proto__$)[A-Za-z0-9._:/-]{1,64}$/

/**
 * Returns the counter of a window, identified by kind, label, length or rule, and unit. Everything else in a policy can
 * change (texts, order, amounts), and the counter continues. A different label, length, rule or unit means a new
 * counter.
 *
 * @param unit the name of what it counts
 */
export function windowCell(window: WindowDefinition, unit: string = TOKENS): CellDefinition {
  const [name, ruleOf] = Object.entries(WINDOW_RULES).find(([, rule]) => rule(window as never) !== undefined)!
  const kind = name as KindName
  const { lengthMs, text } = ruleOf(window as never)!
  const mark = unit === TOKENS ? '' : `${UNIT_MARK}${unit}`
  return { kind, label: window.label, identity: `${kind} ${window.label} ${text}${mark}`, lengthMs, unit }
}

/** Returns the counter of slots: how much work is in progress. */
export function slotsCell(label: string): CellDefinition {
  const identity = `concurrency ${label}`
  return { kind: 'concurrency', label, identity, lengthMs: Number.POSITIVE_INFINITY, unit: SLOTS }
}

/** Parses a counter's identity; `undefined` for text that this version doesn't know. */
export function cellOfIdentity(identity: string): CellDefinition | undefined {
  const end = identity.lastIndexOf(UNIT_MARK)
  const named = end === -1 ? undefined : identity.slice(end + UNIT_MARK.length)
  const [name = '', label, ...rest] = (end === -1 ? identity : identity.slice(0, end)).split(' ')
  if (!label || !Object.hasOwn(KINDS, name)) return undefined
  const kind = name as KindName
  const { isWindow, lengthOf } = KINDS[kind]
  const lengthMs = lengthOf(rest.join(' '))
  if (lengthMs === undefined) return undefined
  if (named === undefined) return { kind, label, identity, lengthMs, unit: isWindow ? TOKENS : SLOTS }
  const isUnit = isWindow && UNIT_NAME.test(named) && named !== TOKENS && named !== SLOTS
  return isUnit ? { kind, label, identity, lengthMs, unit: named } : undefined
}

/** Returns the cells of a schema's limits, in row order. */
export function cellsIn(units: readonly string[], limits: readonly CellDefinition[]): readonly CellSchema[] {
  const places = [...units, SLOTS]
  return inRowOrder(limits.map((cell) => ({ ...cell, unit: places.indexOf(cell.unit) })))
}

/** Sorts cells in row order, which doesn't depend on the policy: by length, then by label; slots last. */
export function inRowOrder<C extends Pick<CellSchema, 'lengthMs' | 'label'>>(cells: readonly C[]): readonly C[] {
  return [...cells].sort((a, b) => {
    if (a.lengthMs !== b.lengthMs) return a.lengthMs < b.lengthMs ? -1 : 1
    return a.label < b.label ? -1 : 1
  })
}

/**
 * FNV-1a over UTF-16 units, as an unsigned 32-bit number. It is short and the same everywhere. It isn't for secrets.
 */
export function hash32(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash >>> 0
}

/** The part of a layer that counters need. */
export interface LayerSchema {
  readonly name: string
  /**
   * The member of a subject that is its key in this layer. Layers with the same one have the same owners.
   *
   * @default the layer's name
   */
  readonly by?: string | undefined
  /** Whether all subjects share its counters. */
  readonly shared: boolean
  /** The cells of its rows in order: windows by length, then by label; slots last. */
  readonly cells: readonly CellSchema[]
}

/**
 * The counters of one policy. A counter belongs to the _name_ of its layer, its subject's key, and its limit's identity.
 * Requests refer to layers by their positions in the list, and to limits by their positions among the cells of all
 * layers.
 */
export interface StoreSchema {
  /**
   * The names of the units that limits count. Amounts in requests have one number per unit in this order, then the
   * number of slots if the request may take any. The order doesn't identify counters.
   */
  readonly units: readonly string[]
  readonly layers: readonly LayerSchema[]
  /** Sets of limits that a request can count in, by ascending position. The first has all limits. */
  readonly sets: readonly (readonly number[])[]
}
