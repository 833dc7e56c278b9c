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
  nth,
  otherVersion,
  type Settled,
  SLOTS,
  view,
} from '@scoregw/quota/internal'
import type { CellSchema, ReservationId, WindowStates } from '@scoregw/quota/store'
import { damagedRow } from '../connection/errors.ts'
import type { Keys } from '../keys/keys.ts'
import { byRow, type Charge, type ChargesByRow, fromRows, merged } from './charges.ts'
import {
  AMOUNT_BYTES,
  CELL_BYTES,
  COUNT_BYTES,
  HEAD_BYTES,
  headOf,
  type ListBooks,
  otherVersionIn,
  sevenBytes,
  sixBytes,
  startOf,
  TIME_BYTES,
  usedOf,
} from './rows.ts'

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

/** The record of an id that was cancelled before its reservation came, which then charges nothing. */
export function cancelledRecord({ nonce, fingerprint }: ReservationId): IdRecord {
  return { mark: newMark(), state: 'cancelled', nonce, fingerprint, tables: [], states: [], limits: [] }
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
  /** For a commit. */
  readonly plan?: CommitPlan | undefined
}

/** The plan of a commit, by unit. */
interface CommitPlan {
  readonly actual: Amounts
  readonly within: Amounts
  readonly excess: Amounts
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
  facts: 0 | FactsJson,
]

type FactsJson =
  | readonly [of: 'commit', rows: 0 | readonly string[], periods: 0 | readonly number[], plan: CommitPlan]
  | readonly [of: 'take' | 'growth', rows: 0 | readonly string[], periods: 0 | readonly number[]]

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
    const state = STATES[status]
    if (state === undefined) throw new Error('an unknown state')
    const read = { mark, state, nonce, fingerprint, tables, limits, states, hold: ofHold }
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
function withFacts(record: IdRecord, behind: FactsJson, facts: Facts): IdRecord {
  const { hold } = record
  if (behind[0] === 'commit')
    return hold === undefined ? record : { ...record, hold: committed(hold, facts, behind[3]) }
  const [of, rows, periods] = behind
  const charged = hold && { ...hold, charges: merged(hold.charges, chargesIn(facts, rows === 0 ? [] : rows)) }
  if (of === 'growth') return { ...record, hold: charged }
  const states = statesOf(facts, periods === 0 ? undefined : periods)
  const begun = charged && { ...charged, takenAt: facts.now, endsAt: facts.now + charged.endsAt }
  const limits = facts.rows.map((cells) => cells.map(({ identity }) => identity))
  return { ...record, limits, states, hold: begun }
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
      const { startedAt, used } = cellIn(record, keys.table(layer), identity)
      return [startedAt, used]
    }),
  )
}

/** The pairs of a reply's states that a record stores: those of these layers. */
export function storedStates(states: WindowStates, layers: readonly number[], layout: Layout): WindowStates {
  return layers.flatMap((layer) => {
    const { first, size } = layout.rowAt(layer)
    return states.slice(2 * first, 2 * (first + size))
  })
}

/** A cell of a record's states. It isn't open if the record lacks it. */
export function cellIn({ tables, limits, states }: IdRecord, table: string, identity: string): SeenCell {
  const row = tables.indexOf(table)
  const cell = limits[row]?.indexOf(identity) ?? -1
  if (cell === -1) return { startedAt: NOT_OPEN, used: 0 }
  const at = 2 * (limits.slice(0, row).flat().length + cell)
  return { startedAt: nth(states, at), used: nth(states, at + 1) }
}

interface SeenCell {
  readonly startedAt: number
  readonly used: number
}

// Facts ---------------------------------------------------------------------------------------------------------------

interface Facts {
  /** When it was charged, epoch milliseconds. */
  readonly now: number
  /** The cells of each row. */
  readonly rows: readonly (readonly ChargedCell[])[]
}

/** A cell after a charge. */
interface ChargedCell extends SeenCell {
  readonly identity: string
  /** What was charged to it. Below 0, it doesn't count. */
  readonly amount: number
}

function factsIn(bytes: Buffer, from: number, books: ListBooks): Facts {
  let amountsAt = from + COUNT_BYTES
  const nowAt = amountsAt + AMOUNT_BYTES * bytes.readUInt16LE(from)
  const rows: ChargedCell[][] = []
  for (let at = nowAt + TIME_BYTES; at < bytes.length; ) {
    const limits = limitsOf(books, bytes.readUIntLE(at, HEAD_BYTES))
    const size = limits.length
    const stored = { bytes, from: at + HEAD_BYTES, size }
    const amountOf = (c: number): number => sevenBytes(bytes, amountsAt + AMOUNT_BYTES * c)
    const cells = limits.map((identity, c) => {
      return { identity, amount: amountOf(c), startedAt: startOf(stored, c), used: usedOf(stored, c) }
    })
    rows.push(cells)
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
  const layers = rows.map((cells) => ({ name: '', shared: false, cells: cells.map(cellOf) }))
  const instant = new Instant(new Layout({ layers, sets: [] }))
  instant.moveTo(now, periods)
  return rows.flat().flatMap(({ amount, startedAt, used }, at) => {
    const after = instant.afterAt(at)
    if (amount > 0) return [startedAt, used]
    const state = [NOT_OPEN, 0]
    if (amount === 0 && !Number.isNaN(after)) view([startedAt, used], 0, after, now, state, 0)
    return state
  })
}

/** A cell by its identity. One of a kind that this version doesn't know never looks open. */
function cellOf({ identity }: ChargedCell): CellSchema {
  const cell = cellOfIdentity(identity)
  return cell === undefined
    ? { kind: 'rolling', label: '', identity, lengthMs: Number.NEGATIVE_INFINITY, unit: 0 }
    : { ...cell, unit: 0 }
}

function chargesIn({ rows }: Facts, names: readonly string[]): Charge[] {
  return names.flatMap((row, r) => {
    return nth(rows, r).flatMap(({ identity, amount, startedAt }): Charge[] =>
      amount > 0 ? [[row, identity, startedAt, amount]] : [],
    )
  })
}

/** The result of a commit that charges as much as fits. A unit without a limit always fits. */
function committed(hold: HoldOfRecord, { rows }: Facts, { actual, within, excess }: CommitPlan): HoldOfRecord {
  const fitted = rows.flat().flatMap(({ identity, amount }) => {
    return amount < 0 ? [] : [[cellOfIdentity(identity)?.unit ?? '', amount] as const]
  })
  const units = [...new Set([...Object.keys(actual), ...Object.keys(excess), ...Object.keys(hold.costs)])].filter(
    (unit) => unit !== SLOTS,
  )
  const of = (amount: Amounts): readonly number[] => amountsIn(units, amount)
  const added = amountsIn(units, { ...excess, ...Object.fromEntries(fitted) })
  const settled = commitAnswer({ reserved: of(hold.costs), actual: of(actual), within: of(within) }, added)
  return { ...hold, answer: answerToKeep(settled, hold, units) }
}
