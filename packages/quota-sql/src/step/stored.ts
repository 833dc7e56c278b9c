import { QuotaError } from '@scoregw/quota'
import {
  type CellDefinition,
  CLOSED,
  cellOfIdentity,
  type IdPlace,
  type NamedCell,
  type NamedRecord,
} from '@scoregw/quota/store'
import type { Footprint } from './asked.ts'

/** A row's cells as they are stored: equal rows are equal texts. Never opened ones are left out. */
export function rowText(cells: readonly NamedCell[]): string {
  let text = ''
  for (const [identity, startedAt, used] of cells) {
    if (startedAt === CLOSED && used === CLOSED) continue
    text += `${text === '' ? '' : ','}[${quoted(identity)},${startedAt},${used}]`
  }
  return `[${text}]`
}

/** An identity in JSON: every row that is written has the same few. */
function quoted(identity: string): string {
  const known = QUOTED.get(identity) ?? JSON.stringify(identity)
  if (QUOTED.size < MAX_KNOWN) QUOTED.set(identity, known)
  return known
}

const MAX_KNOWN = 10_000
const QUOTED = new Map<string, string>()

/** A row as it is stored, read when somebody asks for its cells. */
export class StoredRow {
  readonly text: string
  #cells: readonly NamedCell[] | undefined
  #isRead: boolean

  /** @param cells what the text says, where that is known */
  constructor(text: string, cells?: readonly NamedCell[]) {
    this.text = text
    this.#cells = cells
    this.#isRead = cells !== undefined
  }

  /** `undefined` where nobody can read them. */
  get cells(): readonly NamedCell[] | undefined {
    if (!this.#isRead) this.#cells = cellsOf(this.text)
    this.#isRead = true
    return this.#cells
  }
}

function cellsOf(text: string): readonly NamedCell[] | undefined {
  const cells = parsed(text)
  return Array.isArray(cells) && cells.every(isCell) ? cells : undefined
}

function isCell(cell: unknown): cell is NamedCell {
  if (!Array.isArray(cell) || cell.length !== 3) return false
  const [identity, startedAt, used] = cell
  return typeof identity === 'string' && Number.isSafeInteger(startedAt) && Number.isSafeInteger(used) && used >= CLOSED
}

/** Whether this version knows what a cell counts; others are carried as they are. */
export function isKnown([identity]: NamedCell): boolean {
  return kindOf(identity) !== null
}

/** After how many milliseconds a rolling window ends; `undefined` for cells that are none. */
export function rollingLengthMs(identity: string): number | undefined {
  const cell = kindOf(identity)
  return cell?.kind === 'rolling' ? cell.lengthMs : undefined
}

/** What a cell counts; `null`: nobody here knows. */
function kindOf(identity: string): CellDefinition | null {
  const known = KNOWN.get(identity)
  if (known !== undefined) return known
  const cell = cellOfIdentity(identity) ?? null
  if (KNOWN.size < MAX_KNOWN) KNOWN.set(identity, cell)
  return cell
}

/** Identities that were looked at: every row that is read asks for some. */
const KNOWN = new Map<string, CellDefinition | null>()

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
  const { category, owner, costs, takenAt, endsAt, ttlMs, rows } = hold
  const isRow = (row: unknown): boolean =>
    isObject(row) && typeof row.layer === 'string' && typeof row.key === 'string' && isCells(row.charged)
  return (
    [category, owner].every((text) => typeof text === 'string') &&
    isObject(costs) &&
    [...Object.values(costs), takenAt, endsAt, ttlMs].every(Number.isSafeInteger) &&
    Array.isArray(rows) &&
    rows.every(isRow)
  )
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

/** What it takes to settle the hold of a record. */
export function footprintOf(place: IdPlace, text: string): Footprint {
  const { hold } = recordOf(text)
  const rows = hold?.rows.map(({ layer, key }) => ({ layer, category: hold.category, key }))
  return { ids: [place], rows }
}
