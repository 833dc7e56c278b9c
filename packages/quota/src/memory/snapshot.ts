import { faultyDocument } from '../errors/quota-error.ts'
import { type Check, group, listOf, where } from '../options/checks.ts'
import { checked } from '../options/faults.ts'
import { once } from '../options/once.ts'
import { windowIdentity } from '../windows/identity.ts'
import type { WindowDefinition } from '../windows/window.ts'
import type { IdRecord } from './id-records.ts'

/** Most rows and records of one part. */
export const SNAPSHOT_PART_ROWS = 1_000

/** A part of a saved memory store: plain JSON. */
export interface SnapshotPart {
  readonly format: 2
  /** The tables that rows name by their place in this list, and what the pairs of numbers in their rows are. */
  readonly tables: readonly {
    readonly layer: string
    readonly category: string
    /** See `windowIdentity`. */
    readonly windows: readonly string[]
  }[]
  /** Rows as `[table, key, cells]`. */
  readonly rows: readonly (readonly [table: number, key: string, cells: readonly number[]])[]
  /** Records of server-side ids as `[key, record]`. */
  readonly ids: readonly (readonly [key: string, record: IdRecord])[]
}

const isText = (value: unknown): boolean => typeof value === 'string'
const text = (what: string): Check<string> => where(isText, what)
const listOfAny = <T>(check: Check<T>): Check<T[]> => listOf(check, 0, Number.MAX_SAFE_INTEGER)

function isCells(value: unknown): boolean {
  return Array.isArray(value) && value.every((cell) => Number.isSafeInteger(cell) && cell >= -1)
}

function isRow(value: unknown): boolean {
  if (!Array.isArray(value) || value.length !== 3) return false
  const [table, key, cells] = value as readonly unknown[]
  return Number.isSafeInteger(table) && (table as number) >= 0 && isText(key) && isCells(cells)
}

function isIdEntry(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && isText(value[0]) && isIdRecord(value[1])
}

function isIdRecord(value: unknown): boolean {
  const { state, nonce, fingerprint, states, expiresAt } = Object(value) as Partial<Record<keyof IdRecord, unknown>>
  const isState = state === 'reserved' || state === 'committed' || state === 'cancelled'
  return isState && isText(nonce) && isText(fingerprint) && isCells(states) && Number.isSafeInteger(expiresAt)
}

/** What the text in `schema` of the first format says. */
type FirstSchema = readonly [
  windows: readonly WindowDefinition[],
  categories: readonly string[],
  layers: readonly { readonly name: string }[],
]

function isFirstSchema(value: unknown): boolean {
  if (!Array.isArray(value) || value.length !== 3 || !value.every(Array.isArray)) return false
  const [windows, categories, layers] = value as readonly (readonly Partial<WindowDefinition & { name: string }>[])[]
  return (
    windows!.every((window) => isText(window?.label) && Number.isSafeInteger(window.lengthMs)) &&
    categories!.every(isText) &&
    layers!.every((layer) => isText(layer?.name))
  )
}

const schemas = /* @__PURE__ */ once(() => {
  const rows = listOfAny(where<SnapshotPart['rows'][number]>(isRow, 'a row, [table, key, numbers]'))
  const ids = listOfAny(where<SnapshotPart['ids'][number]>(isIdEntry, 'the record of an id, [key, record]'))
  const windows = listOfAny(text('the identity of a window'))
  const table = group({ layer: text('the name of a layer'), category: text('the name of a category'), windows })
  return {
    now: group({ format: where<2>((value) => value === 2, '2'), tables: listOfAny(table), rows, ids }),
    first: group({ schema: text('what the rows are of'), rows, ids }),
    firstSchema: where<FirstSchema>(isFirstSchema, 'windows, categories and layers in `schema`'),
  }
})

/**
 * A part of a snapshot, also one of the first version's format (without its ids, whose keys named a policy).
 *
 * @throws {QuotaError} `invalid_options` for anything else; nothing of it is used then
 */
export function parseSnapshotPart(part: unknown): SnapshotPart {
  if (isText(part)) {
    const message = 'expected a part of a snapshot, got text: JSON.parse() it first'
    throw faultyDocument('invalid_options', 'snapshot', [{ path: '', message }])
  }
  const parsed = isFirstFormat(part) ? fromFirstFormat(part) : check(schemas().now, part)
  const faults = parsed.rows.flatMap(([table, , cells], index) => {
    const { windows } = parsed.tables[table] ?? {}
    const message = windows === undefined ? `no such table: ${table}` : `expected ${2 * windows.length} numbers`
    return cells.length === (windows?.length ?? Number.NaN) * 2 ? [] : [{ path: `rows.${index}`, message }]
  })
  if (faults.length > 0) throw faultyDocument('invalid_options', 'snapshot', faults)
  return parsed
}

function isFirstFormat(part: unknown): boolean {
  return typeof part === 'object' && part !== null && 'schema' in part
}

function fromFirstFormat(part: unknown): SnapshotPart {
  const { schema, rows } = check(schemas().first, part)
  const [windows, categories, layers] = check(schemas().firstSchema, jsonOf(schema))
  const identities = windows.map(windowIdentity)
  const tables = layers.flatMap(({ name }) =>
    categories.map((category) => ({ layer: name, category, windows: identities })),
  )
  return { format: 2, tables, rows, ids: [] }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function check<T>(schema: Check<T>, part: unknown): T {
  const { value, faults } = checked(schema, part)
  if (faults !== undefined) throw faultyDocument('invalid_options', 'snapshot', faults)
  return value
}
