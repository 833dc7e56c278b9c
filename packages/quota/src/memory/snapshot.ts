import { faultyDocument } from '../errors/quota-error.ts'
import { type Check, group, listOf, where } from '../options/checks.ts'
import { checked } from '../options/faults.ts'
import { once } from '../options/once.ts'
import { windowCell } from '../windows/identity.ts'
import type { RollingWindow } from '../windows/window.ts'
import type { HoldFacts, HoldRow, IdRecord } from './id-records.ts'

/** Most rows and records of one part. */
export const SNAPSHOT_PART_ROWS = 1_000

/** A part of a saved memory store: plain JSON. */
export interface SnapshotPart {
  readonly format: 3
  /** The tables that rows name by their place in this list, and what the pairs of numbers in their rows are. */
  readonly tables: readonly {
    readonly layer: string
    readonly category: string
    /** Identities of the cells, see `CellSchema`. */
    readonly cells: readonly string[]
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
  const { state, nonce, fingerprint, states, expiresAt, hold } = Object(value) as Partial<
    Record<keyof IdRecord, unknown>
  >
  const isPlain = isText(nonce) && isText(fingerprint) && isCells(states) && Number.isSafeInteger(expiresAt)
  return STATES.includes(state) && isPlain && (hold === undefined || isHold(hold))
}

const STATES: readonly unknown[] = ['reserved', 'committed', 'cancelled', 'expired'] satisfies IdRecord['state'][]

function isHold(value: unknown): boolean {
  const { category, owner, tokens, slot, takenAt, endsAt, ttlMs, rows, answer } = Object(value) as Partial<
    Record<keyof HoldFacts, unknown>
  >
  const numbers = [tokens, takenAt, endsAt, ttlMs, ...Object.values(Object(answer) as object)]
  return (
    isText(category) &&
    isText(owner) &&
    typeof slot === 'boolean' &&
    numbers.every((each) => Number.isSafeInteger(each) && (each as number) >= 0) &&
    Array.isArray(rows) &&
    rows.every(isHoldRow)
  )
}

function isHoldRow(value: unknown): boolean {
  const { layer, key, charged } = Object(value) as Partial<Record<keyof HoldRow, unknown>>
  return isText(layer) && isText(key) && isCells(charged)
}

/** What the text in `schema` of the first format says. */
type FirstSchema = readonly [
  windows: readonly RollingWindow[],
  categories: readonly string[],
  layers: readonly { readonly name: string }[],
]

function isFirstSchema(value: unknown): boolean {
  if (!Array.isArray(value) || value.length !== 3 || !value.every(Array.isArray)) return false
  const [windows, categories, layers] = value as readonly (readonly Partial<RollingWindow & { name: string }>[])[]
  return (
    windows!.every((window) => isText(window?.label) && Number.isSafeInteger(window.lengthMs)) &&
    categories!.every(isText) &&
    layers!.every((layer) => isText(layer?.name))
  )
}

const schemas = /* @__PURE__ */ once(() => {
  const rows = listOfAny(where<SnapshotPart['rows'][number]>(isRow, 'a row, [table, key, numbers]'))
  const ids = listOfAny(where<SnapshotPart['ids'][number]>(isIdEntry, 'the record of an id, [key, record]'))
  const cells = listOfAny(text('the identity of a limit'))
  const names = { layer: text('the name of a layer'), category: text('the name of a category') }
  return {
    now: group({
      format: where<3>((value) => value === 3, '3'),
      tables: listOfAny(group({ ...names, cells })),
      rows,
      ids,
    }),
    second: group({
      format: where<2>((value) => value === 2, '2'),
      tables: listOfAny(group({ ...names, windows: cells })),
      rows,
      ids,
    }),
    first: group({ schema: text('what the rows are of'), rows, ids }),
    firstSchema: where<FirstSchema>(isFirstSchema, 'windows, categories and layers in `schema`'),
  }
})

/**
 * A part of a snapshot, also one of the formats before (of the first without its ids, whose keys named a policy).
 *
 * @throws {QuotaError} `invalid_options` for anything else; nothing of it is used then
 */
export function parseSnapshotPart(part: unknown): SnapshotPart {
  if (isText(part)) {
    const message = 'expected a part of a snapshot, got text: JSON.parse() it first'
    throw faultyDocument('invalid_options', 'snapshot', [{ path: '', message }])
  }
  const parsed = isFirstFormat(part) ? fromFirstFormat(part) : fromLaterFormat(part)
  const faults = parsed.rows.flatMap(([table, , numbers], index) => {
    const { cells } = parsed.tables[table] ?? {}
    const message = cells === undefined ? `no such table: ${table}` : `expected ${2 * cells.length} numbers`
    return numbers.length === (cells?.length ?? Number.NaN) * 2 ? [] : [{ path: `rows.${index}`, message }]
  })
  if (faults.length > 0) throw faultyDocument('invalid_options', 'snapshot', faults)
  return parsed
}

function fromLaterFormat(part: unknown): SnapshotPart {
  if ((part as { readonly format?: unknown } | null)?.format !== 2) return check(schemas().now, part)
  const { tables, rows, ids } = check(schemas().second, part)
  const named = tables.map(({ layer, category, windows }) => ({ layer, category, cells: windows }))
  return { format: 3, tables: named, rows, ids }
}

function isFirstFormat(part: unknown): boolean {
  return typeof part === 'object' && part !== null && 'schema' in part
}

function fromFirstFormat(part: unknown): SnapshotPart {
  const { schema, rows } = check(schemas().first, part)
  const [windows, categories, layers] = check(schemas().firstSchema, jsonOf(schema))
  const cells = windows.map((window) => windowCell(window).identity)
  const tables = layers.flatMap(({ name }) => categories.map((category) => ({ layer: name, category, cells })))
  return { format: 3, tables, rows, ids: [] }
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
