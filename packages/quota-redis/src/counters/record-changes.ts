import { PERIOD_NUMBERS } from '@scoregw/quota/internal'
import { type EndedHold, notDone, type WindowStates } from '@scoregw/quota/store'
import { damagedRow } from '../connection/errors.ts'
import type { Keys, RecordPlace } from '../keys/keys.ts'
import type { Batch, TakeBasis } from './batch.ts'
import {
  chargesOf,
  encodeRefunds,
  encodeSlots,
  merged,
  placedIn,
  type Refund,
  refundsOf,
  replayRefunds,
  rowsOf,
} from './charges.ts'
import type { Status } from './numbers.ts'
import { AGAIN, type Answered, type Caller, called } from './operation.ts'
import { type Behind, type Found, type HoldOfRecord, type IdRecord, newMark, readRecord, recordText } from './record.ts'
import type { Replay } from './replay.ts'
import type { ListBooks, PlacedRefund, Row } from './rows.ts'

/** The end that an index stores for a hold that is no longer open. */
const NEVER = Number.POSITIVE_INFINITY
/** The most open records that a process keeps as it left them. It is likely to settle them itself. */
const MOST_CACHED = 10_000
/** How many expired holds are kept until they are read. */
const MAX_EXPIRED = 1_000

/** A charge made in the same step, in the windows that are then open. */
interface More {
  readonly mode: 'take' | 'charge' | 'fit'
  readonly take: TakeBasis
  /** One number per unit of the schema. */
  readonly costs: readonly number[]
  /** How the record stores the charge. Not needed if the charge is known in advance. */
  readonly behind?: Pick<Behind, 'of' | 'plan'> | undefined
}

/** A change to a record. */
interface Change {
  readonly after: IdRecord
  /** How long the record is kept from now on, in milliseconds. An open hold's is kept until it is settled. */
  readonly keepMs: number
  /** The change applies only if the store's clock is at least `from` and less than `until`, in epoch milliseconds. */
  readonly from?: number | undefined
  readonly until?: number | undefined
  /** The refund to rows. @default if a hold ends, its charges, at most `mostBack` per unit */
  readonly refunds?: readonly Refund[] | undefined
  /** @default everything */
  readonly mostBack?: ((unit: string) => number) | undefined
  readonly more?: More | undefined
  /** The hold that expired unsettled before. */
  readonly expired?: EndedHold | undefined
  /** Whether to skip rows that cannot be read, instead of failing. */
  readonly skipsDamaged?: boolean | undefined
}

/** A record that has a hold. */
export type HeldRecord = IdRecord & { readonly hold: HoldOfRecord }

/** A decision on a record. */
export interface Decided<T> {
  readonly result: T
  /** `'forget'` removes it from the indexes of open holds. Without a change the record stays as it is. */
  readonly change?: Change | 'forget' | undefined
  /** Whether the decision needs the server's clock rather than an estimate. */
  readonly needsNow?: boolean | undefined
}

/** Decides on a record. @param now the store's clock, epoch milliseconds */
export type Decide<T> = (record: IdRecord | undefined, now: number) => Decided<T>

/** How a record is changed. */
interface Trial<T> {
  readonly decide: Decide<T>
  /** Whether a record that cannot be read counts as missing. */
  readonly isAny: boolean
}

/** The server's reply to a change. */
interface Applied {
  readonly now: number
  /** `done` if it was applied; else the reason why not. */
  readonly status: Status
  /** The key's value, for status `other_record`. */
  readonly found?: Buffer | undefined
  /** For {@link Change.more}: the states of the rows, and the amount charged per unit. */
  readonly states: WindowStates
  readonly added?: readonly number[] | undefined
  readonly settingsRevision: string
}

/** The outcome of a decision. */
export interface Changed<T> extends Applied {
  readonly result: T
  /** Whether a change was applied. */
  readonly isDone: boolean
}

/** Where a record is, and what it was. */
interface Kept {
  readonly place: RecordPlace
  readonly before: IdRecord | undefined
}

/** The record that a decision is based on. The decision applies only if the record is still the same. */
interface Basis {
  readonly mark: string
  readonly record?: IdRecord | undefined
  /** The store's clock in epoch milliseconds, as far as known. */
  readonly now: number
  /** Whether the server has just confirmed it. At first it is this process's memory. */
  readonly isSure: boolean
}

/**
 * Changes to records: decided here, and applied only if the record still has the expected mark. The first attempt uses
 * the record as this process remembers it, which is usually current. If another process has changed it, the next
 * attempt uses the record in the reply. Charges and refunds to shared rows are amounts, so they never cause another
 * attempt.
 */
export class RecordChanges {
  readonly keys: Keys
  readonly #books: ListBooks
  readonly #caller: Caller
  /** Expired holds that a change ended, until they are read. */
  #expired: EndedHold[] = []
  /** Open records, as this process left them. */
  readonly #cache = new Map<string, IdRecord>()

  constructor(keys: Keys, books: ListBooks, caller: Caller) {
    this.keys = keys
    this.#books = books
    this.#caller = caller
  }

  /** @param isAny whether a record that cannot be read counts as missing */
  async change<T>(place: RecordPlace, decide: Decide<T>, isAny = false): Promise<Changed<T>> {
    const known = this.#cache.get(place.key)
    const basis: Basis = { mark: known?.mark ?? '', record: known, now: known?.hold?.takenAt ?? 0, isSure: false }
    for (let next: Basis | Changed<T> = basis; ; ) {
      if ('result' in next) return next
      next = await this.#tryOn(next, place, { decide, isAny })
    }
  }

  /** Decides on a record and applies the change. @returns the outcome, or the basis of the next attempt */
  async #tryOn<T>(basis: Basis, place: RecordPlace, { decide, isAny }: Trial<T>): Promise<Basis | Changed<T>> {
    const { change, result, needsNow } = decide(basis.record, basis.now)
    if (change === undefined && basis.isSure) return { ...NOTHING, now: basis.now, result, isDone: false }
    const isRead = change === undefined || (needsNow === true && !basis.isSure)
    const applied = await (isRead ? this.#expect(place, basis, false) : this.#apply(place, basis, change))
    if (applied.found === undefined) {
      if (isRead || applied.status === 'outside') return { ...basis, now: applied.now, isSure: true }
      return { result, isDone: this.#noted(place, change, applied), ...applied }
    }
    const found = await this.read(applied)
    if (found.fault !== undefined && !isAny) throw notDone(found.fault)
    if (!isRead && isDoneBy(change, found)) {
      this.#noteExpired(change)
      // How much an additional charge came to stands only in the record.
      if (change.more === undefined) return { result, isDone: true, ...applied }
    }
    return basisOf(applied, found)
  }

  /** Whether a change was applied. If so, it is remembered. */
  #noted({ key }: RecordPlace, change: Change | 'forget', { status, states }: Applied): boolean {
    if (status !== 'done' || change === 'forget') return status === 'done'
    this.#noteExpired(change)
    const { after, more } = change
    if (more?.behind === undefined) this.remember(key, after)
    else if (more.behind.of === 'growth') this.remember(key, this.#grown(after, more, states))
    // For all other records, the facts that the script appended are unknown.
    else this.#cache.delete(key)
    return true
  }

  #noteExpired({ expired }: Change): void {
    if (expired !== undefined && this.#expired.length < MAX_EXPIRED) this.#expired.push(expired)
  }

  /** The holds that changes of this process found expired and ended since the last call. */
  drainExpired(): readonly EndedHold[] {
    const expired = this.#expired
    this.#expired = []
    return expired
  }

  /** A record that includes the charges of a growth. @param states after the growth */
  #grown(record: IdRecord, { take, costs }: More, states: WindowStates): IdRecord {
    const { hold } = record
    if (hold === undefined) return record
    return { ...record, hold: { ...hold, charges: merged(hold.charges, chargesOf(take, states, costs, this.keys)) } }
  }

  /** Remembers a record as this process left it. */
  remember(key: string, record: IdRecord): void {
    this.#cache.delete(key)
    if (record.state !== 'reserved') return
    this.#cache.set(key, record)
    const [oldest = key] = this.#cache.size > MOST_CACHED ? this.#cache.keys() : []
    if (oldest !== key) this.#cache.delete(oldest)
  }

  /** Reads the value that a key had. */
  async read({ found }: Pick<Applied, 'found'>): Promise<Found> {
    const bytes = found ?? NO_BYTES
    let record = readRecord(bytes, this.#books)
    // One list of limits after the other, until all are known or one isn't stored.
    for (let last: string | undefined; record.unknownList !== undefined && record.unknownList !== last; ) {
      last = record.unknownList
      await this.#learn(last)
      record = readRecord(bytes, this.#books)
    }
    return record.unknownList === undefined ? record : { mark: record.mark, fault: damagedRow(undefined) }
  }

  /** Reads a record. */
  async find(place: RecordPlace): Promise<Found & Pick<Applied, 'now'>> {
    const applied = await this.#expect(place, { mark: '' }, false)
    const found = applied.status === 'done' ? { mark: '' } : await this.read(applied)
    return { ...found, now: applied.now }
  }

  /** Checks that a record is unchanged. @param isForgotten if it is not, the indexes drop it */
  #expect(place: RecordPlace, basis: Pick<Basis, 'mark'>, isForgotten: boolean): Promise<Applied> {
    return called<Applied>(this.#caller, {
      repeatable: true,
      encode: (batch) => {
        batch.steps(() => {
          batch.expect(place.key, basis.mark)
          if (isForgotten) this.#encodeIndexes(batch, place, { end: NEVER, change: 0 })
        })
        return []
      },
      read: ({ now }, { status, found }) => ({ ...NOTHING, now, status, found }),
    })
  }

  #apply(place: RecordPlace, basis: Basis, change: Change | 'forget'): Promise<Applied> {
    if (change === 'forget') return this.#expect(place, basis, true)
    const { from, until, more, skipsDamaged } = change
    const ended = endedBy(basis.record, change)
    const refunds = change.refunds ?? (ended === undefined ? [] : refundsOf(ended, change.mostBack))
    let damaged: ReadonlySet<string> = new Set()
    let given: readonly PlacedRefund[] = []
    let charged: readonly Row[] = []
    return called<Applied>(this.#caller, {
      repeatable: true,
      encode: (batch) => {
        given = placedIn(
          batch,
          refunds.filter(({ row }) => !damaged.has(row)),
        )
        const rows = rowsOf(given)
        batch.steps(() => {
          batch.expect(place.key, basis.mark)
          if (from !== undefined || until !== undefined)
            batch.step('within', from ?? 0, until ?? Number.POSITIVE_INFINITY)
          batch.readable(rows)
          charged = more === undefined ? [] : batch.take(more.take, [...more.costs, 0], more.mode)
          encodeRefunds(batch, given)
          this.#encodeAfter(batch, { place, before: basis.record }, change)
        })
        return [...charged, ...rows]
      },
      alone: (calls, callUntil) => {
        const { after, keepMs } = change
        // A record that is kept for no time is forgotten, which the plain script can't do.
        if (more !== undefined || from !== undefined || isOpenHold(after) || keepMs < 1) return undefined
        given = []
        const { mark, record: before } = basis
        const settled = { place, mark, text: recordText(after), keepMs, refunds, isOpenHold: isOpenHold(before) }
        return calls.settle({ ...settled, until: until ?? Number.POSITIVE_INFINITY }, callUntil)
      },
      read: (replay, { status, rows, found }) => {
        const { now, settingsRevision } = replay
        const applied = { ...NOTHING, now, status, found, settingsRevision }
        if (status === 'unreadable' && skipsDamaged === true) {
          const unread = rows.filter((row) => replay.isDamaged(row))
          damaged = new Set([...damaged, ...unread.map(({ key }) => this.keys.nameOf(key))])
          return AGAIN
        }
        const ofMore = more && replayed(replay, { status, rows: charged }, more)
        if (status === 'done') replayRefunds(replay, given)
        return { ...applied, ...ofMore?.() }
      },
    })
  }

  /** Writes the record, and its entries in the indexes of open holds. */
  #encodeAfter(batch: Batch, { place, before }: Kept, { after, from, keepMs, more }: Change): void {
    const open = isOpenHold(after) ? after.hold : undefined
    if (open !== undefined) encodeSlots(batch, open)
    const behind = more?.behind && behindOf(this.keys, more.take, more.behind)
    batch.step(
      'record',
      batch.record(place.key),
      batch.text(recordText(after, behind)),
      open === undefined ? keepMs : -1,
      behind ? 1 : 0,
    )
    if (open === undefined && !isOpenHold(before)) return
    const change = open !== undefined || from !== undefined ? 0 : -1
    this.#encodeIndexes(batch, place, { end: open?.endsAt ?? NEVER, change })
  }

  /** @param change in the owner's number of open holds */
  #encodeIndexes(
    batch: Batch,
    { key, ownerIndex }: RecordPlace,
    { end, change }: { readonly end: number; readonly change: number },
  ): void {
    const name = batch.text(this.keys.nameOf(key))
    batch.step('index', batch.index(this.keys.holds), name, end, 0)
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
      read: (_, { found }) => (found ?? NO_BYTES).toString(),
    })
    if (text !== '') this.#books.learn(text, Number.parseInt(hash, 16))
  }
}

/** The hold that a change ends. */
function endedBy(before: IdRecord | undefined, { after }: Change): HoldOfRecord | undefined {
  return isOpenHold(before) && !isOpenHold(after) ? before.hold : undefined
}

/** Whether an earlier attempt, whose reply was lost, already applied a change. */
function isDoneBy(change: Change | 'forget', { mark }: Found): change is Change {
  return change !== 'forget' && change.after.mark === mark
}

function basisOf({ now }: Applied, { mark, record }: Found): Basis {
  return { mark, record, now, isSure: true }
}

/**
 * Replays the additional charge. @returns a function that shows the rows, once the rest of the operation is replayed
 */
function replayed(
  replay: Replay,
  { status, rows }: Pick<Answered, 'status' | 'rows'>,
  more: More,
): (() => Pick<Applied, 'states' | 'added'>) | undefined {
  const costs = [...more.costs, 0]
  const take = { ...more.take, costs }
  if (status === 'refused') {
    replay.reanchor(rows, take)
    return () => ({ states: replay.view(rows, take) ?? [] })
  }
  if (status !== 'done') return undefined
  const paid = more.mode === 'fit' ? replay.fitting(rows, take) : costs
  replay.charge(rows, { ...take, costs: paid })
  const exact = more.mode === 'take' ? paid : undefined
  return () => ({ states: replay.view(rows, take, exact) ?? [], added: paid.slice(0, -1) })
}

const NO_BYTES: Buffer = Buffer.alloc(0)
const NOTHING = { status: 'done', states: [], settingsRevision: '' } as const

/** Whether a record belongs to an unsettled hold. */
export function isOpenHold(record: IdRecord | undefined): record is HeldRecord {
  return record?.hold !== undefined && record.state === 'reserved'
}

/** Describes how to read the facts behind a record. */
export function behindOf(keys: Keys, request: TakeBasis, { of, plan }: Pick<Behind, 'of' | 'plan'>): Behind {
  const { subject, periods } = request
  const layers = keys.layersOf(request)
  const periodsOf = (layer: number): number[] => {
    const { calendars, first } = keys.layout.rowAt(layer)
    return calendars.flatMap((cell) => {
      const at = keys.layout.periodsAt(first + cell)
      return periods?.slice(at, at + PERIOD_NUMBERS) ?? []
    })
  }
  const rows = layers.map((layer) => keys.nameOf(keys.row(layer, subject)))
  return { of, plan, rows, periods: periods && layers.flatMap(periodsOf) }
}

/** A record as seen at an instant. `ended` turns a hold past its end into an expired one. */
export function seenAt(
  stored: IdRecord | undefined,
  now: number,
): { readonly record: IdRecord | undefined; readonly ended?: Change } {
  if (!isOpenHold(stored)) return { record: stored }
  const { fingerprint, hold } = stored
  const { owner, costs, endsAt, keepMs } = hold
  if (now < endsAt) return { record: stored }
  const record = { ...stored, mark: newMark(), state: 'expired', hold: { ...hold, charges: [] } } as const
  const expired = { owner, fingerprint, costs, endsAt }
  return { record, ended: { after: record, keepMs, from: endsAt, expired } }
}
