import { otherVersion } from '../errors/other-version.ts'
import { faultyDocument } from '../errors/quota-error.ts'
import { type Check, group, isObject, listOf, where } from '../options/checks.ts'
import { checked } from '../options/faults.ts'
import { once } from '../options/options-parser.ts'
import type { Settled } from '../store/hold-port.ts'
import type { HoldFacts, HoldRow, IdRecord } from './id-records.ts'

/** The most rows and records in one part. */
export const SNAPSHOT_PART_ROWS = 1_000

/** The version of {@link SnapshotPart} that this library writes and reads. */
export const SNAPSHOT_FORMAT = 2

/** A part of a saved memory store. Plain JSON. */
export interface SnapshotPart {
  readonly format: typeof SNAPSHOT_FORMAT
  /** The tables, to which rows refer by index, and the identities of the cells in their rows. */
  readonly tables: readonly {
    readonly layer: string
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
  const { by, owner, costs, takenAt, endsAt, ttlMs, rows, answer } = Object(value) as Partial<
    Record<keyof HoldFacts, unknown>
  >
  return (
    isText(by) &&
    isText(owner) &&
    isAmounts(costs) &&
    [takenAt, endsAt, ttlMs].every(isAmount) &&
    Array.isArray(rows) &&
    rows.every(isHoldRow) &&
    (answer === undefined || isAnswer(answer))
  )
}

function isAnswer(value: unknown): boolean {
  const { charged, uncharged, reserved } = Object(value) as Partial<Record<keyof Settled, unknown>>
  return [charged, uncharged, reserved].every(isAmounts)
}

function isAmounts(value: unknown): boolean {
  return isObject(value) && Object.values(value).every(isAmount)
}

function isAmount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isHoldRow(value: unknown): boolean {
  const { layer, key, charged } = Object(value) as Partial<Record<keyof HoldRow, unknown>>
  return isText(layer) && isText(key) && isCells(charged)
}

const schema = /* @__PURE__ */ once(() =>
  group({
    format: where<typeof SNAPSHOT_FORMAT>((value) => value === SNAPSHOT_FORMAT, String(SNAPSHOT_FORMAT)),
    tables: listOfAny(
      group({
        layer: text('the name of a layer'),
        cells: listOfAny(text('the identity of a limit')),
      }),
    ),
    rows: listOfAny(where<SnapshotPart['rows'][number]>(isRow, 'a row, [table, key, numbers]')),
    ids: listOfAny(where<SnapshotPart['ids'][number]>(isIdEntry, 'the record of an id, [key, record]')),
  }),
)

/**
 * Validates a part of a snapshot.
 *
 * @throws {QuotaError} `other_version`; `invalid_options` for anything else than a part. Nothing of it is used then
 */
export function parseSnapshotPart(part: unknown): SnapshotPart {
  if (isText(part)) {
    const message = 'expected a part of a snapshot, got text: JSON.parse() it first'
    throw faultyDocument('invalid_options', 'snapshot', [{ path: '', message }])
  }
  const { format } = Object(part) as { readonly format?: unknown }
  if (typeof format === 'number' && format !== SNAPSHOT_FORMAT) {
    throw otherVersion('the part of a snapshot', format, SNAPSHOT_FORMAT)
  }
  const { value: parsed, faults } = checked(schema(), part)
  if (faults !== undefined) throw faultyDocument('invalid_options', 'snapshot', faults)
  const wrong = parsed.rows.flatMap(([table, , numbers], index) => {
    const { cells } = parsed.tables[table] ?? {}
    const message = cells === undefined ? `no such table: ${table}` : `expected ${2 * cells.length} numbers`
    return numbers.length === (cells?.length ?? Number.NaN) * 2 ? [] : [{ path: `rows.${index}`, message }]
  })
  if (wrong.length > 0) throw faultyDocument('invalid_options', 'snapshot', wrong)
  return parsed
}
