import type { WindowStates } from '../decision/decide.ts'
import type { EndedHold, Settled } from '../store/hold-port.ts'
import { amountBack } from '../store/hold-rules.ts'
import { idOwnerKey, type ReservationId, type StoreSchema, type Subject } from '../store/schema.ts'
import { GRACE_MS, refund } from '../windows/row.ts'
import { type Amounts, SLOTS } from '../windows/units.ts'
import { NOWHERE, Sweeper, type Tables } from './row-table.ts'

/** The record of a server-side id. */
export interface IdRecord {
  /** `expired` is the end of a hold that was never settled. */
  readonly state: 'reserved' | 'committed' | 'cancelled' | 'expired'
  readonly nonce: string
  readonly fingerprint: string
  /** States of the reply that admitted it; empty for an id that was cancelled before it was reserved. */
  readonly states: WindowStates
  /** Epoch milliseconds; for an open hold `NEVER`. */
  readonly expiresAt: number
  /** Present if it is a hold's. */
  readonly hold?: HoldFacts | undefined
}

/** A record's details of a hold. */
export interface HoldFacts {
  /** The category's name. */
  readonly category: string
  /** The subject's key in the first own layer. */
  readonly owner: string
  /** What the hold has; `slots` is 1 if it has a slot. After its end: what it had. */
  readonly costs: Amounts
  /** When it was taken, epoch milliseconds. */
  readonly takenAt: number
  readonly endsAt: number
  /** How long the record is kept after its last write, in milliseconds. */
  readonly ttlMs: number
  /** The charges by row; empty after its end. */
  readonly rows: readonly HoldRow[]
  /** The answer of the commit that settled it. Absent if it charged exactly what the hold had, as most do. */
  readonly answer?: Settled<Amounts> | undefined
}

/** What a hold has in one row. */
export interface HoldRow {
  /** The layer's name. */
  readonly layer: string
  /** The subject's key in the layer. */
  readonly key: string
  /** Pairs `[startedAt, amount]` in the order of the table's cells, `[-1, 0]` for none; 1 for slots. */
  readonly charged: readonly number[]
}

/** JSON, so that different (category, subject, id) never share a key, whatever characters they contain. */
export function idKey(
  schema: StoreSchema,
  subject: Subject,
  category: number,
  { id }: { readonly id: string },
): string {
  return JSON.stringify([schema.categories[category], idOwnerKey(schema, subject), id])
}

/** The expiry of an open hold's record: not before it is settled. */
export const NEVER: number = Number.MAX_SAFE_INTEGER

/** How many records are checked before a full table rejects a new id. */
const SWEEP_WHEN_FULL = 64

/** How many ended holds are kept until the next sweep. */
const MAX_ENDED = 1_000

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** The record of an open hold. It is changed in place, and has its place in the queue of ends. */
export interface OpenRecord extends Mutable<Omit<IdRecord, 'hold'>> {
  readonly hold: Mutable<HoldFacts> & { readonly key: string; at: number }
}

/** Whether a record is that of an open hold. */
function isOpen(record: IdRecord | string | undefined): record is OpenRecord {
  return typeof record === 'object' && record.state === 'reserved' && record.hold !== undefined
}

/**
 * Records by id. Each is kept until `ttlMs` after its last write, and as much longer as rows outlive their windows.
 * Those of open holds are also found by their end and by their owner.
 */
export class IdRecords {
  readonly #tables: Tables
  readonly #records = new Map<string, IdRecord>()
  readonly #sweeper = new Sweeper(this.#records, ({ expiresAt }) => expiresAt + GRACE_MS)
  #lifeMs = 0
  /** Open holds by end, earliest first: a binary heap. */
  readonly #heap: OpenRecord[] = []
  /** The same by owner. Lists, as most owners have one or two. */
  readonly #byOwner = new Map<string, OpenRecord[]>()
  #ended: EndedHold[] = []

  constructor(tables: Tables) {
    this.#tables = tables
  }

  get size(): number {
    return this.#records.size
  }

  /** Open holds. */
  get open(): number {
    return this.#heap.length
  }

  has(key: string): boolean {
    return this.#records.has(key)
  }

  find(key: string, now: number): IdRecord | undefined {
    const record = this.#records.get(key)
    return record !== undefined && now < record.expiresAt ? record : undefined
  }

  /** The open holds of an owner. */
  openOf(owner: string): readonly OpenRecord[] {
    return this.#byOwner.get(owner) ?? NONE
  }

  write(key: string, id: ReservationId, state: IdRecord['state'], states: WindowStates, now: number): void {
    const expiresAt = now + id.ttlMs
    this.#put(key, { state, nonce: id.nonce, fingerprint: id.fingerprint, states, expiresAt }, id.ttlMs)
  }

  /** Adds a record that was stored elsewhere. */
  adopt(key: string, record: IdRecord): void {
    const before = this.#records.get(key)
    if (isOpen(before)) this.#dequeue(before)
    const { hold, ...rest } = record
    if (hold !== undefined && rest.state === 'reserved') this.putOpen({ ...rest, hold: { ...hold, key, at: 0 } })
    else this.#put(key, record, hold?.ttlMs ?? 0)
  }

  /** Adds the record of a new hold. */
  putOpen(record: OpenRecord): void {
    const { hold } = record
    this.#put(hold.key, record, hold.ttlMs)
    hold.at = this.#heap.length
    this.#heap.push(record)
    this.#moveUpOrDown(record)
    const others = this.#byOwner.get(hold.owner)
    if (others === undefined) this.#byOwner.set(hold.owner, [record])
    else others.push(record)
  }

  /** Moves the end of an open hold. */
  extend(record: OpenRecord, endsAt: number): void {
    record.hold.endsAt = endsAt
    this.#moveUpOrDown(record)
  }

  /**
   * Ends an open hold, or changes the result of an ended one: its charges are refunded, its slots are free.
   *
   * @param most the most to refund of a unit; slots are refunded whole
   */
  close(
    record: OpenRecord,
    state: IdRecord['state'],
    now: number,
    most: (unit: string) => number = EVERYTHING,
    answer?: HoldFacts['answer'],
  ): void {
    const { hold } = record
    for (const row of hold.rows) this.#refundRow(hold.category, row, most)
    if (isOpen(record)) this.#dequeue(record)
    record.state = state
    record.expiresAt = now + hold.ttlMs
    hold.rows = NO_ROWS
    hold.answer = answer
  }

  /** Settles every hold that has expired by now: exactly once, before anything else is read. */
  endDue(now: number): void {
    for (let first = this.#heap[0]; first !== undefined && first.hold.endsAt <= now; first = this.#heap[0]) {
      const { fingerprint, hold } = first
      this.close(first, 'expired', now)
      const { category, owner, costs, endsAt } = hold
      if (this.#ended.length < MAX_ENDED) this.#ended.push({ category, owner, fingerprint, costs, endsAt })
    }
  }

  /** Holds that ended since the last call. */
  drain(): readonly EndedHold[] {
    const ended = this.#ended
    this.#ended = []
    return ended
  }

  /** Removes everything. */
  clear(): void {
    this.#records.clear()
    this.#heap.length = 0
    this.#byOwner.clear()
    this.#ended = []
  }

  /** Whether there is room for one more of at most `max`. */
  hasRoom(max: number, now: number): boolean {
    if (this.#records.size >= max) this.sweep(now, SWEEP_WHEN_FULL)
    return this.#records.size < max
  }

  /** Checks a few records, if any can have ended, and removes those that have. */
  step(now: number): void {
    if (this.#records.size > 0) this.#sweeper.step(now, this.#lifeMs)
  }

  /** Checks the next `most` records, and removes those that ended. */
  sweep(now: number, most: number): void {
    this.#sweeper.sweep(now, this.#lifeMs, most)
  }

  /** A copy of every live record with its key. */
  *entries(now: number): Generator<readonly [key: string, record: IdRecord]> {
    for (const [key, record] of this.#records) if (now < record.expiresAt) yield [key, copyOf(record)]
  }

  #put(key: string, record: IdRecord, ttlMs: number): void {
    this.#records.set(key, record)
    this.#lifeMs = Math.max(this.#lifeMs, ttlMs + GRACE_MS)
  }

  #refundRow(category: string, { layer, key, charged }: HoldRow, most: (unit: string) => number): void {
    const table = this.#tables.of(layer, category)
    const place = table.placeOf(key)
    if (place === NOWHERE) return
    const cells = table.pageOf(place)
    const at = table.at(place)
    for (let c = 0; 2 * c < charged.length; c++) {
      const taken = charged[2 * c + 1]!
      if (taken === 0) continue
      const { unit } = table.cells[c]!
      refund(cells, at + 2 * c, charged[2 * c]!, amountBack(taken, unit, most), unit === SLOTS)
    }
  }

  #dequeue(record: OpenRecord): void {
    const { at, owner } = record.hold
    const last = this.#heap.pop()!
    if (last !== record) {
      last.hold.at = at
      this.#heap[at] = last
      this.#moveUpOrDown(last)
    }
    const ofOwner = this.#byOwner.get(owner)!
    if (ofOwner.length === 1) this.#byOwner.delete(owner)
    else ofOwner.splice(ofOwner.indexOf(record), 1)
  }

  /** Moves an entry of the heap to its place. */
  #moveUpOrDown(record: OpenRecord): void {
    const heap = this.#heap
    const { hold } = record
    const swap = (other: OpenRecord): void => {
      ;[hold.at, other.hold.at] = [other.hold.at, hold.at]
      heap[hold.at] = record
      heap[other.hold.at] = other
    }
    while (hold.at > 0) {
      const parent = heap[(hold.at - 1) >> 1]!
      if (parent.hold.endsAt <= hold.endsAt) break
      swap(parent)
    }
    for (;;) {
      const left = heap[2 * hold.at + 1]
      const right = heap[2 * hold.at + 2]
      const child = right !== undefined && right.hold.endsAt < left!.hold.endsAt ? right : left
      if (child === undefined || hold.endsAt <= child.hold.endsAt) return
      swap(child)
    }
  }
}

/** The part of a record that is stored elsewhere. */
export function copyOf({ state, nonce, fingerprint, states, expiresAt, hold }: IdRecord): IdRecord {
  if (hold === undefined) return { state, nonce, fingerprint, states, expiresAt }
  const { category, owner, costs, takenAt, endsAt, ttlMs, rows, answer } = hold
  const facts = { category, owner, costs, takenAt, endsAt, ttlMs, rows, answer }
  return { state, nonce, fingerprint, states, expiresAt, hold: facts }
}

const NONE: readonly OpenRecord[] = []
const NO_ROWS: readonly HoldRow[] = []
const EVERYTHING = (): number => Number.POSITIVE_INFINITY
