import { cellOfIdentity, notDone, PERIOD_NUMBERS, type WindowStates } from '@scoregw/quota/store'
import { damagedRow } from '../connection/errors.ts'
import type { Keys, RecordPlace } from '../keys/keys.ts'
import type { Batch, TakeBasis } from './batch.ts'
import { chargesOf, merged, type Refund, refundsOf } from './charges.ts'
import type { ListBook } from './lists.ts'
import { readOldRecord } from './old-records.ts'
import { AGAIN, type Caller, called } from './operation.ts'
import { type Behind, type Found, type HoldOfRecord, type IdRecord, newMark, readRecord, recordText } from './record.ts'
import { encodeReadable, encodeRefunds, type PlacedRefund, placedIn, replayRefunds, rowsOf } from './refunds.ts'
import type { Replay } from './replay.ts'

/** When an index learns that a hold ends which is open no more. */
const NEVER = Number.POSITIVE_INFINITY
/** Most open records that a process remembers as it left them: it is likely to settle them itself. */
const MOST_KNOWN = 10_000

/** What is charged in the same step, in the windows that are open then. */
interface More {
  readonly mode: 'take' | 'charge' | 'fit'
  readonly take: TakeBasis
  /** One number a unit of the schema. */
  readonly costs: readonly number[]
  /** What of it the record says; nothing where it is known before. */
  readonly behind?: Pick<Behind, 'of' | 'plan'> | undefined
}

/** What is to become of a record. */
export interface Change {
  readonly after: IdRecord
  /** How long it is kept from now on, in milliseconds; that of an open hold until it is settled. */
  readonly keepMs: number
  /** It counts only at this instant of the store's clock or later, epoch milliseconds, and before that one. */
  readonly from?: number | undefined
  readonly until?: number | undefined
  /** The refund to rows. @default of a hold that ends what it has, at most `mostBack` of a unit */
  readonly refunds?: readonly Refund[] | undefined
  /** @default all */
  readonly mostBack?: ((unit: string) => number) | undefined
  readonly more?: More | undefined
  /** Rows that cannot be read get nothing back, and stop nothing. */
  readonly skipsDamaged?: boolean | undefined
}

/** A record that has a hold. */
export type HeldRecord = IdRecord & { readonly hold: HoldOfRecord }

/** What is to be done about a record. */
export interface Decided<T> {
  readonly result: T
  /** `'forget'`: the indexes of open holds are not to name it any more. Nothing: it stays as it is. */
  readonly change?: Change | 'forget' | undefined
  /** It follows the clock, not a guess of the time. */
  readonly needsNow?: boolean | undefined
}

/** Decides on a record. @param now the store's clock, epoch milliseconds */
export type Decide<T> = (record: IdRecord | undefined, now: number) => Decided<T>

/** What the server made of a change. */
interface Applied {
  readonly now: number
  /** `a`: it was applied. Else why not: see `lua/steps.lua`. */
  readonly status: string
  /** Of `k`: what the key holds. */
  readonly found?: Buffer | undefined
  /** Of {@link Change.more}: the states of the rows, and what was charged of each unit. */
  readonly states: WindowStates
  readonly added?: readonly number[] | undefined
  readonly settingsRevision: string
  /** It was sent again before an answer, and its first sending may be carried out yet. */
  readonly isRepeated: boolean
}

/** The outcome of a decision. */
export interface Changed<T> extends Applied {
  readonly result: T
  /** Whether a change was applied. */
  readonly isDone: boolean
}

/** A record as it was found: what is decided on it counts only while it is so. */
interface Basis {
  readonly mark: string
  readonly record?: IdRecord | undefined
  /** There where it is in the form of 60fd3be7: its bytes. A change takes it over. */
  readonly old?: Buffer | undefined
  /** The store's clock, epoch milliseconds, as far as known. */
  readonly now: number
  /** Whether the server said just now that it is so: at first it is what this process remembers. */
  readonly isSure: boolean
}

/**
 * Changes to records. They are decided here, and applied where the record has the mark of the one that was decided on: by what
 * this process knows of it, which is mostly so, else by what the answer shows, as often as others change it meanwhile. Rows that all subjects
 * share are charged and given back by amounts, and never make it try again.
 */
export class RecordChanges {
  readonly #keys: Keys
  readonly #book: ListBook
  readonly #caller: Caller
  /** Open ones, as this process left them. */
  readonly #known = new Map<string, IdRecord>()

  constructor(keys: Keys, book: ListBook, caller: Caller) {
    this.#keys = keys
    this.#book = book
    this.#caller = caller
  }

  /** @param isAny a record that cannot be read is decided on as if there were none */
  async change<T>(place: RecordPlace, decide: Decide<T>, isAny = false): Promise<Changed<T>> {
    const known = this.#known.get(place.key)
    const basis: Basis = { mark: known?.mark ?? '', record: known, now: known?.hold?.takenAt ?? 0, isSure: false }
    for (let next: Basis | Changed<T> = basis; ; ) {
      if ('result' in next) return next
      next = await this.#tryOn(next, place, decide, isAny)
    }
  }

  /** Decides on what is known, and applies that. @returns what became of it, or what to decide on then */
  async #tryOn<T>(basis: Basis, place: RecordPlace, decide: Decide<T>, isAny: boolean): Promise<Basis | Changed<T>> {
    const { change, result, needsNow } = decide(basis.record, basis.now)
    if (change === undefined && basis.isSure) return { ...NOTHING, now: basis.now, result, isDone: false }
    const isRead = change === undefined || (needsNow === true && !basis.isSure)
    const applied = await (isRead ? this.#expect(place, basis, false) : this.#apply(place, basis, change))
    if (applied.found === undefined) {
      if (isRead || applied.status === 'w') return { ...basis, now: applied.now, isSure: true }
      return { ...applied, result, isDone: this.#noted(place, change, applied) }
    }
    const found = await this.read(applied)
    if (found.isDamaged && !isAny) throw notDone(damagedRow(undefined))
    if (!isRead && isDoneBy(change, found)) return { ...applied, result, isDone: true }
    return basisOf(applied, found)
  }

  /** Whether a change was applied, which is remembered. */
  #noted({ key }: RecordPlace, change: Change | 'forget', { status, states }: Applied): boolean {
    if (status !== 'a' || change === 'forget') return status === 'a'
    const { after, more } = change
    if (more?.behind === undefined) this.remember(key, after)
    else if (more.behind.of === 'growth') this.remember(key, this.#grown(after, more, states))
    // What the script wrote behind any other record is not known here.
    else this.#known.delete(key)
    return true
  }

  /** A record with what its hold was charged when it grew. @param states after that */
  #grown(record: IdRecord, { take, costs }: More, states: WindowStates): IdRecord {
    const { quotas, category, subject } = take
    const keys = this.#keys
    const rows = quotas.layers.map((layer) => keys.nameOf(keys.row(layer, category, subject)))
    const hold = record.hold!
    return { ...record, hold: { ...hold, charges: merged(hold.charges, chargesOf(rows, states, costs, keys.layout)) } }
  }

  /** Notes how this process left a record. */
  remember(key: string, record: IdRecord): void {
    this.#known.delete(key)
    if (record.state !== 'reserved') return
    this.#known.set(key, record)
    if (this.#known.size > MOST_KNOWN) this.#known.delete(this.#known.keys().next().value!)
  }

  /** Reads what a key was found to hold. */
  async read({ status, found, now }: Pick<Applied, 'status' | 'found' | 'now'>): Promise<Found> {
    const bytes = found ?? NO_BYTES
    const read = (): Found => {
      if (status === 'o') return bytes.length === 0 ? { mark: '' } : readOldRecord(bytes, this.#book, now)
      return readRecord(bytes, this.#book)
    }
    let record = read()
    // A record names two lists at the most.
    for (let tries = 0; record.unknownList !== undefined && tries < 2; tries++) {
      await this.#learn(record.unknownList)
      record = read()
    }
    return record.unknownList === undefined ? record : { mark: record.mark, isDamaged: true }
  }

  /** Reads a record. */
  async find(place: RecordPlace): Promise<Found> {
    const applied = await this.#expect(place, { mark: '' }, false)
    return applied.status === 'a' ? { mark: '' } : this.read(applied)
  }

  /** Checks whether a record is so. @param isForgotten then the indexes do not name it any more */
  #expect(place: RecordPlace, basis: Pick<Basis, 'mark' | 'old'>, isForgotten: boolean): Promise<Applied> {
    return called<Applied>(this.#caller, {
      repeatable: true,
      encode: (batch) => {
        batch.steps(() => {
          encodeExpect(batch, place, basis)
          if (!isForgotten) return
          for (const key of [place.key, place.oldKey]) this.#encodeIndexes(batch, { ...place, key }, NEVER, 0)
        })
        return []
      },
      read: ({ now }, status, _, found) => ({ ...NOTHING, now, status, found }),
    })
  }

  #apply(place: RecordPlace, basis: Basis, change: Change | 'forget'): Promise<Applied> {
    if (change === 'forget') return this.#expect(place, basis, true)
    const { from, until, more, skipsDamaged } = change
    const ended = endedBy(basis.record, change)
    const refunds = change.refunds ?? (ended === undefined ? [] : refundsOf(ended, change.mostBack))
    let damaged: ReadonlySet<string> = new Set()
    let given: readonly PlacedRefund[] = []
    let charged: readonly number[] = []
    return called<Applied>(this.#caller, {
      repeatable: true,
      encode: (batch) => {
        given = placedIn(
          batch,
          refunds.filter(({ row }) => !damaged.has(row)),
        )
        let rows: readonly number[] = []
        batch.steps(() => {
          encodeExpect(batch, place, basis)
          if (from !== undefined || until !== undefined)
            batch.step('within', from ?? 0, until ?? Number.POSITIVE_INFINITY)
          rows = encodeReadable(batch, rowsOf(given))
          charged = more === undefined ? [] : batch.take(more.take, [...more.costs, 0], more.mode)
          encodeRefunds(batch, given)
          this.#encodeAfter(batch, place, basis, change)
        })
        return [...charged, ...rows]
      },
      read: (replay, status, rows, found, isRepeated) => {
        const { now, settingsRevision } = replay
        const applied = { ...NOTHING, now, status, found, settingsRevision, isRepeated }
        if (status === 'b' && skipsDamaged === true) {
          const unread = rows.filter((row) => replay.isDamaged(row))
          damaged = new Set([...damaged, ...unread.map((row) => replay.nameOf(row))])
          return AGAIN
        }
        const ofMore = more && replayed(replay, status, charged, more)
        if (status === 'a') replayRefunds(replay, given)
        return { ...applied, ...ofMore?.() }
      },
    })
  }

  /** Writes the record, and what the indexes of open holds say of it. */
  #encodeAfter(batch: Batch, place: RecordPlace, { record: before, old }: Basis, change: Change): void {
    const { after, from, keepMs, more } = change
    const { hold } = after
    const isOpen = isOpenHold(after)
    if (isOpen) {
      const slots = hold!.charges.filter(([, identity]) => cellOfIdentity(identity)?.kind === 'concurrency')
      for (const [row] of slots) batch.step('keep', batch.rowNamed(row), hold!.endsAt)
    }
    const behind = more?.behind && behindOf(batch, more.take, more.behind)
    batch.step(
      'record',
      batch.record(place.key),
      batch.text(recordText(after, behind)),
      isOpen ? -1 : keepMs,
      behind ? 1 : 0,
    )
    if (old !== undefined) batch.step('record', batch.record(place.oldKey), batch.text(''), 0, 0)
    if (!isOpen && !isOpenHold(before)) return
    if (old !== undefined) this.#encodeIndexes(batch, { ...place, key: place.oldKey }, NEVER, 0)
    const end = isOpen ? hold!.endsAt : NEVER
    this.#encodeIndexes(batch, place, end, isOpen || from !== undefined ? 0 : -1)
  }

  /** @param change of how many are open in the owner's */
  #encodeIndexes(batch: Batch, { key, ownerIndex }: RecordPlace, end: number, change: number): void {
    const name = batch.text(this.#keys.nameOf(key))
    batch.step('index', batch.index(this.#keys.holds), name, end, 0)
    batch.step('index', batch.index(ownerIndex), name, end, change)
  }

  async #learn(hash: string): Promise<void> {
    const text = await called(this.#caller, {
      repeatable: true,
      hasList: true,
      encode: (batch) => {
        batch.steps(() => batch.step('list', batch.text(hash)))
        return []
      },
      read: (_, __, ___, found) => found!.toString(),
    })
    if (text !== '') this.#book.learn(text, Number.parseInt(hash, 16))
  }
}

/** The hold that a change ends. */
export function endedBy(before: IdRecord | undefined, { after }: Change): HoldOfRecord | undefined {
  return isOpenHold(before) && !isOpenHold(after) ? before!.hold : undefined
}

/** Whether an earlier sending of a change has done it, its answer being lost. What one charged only its record says. */
function isDoneBy(change: Change | 'forget', { mark }: Found): boolean {
  return change !== 'forget' && change.more === undefined && change.after.mark === mark
}

function basisOf({ status, found, now }: Applied, { mark, record }: Found): Basis {
  return { mark, record, old: status === 'o' && found!.length > 0 ? found : undefined, now, isSure: true }
}

/** Replays what was charged in addition. @returns what shows the rows, once all else of the operation is replayed */
function replayed(
  replay: Replay,
  status: string,
  rows: readonly number[],
  more: More,
): (() => Pick<Applied, 'states' | 'added'>) | undefined {
  const { periods } = more.take
  const costs = [...more.costs, 0]
  if (status === 'r') {
    replay.reanchor(rows, { costs, periods })
    return () => ({ states: replay.view(rows, periods) ?? [] })
  }
  if (status !== 'a') return undefined
  const paid = more.mode === 'fit' ? replay.fitting(rows, { ...more.take, costs }) : costs
  replay.charge(rows, { ...more.take, costs: paid })
  const shown = more.mode === 'take' ? paid : undefined
  return () => ({ states: replay.view(rows, periods, shown) ?? [], added: paid.slice(0, -1) })
}

/** Writes the step that fails where a record is not so any more. */
export function encodeExpect(
  batch: Batch,
  { key, oldKey }: RecordPlace,
  { mark, old }: Pick<Basis, 'mark' | 'old'>,
): void {
  batch.step('expect', batch.record(key), batch.text(Buffer.from(mark, 'latin1')))
  if (mark === '') batch.step('old', batch.record(oldKey), batch.text(old ?? ''))
}

const NO_BYTES: Buffer = Buffer.alloc(0)
const NOTHING = { status: 'a', states: [], settingsRevision: '', isRepeated: false } as const

/** Whether a record is that of a hold that was not settled. */
export function isOpenHold(record: IdRecord | undefined): boolean {
  return record?.hold !== undefined && record.state === 'reserved'
}

/** What says how the facts behind a record are read. */
export function behindOf(batch: Batch, request: TakeBasis, what: Pick<Behind, 'of' | 'plan'>, isHold = true): Behind {
  const { layout } = batch
  const { quotas, category, subject, periods } = request
  const order = batch.orderOf(request)
  const width = PERIOD_NUMBERS * layout.calendars.length
  return {
    ...what,
    rows: isHold
      ? order.map((slot) => batch.keys.nameOf(batch.keys.row(quotas.layers[slot]!, category, subject)))
      : undefined,
    periods: periods && order.flatMap((slot) => periods.slice(slot * width, (slot + 1) * width)),
  }
}

/** A record as it is at an instant: a hold past its end is one that expired, which `ended` makes it. */
export function seenAt(
  stored: IdRecord | undefined,
  now: number,
): { readonly record: IdRecord | undefined; readonly ended?: Change } {
  if (!isOpenHold(stored)) return { record: stored }
  const { hold } = stored as HeldRecord
  if (now < hold.endsAt) return { record: stored }
  const expired = { ...stored!, mark: newMark(), state: 'expired', hold: { ...hold, charges: [] } } as const
  return { record: expired, ended: { after: expired, keepMs: hold.keepMs, from: hold.endsAt } }
}
