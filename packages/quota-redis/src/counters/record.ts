import { randomBytes } from 'node:crypto'
import type { QuotaError } from '@scoregw/quota'
import {
  type Amounts,
  amountsIn,
  answerToKeep,
  cellOfIdentity,
  commitAnswer,
  type HoldFactsOf,
  type IdFacts,
  Instant,
  Layout,
  NOT_OPEN,
  otherVersion,
  type Settled,
  SLOTS,
  view,
} from '@scoregw/quota/internal'
import type { CellSchema, WindowStates } from '@scoregw/quota/store'
import { damagedRow } from '../connection/errors.ts'
import type { Keys } from '../keys/keys.ts'
import { byRow, type Charge, type ChargesByRow, fromRows, merged } from './charges.ts'
import { headOf, type ListBooks } from './lists.ts'
import {
  AMOUNT_BYTES,
  CELL_BYTES,
  COUNT_BYTES,
  HEAD_BYTES,
  otherVersionIn,
  readCell,
  sevenBytes,
  sixBytes,
  TIME_BYTES,
} from './row-bytes.ts'

/** A hold, as its record stores it. */
export interface HoldOfRecord extends HoldFactsOf {
  /** The member of the subject that has its key: see `Owner`. */
  readonly by: string
  /** The subject's key there. */
  readonly owner: string
  /** Epoch milliseconds. */
  readonly takenAt: number
  /** How long the record is kept once it is settled, in milliseconds. */
  readonly keepMs: number
  /** The charges to refund at its end; empty after the end. */
  readonly charges: readonly Charge[]
  /** Marks of the last growths, so that a growth whose reply was lost is not repeated. */
  readonly growths: readonly string[]
}

/** The record of an id. */
export interface IdRecord extends IdFacts {
  /** New at every write. A decision on a record applies only while the record has this mark. */
  readonly mark: string
  /** The rows of the states, in order: see `Keys.table`. */
  readonly tables: readonly string[]
  /** The limits of each row: identities, in order. */
  readonly limits: readonly (readonly string[])[]
  readonly hold?: HoldOfRecord | undefined
}

/** How many bytes a mark has. */
export const MARK_BYTES = 8
/** The version of a record's format, its byte after the mark and the expiry. */
const RECORD_VERSION = 2
const VERSION_AT = 14
/** The offset of the part that scripts do not read. */
const TEXT_AT = VERSION_AT + 1
const NEW_LINE = 10
/** The most growths that a record remembers. */
const MOST_GROWTHS = 16

/** Identifies a write. */
export function newMark(): string {
  return randomBytes(6).toString('base64url')
}

/** The marks of growths, with one added. */
export function withGrowth(growths: readonly string[], mark: string): readonly string[] {
  return [...growths, mark].slice(-MOST_GROWTHS)
}

/**
 * Facts that the script appends to a record: the result of the take in the same operation, which is unknown until it is
 * carried out. See `facts` in `lua/steps.lua`.
 */
export interface Behind {
  /** Whether the facts are a take's charge, a hold's growth, or a commit's charge beyond its hold. */
  readonly of: 'take' | 'growth' | 'commit'
  /** For a hold: its rows in the order of the facts, by their keys without the prefix. */
  readonly rows?: readonly string[] | undefined
  /** Periods of the rows' calendar windows, in the order of the facts. */
  readonly periods?: readonly number[] | undefined
  /** For a commit: its plan, by unit. */
  readonly plan?: { readonly actual: Amounts; readonly within: Amounts; readonly excess: Amounts } | undefined
}

/**
 * A record as it is stored: the mark, the version byte, one line of JSON, then the facts. The script inserts the expiry
 * after the mark. For a hold that begins, `takenAt` is 0 and `endsAt` is its duration.
 */
export function recordText(record: IdRecord, behind?: Behind): string {
  const { mark, state, nonce, fingerprint, tables, limits, states, hold } = record
  const ofHold = hold && [
    ...[hold.by, hold.owner, hold.costs, hold.takenAt, hold.endsAt, hold.keepMs],
    ...[byRow(hold.charges), hold.growths.join(''), hold.answer ?? 0],
  ]
  const ofFacts = behind && [behind.of, behind.rows ?? 0, behind.periods ?? 0, behind.plan ?? 0]
  const ofStates = states.length > 0 ? [limits.map((each) => headOf(each.join('\n'))), states] : 0
  const version = String.fromCharCode(RECORD_VERSION)
  return `${mark}${version}${JSON.stringify([STATE_CODES[state], nonce, fingerprint, tables, ofStates, ofHold ?? 0, ofFacts ?? 0])}\n`
}

const STATE_CODES = { reserved: 'R', committed: 'C', cancelled: 'X', expired: 'E' } as const

/** The JSON of a record. */
type RecordJson = readonly [
  state: string,
  nonce: string,
  fingerprint: string,
  tables: readonly string[],
  states: 0 | readonly [heads: readonly number[], states: WindowStates],
  hold:
    | 0
    | readonly [
        by: string,
        owner: string,
        costs: Amounts,
        takenAt: number,
        endsAt: number,
        keepMs: number,
        charges: ChargesByRow,
        growths: string,
        answer: 0 | Settled<Amounts>,
      ],
  facts:
    | 0
    | readonly [
        of: Behind['of'],
        rows: 0 | readonly string[],
        periods: 0 | readonly number[],
        plan: 0 | Behind['plan'],
      ],
]

/** The contents of a record's key. */
export interface Found {
  /** {@link IdRecord.mark} of the record; empty without one. */
  readonly mark: string
  readonly record?: IdRecord | undefined
  /** Why the contents cannot be read: `damaged_row`, `other_version`. */
  readonly fault?: QuotaError
  /** The unknown list of limits that the record uses: eight digits. */
  readonly unknownList?: string
}

/** Reads a record from the script's reply. */
export function readRecord(bytes: Buffer, books: ListBooks): Found {
  const mark = bytes.toString('latin1', 0, MARK_BYTES)
  if (bytes.length === 0) return { mark }
  const version = otherVersionIn(bytes, VERSION_AT, RECORD_VERSION)
  if (version !== undefined) return { mark, fault: otherVersion('the record of the id', version, RECORD_VERSION) }
  try {
    const end = bytes.indexOf(NEW_LINE, TEXT_AT)
    const json = JSON.parse(bytes.toString('utf8', TEXT_AT, end)) as RecordJson
    const [status, nonce, fingerprint, tables, shown, hold, behind] = json
    const [heads, states] = shown === 0 ? [[], []] : shown
    const limits = heads.map((head) => limitsOf(books, head))
    const ofHold = hold === 0 ? undefined : holdOf(hold)
    const read = { mark, state: STATES[status]!, nonce, fingerprint, tables, limits, states, hold: ofHold }
    return { mark, record: behind === 0 ? read : withFacts(read, behind, factsIn(bytes, end + 1, books)) }
  } catch (error) {
    return error instanceof UnknownList ? { mark, unknownList: error.hash } : { mark, fault: damagedRow(undefined) }
  }
}

/** A record uses a list of limits that this process has to learn first. */
class UnknownList extends Error {
  readonly hash: string

  constructor(head: number) {
    super('unknown list of limits')
    this.hash = hashText(head)
  }
}

function limitsOf(books: ListBooks, head: number): readonly string[] {
  const limits = books.limitsOf(head)
  if (limits === undefined) throw new UnknownList(head)
  if (limits.length === 0) throw new Error('a list of limits that is not its hash')
  return limits
}

/** A list's hash as its field in the hash of lists: eight digits. */
function hashText(head: number): string {
  return Math.floor(head / 256)
    .toString(16)
    .padStart(8, '0')
}

/** A record with the facts that the script appended. */
function withFacts(record: IdRecord, [of, rows, periods, plan]: Exclude<RecordJson[6], 0>, facts: Facts): IdRecord {
  const { hold } = record
  if (of === 'commit')
    return hold === undefined ? record : { ...record, hold: committed(hold, facts, plan as Behind['plan']) }
  const charged = hold && { ...hold, charges: merged(hold.charges, chargesIn(facts, rows === 0 ? [] : rows)) }
  if (of === 'growth') return { ...record, hold: charged }
  const states = statesOf(facts, periods === 0 ? undefined : periods)
  const begun = charged && { ...charged, takenAt: facts.now, endsAt: facts.now + charged.endsAt }
  return { ...record, limits: facts.rows.map(({ limits }) => limits), states, hold: begun }
}

const STATES: Readonly<Record<string, IdRecord['state']>> = {
  R: 'reserved',
  C: 'committed',
  X: 'cancelled',
  E: 'expired',
}

function holdOf([by, owner, costs, takenAt, endsAt, keepMs, charges, growths, answer]: Exclude<
  RecordJson[5],
  0
>): HoldOfRecord {
  return {
    ...{ by, owner, costs, takenAt, endsAt, keepMs, charges: fromRows(charges) },
    growths: growths.match(/.{8}/g) ?? [],
    answer: answer === 0 ? undefined : answer,
  }
}

/** The states of the reply that a record stores, for this schema. Cells that the record lacks are not open. */
export function statesFor(record: IdRecord, keys: Keys): WindowStates {
  return keys.schema.layers.flatMap(({ cells }, layer) =>
    cells.flatMap(({ identity }) => {
      const place = placeIn(record, keys.table(layer), identity)
      return place === undefined ? [NOT_OPEN, 0] : [record.states[place]!, record.states[place + 1]!]
    }),
  )
}

/** The pairs of a reply's states that a record stores: those of these layers. */
export function storedStates(states: WindowStates, layers: readonly number[], { rows }: Layout): WindowStates {
  return layers.flatMap((layer) => states.slice(2 * rows[layer]!.first, 2 * (rows[layer]!.first + rows[layer]!.size)))
}

/** When a record's cell opened; `NOT_OPEN` if it did not, or if the record lacks it. */
export function startIn(record: IdRecord, table: string, identity: string): number {
  const at = placeIn(record, table, identity)
  return at === undefined ? NOT_OPEN : record.states[at]!
}

/** The index of a cell in a record's states. */
function placeIn({ tables, limits }: IdRecord, table: string, identity: string): number | undefined {
  const row = tables.indexOf(table)
  const cell = limits[row]?.indexOf(identity) ?? -1
  return cell === -1 ? undefined : 2 * (limits.slice(0, row).flat().length + cell)
}

// Facts ---------------------------------------------------------------------------------------------------------------

interface Facts {
  /** When it was charged, epoch milliseconds. */
  readonly now: number
  readonly rows: readonly FactsOfRow[]
}

/** A row after a charge. */
interface FactsOfRow {
  /** Identities of the cells. */
  readonly limits: readonly string[]
  /** The amount charged to each cell. Below 0, it doesn't count. */
  readonly amounts: readonly number[]
  /** Pairs `[startedAt, used]`. */
  readonly cells: readonly number[]
}

function factsIn(bytes: Buffer, from: number, books: ListBooks): Facts {
  let amountsAt = from + COUNT_BYTES
  const nowAt = amountsAt + AMOUNT_BYTES * bytes.readUInt16LE(from)
  const rows: FactsOfRow[] = []
  for (let at = nowAt + TIME_BYTES; at < bytes.length; ) {
    const limits = limitsOf(books, bytes.readUIntLE(at, HEAD_BYTES))
    const size = limits.length
    const cells: number[] = []
    for (let c = 0; c < size; c++) readCell(bytes, at + HEAD_BYTES, size, c, cells, 2 * c)
    const amounts = Array.from(limits, (_, c) => sevenBytes(bytes, amountsAt + AMOUNT_BYTES * c))
    rows.push({ limits, amounts, cells })
    amountsAt += AMOUNT_BYTES * size
    at += HEAD_BYTES + CELL_BYTES * size
  }
  return { now: sixBytes(bytes, nowAt), rows }
}

/**
 * The states in the reply to a take. Charges appear at the exact start that they went to, everything else as seen at
 * that time.
 */
function statesOf({ now, rows }: Facts, periods: readonly number[] | undefined): WindowStates {
  const layers = rows.map(({ limits }) => ({ name: '', shared: false, cells: limits.map(cellAt) }))
  const instant = new Instant(new Layout({ layers, sets: [] }))
  instant.moveTo(now, periods)
  let at = 0
  return rows.flatMap(({ amounts, cells }) => {
    const states: number[] = []
    for (let c = 0; c < amounts.length; c++, at++) {
      const isSeen = amounts[c] === 0 && !Number.isNaN(instant.after[at])
      if (amounts[c]! > 0) states.push(cells[2 * c]!, cells[2 * c + 1]!)
      else if (isSeen) view(cells, 2 * c, instant.after[at]!, now, states, 2 * c)
      else states.push(NOT_OPEN, 0)
    }
    return states
  })
}

/** A cell by its identity. One of a kind that this version doesn't know never looks open. */
function cellAt(identity: string): CellSchema {
  const cell = cellOfIdentity(identity)
  return cell === undefined
    ? { kind: 'rolling', label: '', identity, lengthMs: Number.NEGATIVE_INFINITY, unit: 0 }
    : { ...cell, unit: 0 }
}

function chargesIn({ rows }: Facts, names: readonly string[]): Charge[] {
  return names.flatMap((row, r) => {
    const { limits, amounts, cells } = rows[r]!
    return limits.flatMap((identity, c): Charge[] =>
      amounts[c]! > 0 ? [[row, identity, cells[2 * c]!, amounts[c]!]] : [],
    )
  })
}

/** The result of a commit that charges as much as fits. A unit without a limit always fits. */
function committed(hold: HoldOfRecord, { rows }: Facts, plan: Behind['plan']): HoldOfRecord {
  const { actual, within, excess } = plan!
  const fitted = rows.flatMap(({ limits, amounts }) =>
    limits.flatMap((identity, c) =>
      amounts[c]! < 0 ? [] : [[cellOfIdentity(identity)?.unit ?? '', amounts[c]!] as const],
    ),
  )
  const units = [...new Set([...Object.keys(actual), ...Object.keys(excess), ...Object.keys(hold.costs)])].filter(
    (unit) => unit !== SLOTS,
  )
  const of = (amount: Amounts): readonly number[] => amountsIn(units, amount)
  const added = amountsIn(units, { ...excess, ...Object.fromEntries(fitted) })
  const settled = commitAnswer({ reserved: of(hold.costs), actual: of(actual), within: of(within) }, added)
  return { ...hold, answer: answerToKeep(settled, hold, units) }
}
