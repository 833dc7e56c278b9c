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
  type RowLayout,
  type Settled,
  SLOTS,
  view,
  type WindowStates,
} from '@scoregw/quota/store'
import { damagedRow } from '../connection/errors.ts'
import type { Keys } from '../keys/keys.ts'
import { byRow, type Charge, type ChargesByRow, fromRows, merged } from './charges.ts'
import { headOf, type ListBook } from './lists.ts'
import { CELL_BYTES, HEAD_BYTES, otherVersionIn, readCell, sevenBytes, sixBytes } from './row-bytes.ts'

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
  /** The rows of the states, in order: five characters each, see `Keys.table`. */
  readonly tables: string
  /** The limits of the states' cells: identities, in order. */
  readonly limits: readonly string[]
  readonly hold?: HoldOfRecord | undefined
}

/** How many bytes a mark has. */
const MARK_BYTES = 8
/** The version of a record's format, its byte after the mark and the expiry. */
const RECORD_VERSION = 1
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
  const ofStates = states.length > 0 ? [headOf(limits.join('\n')), states] : 0
  const version = String.fromCharCode(RECORD_VERSION)
  return `${mark}${version}${JSON.stringify([STATE_CODES[state], nonce, fingerprint, tables, ofStates, ofHold ?? 0, ofFacts ?? 0])}\n`
}

const STATE_CODES = { reserved: 'R', committed: 'C', cancelled: 'X', expired: 'E' } as const

/** The JSON of a record. */
type RecordJson = readonly [
  state: string,
  nonce: string,
  fingerprint: string,
  tables: string,
  states: 0 | readonly [head: number, states: WindowStates],
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
export function readRecord(bytes: Buffer, book: ListBook): Found {
  const mark = bytes.toString('latin1', 0, MARK_BYTES)
  if (bytes.length === 0) return { mark }
  const version = otherVersionIn(bytes, VERSION_AT, RECORD_VERSION)
  if (version !== undefined) return { mark, fault: otherVersion('the record of the id', version, RECORD_VERSION) }
  try {
    const end = bytes.indexOf(NEW_LINE, TEXT_AT)
    const json = JSON.parse(bytes.toString('utf8', TEXT_AT, end)) as RecordJson
    const [status, nonce, fingerprint, tables, shown, hold, behind] = json
    const factsAt = end + 1
    const heads = [
      ...(shown === 0 ? [] : [shown[0]]),
      ...(behind === 0 ? [] : [bytes.readUIntLE(factsAt + 6, HEAD_BYTES)]),
    ]
    const lists = heads.map((head) => book.limitsOf(head))
    const unknown = heads[lists.indexOf(undefined)]
    if (unknown !== undefined) return { mark, unknownList: hashText(unknown) }
    if (lists.some((list) => list!.length === 0)) return { mark, fault: damagedRow(undefined) }
    const state = STATES[status]!
    const states = shown === 0 ? [] : shown[1]
    const limits = lists[0] ?? []
    const read = {
      mark,
      state,
      nonce,
      fingerprint,
      tables,
      limits,
      states,
      hold: hold === 0 ? undefined : holdOf(hold),
    }
    return {
      mark,
      record: behind === 0 ? read : withFacts(read, behind, factsIn(bytes, factsAt, lists.at(-1)!), book.layout),
    }
  } catch {
    return { mark, fault: damagedRow(undefined) }
  }
}

/** A list's hash as its field in the hash of lists: eight digits. */
function hashText(head: number): string {
  return Math.floor(head / 256)
    .toString(16)
    .padStart(8, '0')
}

/** A record with the facts that the script appended. */
function withFacts(
  record: IdRecord,
  [of, rows, periods, plan]: Exclude<RecordJson[6], 0>,
  facts: Facts,
  layout: RowLayout,
): IdRecord {
  const { hold } = record
  if (of === 'commit')
    return hold === undefined ? record : { ...record, hold: committed(hold, facts, plan as Behind['plan']) }
  const charged = hold && { ...hold, charges: merged(hold.charges, chargesIn(facts, rows === 0 ? [] : rows)) }
  if (of === 'growth') return { ...record, hold: charged }
  const own = facts.limits === layout.identities ? layout : undefined
  const states = statesOf(facts, own, periods === 0 ? undefined : periods)
  const begun = charged && { ...charged, takenAt: facts.now, endsAt: facts.now + charged.endsAt }
  return { ...record, limits: facts.limits, states, hold: begun }
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

/** The states stored in a record, for the layers that a request uses. Cells that the record lacks are not open. */
export function statesFor(record: IdRecord, layers: readonly number[], keys: Keys): WindowStates {
  const states = keys.layout.blank.slice()
  for (const layer of layers) {
    const { identities, first } = keys.layout.rows[layer]!
    for (const [c, identity] of identities.entries()) {
      const at = placeIn(record, keys.table(layer), identity)
      if (at !== undefined) states.splice(2 * (first + c), 2, record.states[at]!, record.states[at + 1]!)
    }
  }
  return states
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
  const row = tables.match(/.{5}/g)?.indexOf(table) ?? -1
  const cell = limits.indexOf(identity)
  return row === -1 || cell === -1 ? undefined : 2 * (row * limits.length + cell)
}

// Facts ---------------------------------------------------------------------------------------------------------------

interface Facts {
  /** When it was charged, epoch milliseconds. */
  readonly now: number
  /** Identities of the cells. */
  readonly limits: readonly string[]
  /** The amount charged to each cell. */
  readonly amounts: readonly number[]
  /** The rows after the charge: pairs `[startedAt, used]`. */
  readonly rows: readonly (readonly number[])[]
}

function factsIn(bytes: Buffer, from: number, limits: readonly string[]): Facts {
  const size = limits.length
  const amountsAt = from + 6 + HEAD_BYTES
  const rowsAt = amountsAt + 7 * size
  const rows: number[][] = []
  for (let at = rowsAt; at + CELL_BYTES * size <= bytes.length; at += CELL_BYTES * size) {
    const pairs: number[] = []
    for (let c = 0; c < size; c++) readCell(bytes, at, size, c, pairs, 2 * c)
    rows.push(pairs)
  }
  const amounts = limits.map((_, c) => sevenBytes(bytes, amountsAt + 7 * c))
  return { now: sixBytes(bytes, from), limits, amounts, rows }
}

/**
 * The states in the reply to a take. Charges appear at the exact start that they went to, everything else as seen at
 * that time. For another policy's list, only the charges appear.
 */
function statesOf(
  { now, amounts, rows }: Facts,
  layout: RowLayout | undefined,
  periods: readonly number[] | undefined,
): WindowStates {
  const layers = layout && rows.map(() => ({ name: '', shared: false, cells: layout.cells }))
  const instant = layers && new Instant(new Layout({ layers, sets: [] }))
  const isKnown = instant?.moveTo(now, periods) === true
  return rows.flatMap((pairs, r) => {
    const states: number[] = []
    for (let c = 0; c < amounts.length; c++) {
      if (amounts[c]! > 0) states.push(pairs[2 * c]!, pairs[2 * c + 1]!)
      else if (isKnown) view(pairs, 2 * c, instant.after[r * amounts.length + c]!, now, states, 2 * c)
      else states.push(NOT_OPEN, 0)
    }
    return states
  })
}

function chargesIn({ limits, amounts, rows }: Facts, names: readonly string[]): Charge[] {
  return names.flatMap((row, r) =>
    limits.flatMap((identity, c): Charge[] =>
      amounts[c]! > 0 ? [[row, identity, rows[r]![2 * c]!, amounts[c]!]] : [],
    ),
  )
}

/** The result of a commit that charges as much as fits. A unit without a limit always fits. */
function committed(hold: HoldOfRecord, { limits, amounts }: Facts, plan: Behind['plan']): HoldOfRecord {
  const { actual, within, excess } = plan!
  const fitted = limits.map((identity, c) => [cellOfIdentity(identity)?.unit ?? '', amounts[c]!] as const)
  const units = [...new Set([...Object.keys(actual), ...Object.keys(excess), ...Object.keys(hold.costs)])].filter(
    (unit) => unit !== SLOTS,
  )
  const of = (amount: Amounts): readonly number[] => amountsIn(units, amount)
  const added = amountsIn(units, { ...excess, ...Object.fromEntries(fitted) })
  const settled = commitAnswer({ reserved: of(hold.costs), actual: of(actual), within: of(within) }, added)
  return { ...hold, answer: answerToKeep(settled, hold, units) }
}
