import type { NamedCell, NamedRecord, RowPlace, Scratch } from '@scoregw/quota/store'
import { type Key, nameOf } from './asked.ts'
import { rowText } from './stored.ts'

/** A row or record to be written. */
export interface Change {
  /** See {@link nameOf}. */
  readonly name: string
  readonly key: Key
  readonly text: string
  /** When it may be forgotten, epoch milliseconds; `null`: not before it was written again. */
  readonly endsAt: number | null
  /** Of a record: when its open hold ends. */
  readonly holdEndsAt: number | null
  /** Of a row: what the text says. */
  readonly cells?: readonly NamedCell[]
  /** Nobody had it when it was looked for: another one who makes it meanwhile is a reason to begin again. */
  readonly isNew: boolean
}

export interface Changes {
  readonly rows: readonly Change[]
  readonly ids: readonly Change[]
}

/** How long the row is kept whose lock keeps the number of an owner's holds, in milliseconds: as one is taken again and again. */
const COUNTER_KEPT_MS = 600_000

/** The row whose lock keeps the number of an owner's holds: it is there, and seldom written. */
export function changedCounter(key: Key, before: string | undefined, now: number): Change | undefined {
  const endsAt = now + COUNTER_KEPT_MS
  if (before !== undefined && Number(before) >= now + COUNTER_KEPT_MS / 2) return undefined
  return { name: nameOf(key), key, text: String(endsAt), endsAt, holdEndsAt: null, isNew: before === undefined }
}

/** A row, and what it was. */
interface RowNow {
  readonly key: Key
  readonly place: RowPlace
  readonly before: string | undefined
  /** Cells that nobody here knows: they are kept. */
  readonly unknown: readonly NamedCell[]
}

export function changedRow({ key, place, before, unknown }: RowNow, scratch: Scratch): Change | undefined {
  const cells = scratch.row(place)
  if (cells === undefined) return undefined
  const all = unknown.length === 0 ? cells : [...cells, ...unknown].sort(([a], [b]) => (a < b ? -1 : 1))
  const text = rowText(all)
  if (text === (before ?? '[]')) return undefined
  // Of cells that this version does not know nobody knows when they end.
  const endsAt = unknown.length === 0 ? scratch.rowEndsAt(place) : Number.POSITIVE_INFINITY
  const kept = Number.isFinite(endsAt) ? endsAt : null
  return { name: nameOf(key), key, text, cells: all, endsAt: kept, holdEndsAt: null, isNew: before === undefined }
}

export function changedRecord(key: Key, before: string | undefined, record: NamedRecord): Change | undefined {
  const text = JSON.stringify(record)
  if (text === before) return undefined
  const { state, hold, expiresAt } = record
  const holdEndsAt = state === 'reserved' ? (hold?.endsAt ?? null) : null
  return {
    name: nameOf(key),
    key,
    text,
    endsAt: holdEndsAt === null ? expiresAt : null,
    holdEndsAt,
    isNew: before === undefined,
  }
}
