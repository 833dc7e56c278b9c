import { randomBytes } from 'node:crypto'
import {
  type Amounts,
  amountsIn,
  answerToKeep,
  cellOfIdentity,
  commitAnswer,
  type HoldFactsOf,
  type IdFacts,
  Instant,
  type Layout,
  NOT_OPEN,
  type Settled,
  SLOTS,
  view,
  type WindowStates,
} from '@scoregw/quota/store'
import { byRow, type Charge, type ChargesByRow, fromRows, merged } from './charges.ts'
import { headOf, type ListBook } from './lists.ts'
import { CELL_BYTES, HEAD_BYTES, readCell, sevenBytes, sixBytes } from './row-bytes.ts'

/** What a record knows of a hold. */
export interface HoldOfRecord extends HoldFactsOf {
  /** The category's name. */
  readonly category: string
  /** The subject's key in the first own layer. */
  readonly owner: string
  /** Epoch milliseconds. */
  readonly takenAt: number
  /** How long the record is kept once it is settled, in milliseconds. */
  readonly keepMs: number
  /** What goes back at its end; empty after it. */
  readonly charges: readonly Charge[]
  /** Marks of its last growths, so that one whose answer was lost is not made again. */
  readonly growths: readonly string[]
  /** There where it has something in rows of another slot. Who ends the hold gives that back. */
  readonly shared?: SharedPart | undefined
}

/** What a hold has in rows of another slot. */
export interface SharedPart {
  /** Of the take whose charge this is, also once it was given back. */
  readonly mark: string
  /** None: what that take is charged there is yet to be said, or was given back. */
  readonly rows: readonly SharedRows[]
}

/** What was charged in some rows; where a hold has several of these, its policy changed in between. */
export interface SharedRows {
  /** Which rows, as text. */
  readonly of: string
  /** Of each window in turn: when it was opened, epoch milliseconds, and what was charged to it. */
  readonly cells: readonly number[]
}

/** The record of an id. */
export interface IdRecord extends IdFacts {
  /** Another one at every write: what was decided on a record counts only while it has this mark. */
  readonly mark: string
  /** Which rows the states are of, in order: five characters each, see `Keys.table`. */
  readonly tables: string
  /** Which limits the cells of the states are of: identities, in order. */
  readonly limits: readonly string[]
  readonly hold?: HoldOfRecord | undefined
}

/** Bytes of a mark. */
const MARK_BYTES = 8
/** Where the part begins that scripts do not read. */
const TEXT_AT = 14
const NEW_LINE = 10
/** Growths that a record remembers. */
const MOST_GROWTHS = 16

/** Identifies a write among all others. */
export function newMark(): string {
  return randomBytes(6).toString('base64url')
}

/** The marks of growths with one more. */
export function withGrowth(growths: readonly string[], mark: string): readonly string[] {
  return [...growths, mark].slice(-MOST_GROWTHS)
}

/**
 * What the script writes behind a record: the facts of the take in the same operation, which nobody knows before it is carried
 * out. See `facts` in `lua/steps.lua`.
 */
export interface Behind {
  /** What the facts say: what a take charged, what a hold grew by, or what a commit charged beyond its hold. */
  readonly of: 'take' | 'growth' | 'commit'
  /** Of a hold: its rows in the order of the facts, by what their keys have behind the prefix. */
  readonly rows?: readonly string[] | undefined
  /** Periods of the rows' calendar windows, in the order of the facts. */
  readonly periods?: readonly number[] | undefined
  /** Of a commit: its plan, by unit. */
  readonly plan?: { readonly actual: Amounts; readonly within: Amounts; readonly excess: Amounts } | undefined
}

/**
 * A record as it is stored, without the time that the script puts behind the mark: a line of JSON, and behind it the facts.
 * Of a hold that begins, `takenAt` is 0 and `endsAt` how long it lasts.
 */
export function recordText(record: IdRecord, behind?: Behind): string {
  const { mark, state, nonce, fingerprint, tables, limits, states, hold } = record
  const ofHold = hold && [
    ...[hold.category, hold.owner, hold.costs, hold.takenAt, hold.endsAt, hold.keepMs],
    ...[byRow(hold.charges), hold.growths.join(''), hold.answer ?? 0],
    ...(hold.shared === undefined ? [] : [hold.shared]),
  ]
  const ofFacts = behind && [behind.of, behind.rows ?? 0, behind.periods ?? 0, behind.plan ?? 0]
  const ofStates = states.length > 0 ? [headOf(limits.join('\n')), states] : 0
  return `${mark}${JSON.stringify([STATE_CODES[state], nonce, fingerprint, tables, ofStates, ofHold ?? 0, ofFacts ?? 0])}\n`
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
        category: string,
        owner: string,
        costs: Amounts,
        takenAt: number,
        endsAt: number,
        keepMs: number,
        charges: ChargesByRow,
        growths: string,
        answer: 0 | Settled<Amounts>,
        shared?: SharedPart,
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

/** What a key was found to hold. */
export interface Found {
  /** What {@link IdRecord.mark} is of a record; empty: there is none. */
  readonly mark: string
  readonly record?: IdRecord | undefined
  /** There is something that cannot be read. */
  readonly isDamaged?: true
  /** It is in a list of limits that is not known here: eight digits. */
  readonly unknownList?: string
}

/** Reads what the script answered of a record. */
export function readRecord(bytes: Buffer, book: ListBook): Found {
  const mark = bytes.toString('latin1', 0, MARK_BYTES)
  if (bytes.length === 0) return { mark }
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
    if (lists.some((list) => list!.length === 0)) return { mark, isDamaged: true }
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
    return { mark, isDamaged: true }
  }
}

/** A list's hash as its field in the hash of lists: eight digits. */
function hashText(head: number): string {
  return Math.floor(head / 256)
    .toString(16)
    .padStart(8, '0')
}

/** A record with what the script wrote behind it. */
function withFacts(
  record: IdRecord,
  [of, rows, periods, plan]: Exclude<RecordJson[6], 0>,
  facts: Facts,
  layout: Layout,
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

function holdOf([category, owner, costs, takenAt, endsAt, keepMs, charges, growths, answer, shared]: Exclude<
  RecordJson[5],
  0
>): HoldOfRecord {
  return {
    ...{ category, owner, costs, takenAt, endsAt, keepMs, charges: fromRows(charges) },
    growths: growths.match(/.{8}/g) ?? [],
    answer: answer === 0 ? undefined : answer,
    shared,
  }
}

/** The states that a record keeps, of rows by their tables and of a layout's limits: what it does not have is not open. */
export function statesFor(record: IdRecord, tables: readonly string[], { identities }: Layout): WindowStates {
  return tables.flatMap((table) =>
    identities.flatMap((identity) => {
      const at = placeIn(record, table, identity)
      return at === undefined ? [NOT_OPEN, 0] : [record.states[at]!, record.states[at + 1]!]
    }),
  )
}

/** When a cell of a record was opened; `NOT_OPEN`: it was not, or the record does not have it. */
export function startIn(record: IdRecord, table: string, identity: string): number {
  const at = placeIn(record, table, identity)
  return at === undefined ? NOT_OPEN : record.states[at]!
}

/** Where the states of a record have a cell. */
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
  /** What each cell was charged. */
  readonly amounts: readonly number[]
  /** The rows after that: pairs `[startedAt, used]`. */
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
 * The states that a take was answered with: what was charged at the very start that it went to, the rest as seen then. Of
 * another policy's list, only what was charged is shown.
 */
function statesOf(
  { now, amounts, rows }: Facts,
  layout: Layout | undefined,
  periods: readonly number[] | undefined,
): WindowStates {
  const instant = layout && new Instant(layout)
  const isKnown = instant?.moveTo(now, periods, rows.length) === true
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

/** What a commit came to that charged as much as fits: a unit without a limit fits whole. */
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
