import { QuotaError } from '@scoregw/quota'
import { CLOSED } from '@scoregw/quota/internal'
import type { NamedCell, NamedRecord } from '@scoregw/quota/store'
import { type Footprint, type Key, placeOf, rowRef } from './requested.ts'

/** @throws {QuotaError} `damaged_row` */
export function recordOf(text: string): NamedRecord {
  const record = parsed(text)
  if (isRecord(record)) return record
  throw new QuotaError('damaged_row', 'the record of the id cannot be read')
}

const STATES: readonly unknown[] = ['reserved', 'committed', 'cancelled', 'expired']

function isRecord(value: unknown): value is NamedRecord {
  if (!isObject(value)) return false
  const { state, nonce, fingerprint, states, expiresAt, hold } = value
  return (
    STATES.includes(state) &&
    typeof nonce === 'string' &&
    typeof fingerprint === 'string' &&
    Array.isArray(states) &&
    states.every(Number.isSafeInteger) &&
    Number.isSafeInteger(expiresAt) &&
    (hold === undefined || isHold(hold))
  )
}

function isHold(hold: unknown): boolean {
  if (!isObject(hold)) return false
  const { by, owner, costs, takenAt, endsAt, ttlMs, rows } = hold
  const isRow = (row: unknown): boolean =>
    isObject(row) && typeof row.layer === 'string' && typeof row.key === 'string' && isCells(row.charged)
  return (
    [by, owner].every((text) => typeof text === 'string') &&
    [takenAt, endsAt, ttlMs].every(Number.isSafeInteger) &&
    isObject(costs) &&
    Object.values(costs).every(Number.isSafeInteger) &&
    Array.isArray(rows) &&
    rows.every(isRow)
  )
}

function isCell(cell: unknown): cell is NamedCell {
  if (!Array.isArray(cell) || cell.length !== 3) return false
  const [identity, startedAt, used] = cell
  return typeof identity === 'string' && Number.isSafeInteger(startedAt) && Number.isSafeInteger(used) && used >= CLOSED
}

function isCells(cells: unknown): boolean {
  return Array.isArray(cells) && cells.every(isCell)
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A hold's record as it is stored. */
export interface StoredHold {
  readonly key: Key
  readonly record: string
}

/** The rows and records needed to settle a hold; `undefined` if its record cannot be read. */
export function readableFootprint({ key, record }: StoredHold): Footprint | undefined {
  const { hold } = readable(record)
  const rows = hold?.rows.map(rowRef)
  return rows && { ids: [placeOf(key)], rows }
}

/** A record; empty if it cannot be read. */
export function readable(text: string): Partial<NamedRecord> {
  try {
    return recordOf(text)
  } catch {
    return {}
  }
}
