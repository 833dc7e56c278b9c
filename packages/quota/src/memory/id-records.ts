import type { WindowStates } from '../decision/decide.ts'
import type { EndedHold, Settled } from '../store/hold-port.ts'
import { amountBack } from '../store/hold-rules.ts'
import type { Owner, ReservationId } from '../store/subjects.ts'
import { Heap, type Node } from '../time/heap.ts'
import { type Amounts, SLOTS } from '../windows/identity.ts'
import { GRACE_MS, NOT_OPEN, refund } from '../windows/row.ts'
import { NOWHERE, type Tables } from './row-table.ts'
import { Sweeper } from './sweeper.ts'

/** The record of a server-side id. */
export interface IdRecord {
  /** `expired`: the hold ended unsettled. */
  readonly state: 'reserved' | 'committed' | 'cancelled' | 'expired'
  readonly nonce: string
  readonly fingerprint: string
  /** States of the reply that admitted it; empty for an id that was cancelled before it was reserved. */
  readonly states: WindowStates
  /** Epoch milliseconds; for an open hold `NEVER`. */
  readonly expiresAt: number
  /** Present for a hold. */
  readonly hold?: HoldFacts | undefined
}

/** A record's details of a hold. */
export interface HoldFacts {
  /** The member of the subject that has its key: see `Owner`. */
  readonly by: string
  /** The subject's key there. */
  readonly owner: string
  /** The hold's amounts, even after its end. `slots` is 1 if it has a slot. */
  readonly costs: Amounts
  /** When it was taken, epoch milliseconds. */
  readonly takenAt: number
  readonly endsAt: number
  /** How long the record is kept after its last write, in milliseconds. */
  readonly ttlMs: number
  /** The charges by row. Empty after the hold's end. */
  readonly rows: readonly HoldRow[]
  /** The result of the commit that settled it. Absent if it charged exactly what the hold had, as usual. */
  readonly answer?: Settled<Amounts> | undefined
}

/** The part of a hold in one row. */
export interface HoldRow {
  /** The layer's name. */
  readonly layer: string
  /** The subject's key in the layer. */
  readonly key: string
  /** Pairs `[startedAt, amount]` in the order of the table's cells; `[-1, 0]`: none. The amount of slots is 1. */
  readonly charged: readonly number[]
}

/** JSON, so that different (owner, id) never have the same key, whatever characters they contain. */
export function idKey({ by, key }: Owner, { id }: { readonly id: string }): string {
  return JSON.stringify([by, key, id])
}

/** The expiry of an open hold's record, which is kept until the hold is settled. */
export const NEVER: number = Number.MAX_SAFE_INTEGER

/** How many records to check before a full table rejects a new id. */
const SWEEP_WHEN_FULL = 64

/** How many ended holds to keep until the next sweep. */
const MAX_ENDED = 1_000

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** The record of an open hold. It is changed in place, and has an index in the queue of ends. */
export interface OpenRecord extends Mutable<Omit<IdRecord, 'hold'>>, Node {
  readonly hold: Mutable<HoldFacts> & { readonly key: string }
}

/** Whether a record is of an open hold. */
function isOpen(record: IdRecord | string | undefined): record is OpenRecord {
  return typeof record === 'object' && record.state === 'reserved' && record.hold !== undefined
}

/**
 * Records by id. Each is kept until `ttlMs` after its last write, plus the time that rows are kept after their windows.
 * Open holds are also indexed by expiry and by owner.
 */
export class IdRecords {
  readonly #tables: Tables
  readonly #records = new Map<string, IdRecord>()
  readonly #sweeper = new Sweeper(this.#records, ({ expiresAt }) => expiresAt + GRACE_MS)
  #lifeMs = 0
  /** Open holds by expiry. */
  #heap = endsFirst()
  /** Open holds by the two parts of their owner. Arrays, because most owners have one or two. */
  readonly #byOwner = new Map<string, Map<string, OpenRecord[]>>()
  #ended: EndedHold[] = []

  constructor(tables: Tables) {
    this.#tables = tables
  }

  get size(): number {
    return this.#records.size
  }

  /** The number of open holds. */
  get open(): number {
    return this.#heap.size
  }

  has(key: string): boolean {
    return this.#records.has(key)
  }

  find(key: string, now: number): IdRecord | undefined {
    const record = this.#records.get(key)
    return record !== undefined && now < record.expiresAt ? record : undefined
  }

  /** Returns the open holds of an owner. */
  openOf({ by, key }: Owner): readonly OpenRecord[] {
    return this.#byOwner.get(by)?.get(key) ?? NONE
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
    if (hold !== undefined && rest.state === 'reserved') this.putOpen({ ...rest, hold: { ...hold, key }, at: -1 })
    else this.#put(key, record, hold?.ttlMs ?? 0)
  }

  /** Adds the record of a new hold. */
  putOpen(record: OpenRecord): void {
    const { hold } = record
    this.#put(hold.key, record, hold.ttlMs)
    this.#heap.put(record)
    const owners = this.#byOwner.get(hold.by) ?? new Map<string, OpenRecord[]>()
    this.#byOwner.set(hold.by, owners)
    const others = owners.get(hold.owner)
    if (others === undefined) owners.set(hold.owner, [record])
    else others.push(record)
  }

  /** Changes when an open hold expires. */
  extend(record: OpenRecord, endsAt: number): void {
    record.hold.endsAt = endsAt
    this.#heap.put(record)
  }

  /**
   * Ends an open hold, or changes the result of an ended one. Refunds its charges and frees its slots.
   *
   * @param most the most to refund of a unit; slots are refunded completely
   */
  close(
    record: OpenRecord,
    state: IdRecord['state'],
    now: number,
    most: (unit: string) => number = EVERYTHING,
    answer?: HoldFacts['answer'],
  ): void {
    const { hold } = record
    for (const row of hold.rows) this.#refundRow(row, most)
    if (isOpen(record)) this.#dequeue(record)
    record.state = state
    record.expiresAt = now + hold.ttlMs
    hold.rows = NO_ROWS
    hold.answer = answer
  }

  /** Settles all expired holds, each exactly once, before anything else is read. */
  endDue(now: number): void {
    for (let { first } = this.#heap; first !== undefined && first.hold.endsAt <= now; { first } = this.#heap) {
      const { fingerprint, hold } = first
      this.close(first, 'expired', now)
      const { owner, costs, endsAt } = hold
      if (this.#ended.length < MAX_ENDED) this.#ended.push({ owner, fingerprint, costs, endsAt })
    }
  }

  /** Returns the holds that ended since the last call. */
  drain(): readonly EndedHold[] {
    const ended = this.#ended
    this.#ended = []
    return ended
  }

  /** Removes everything. */
  clear(): void {
    this.#records.clear()
    if (this.#heap.size > 0) this.#heap = endsFirst()
    this.#byOwner.clear()
    this.#ended = []
  }

  /** Whether there is room for one more record, with at most `max`. */
  hasRoom(max: number, now: number): boolean {
    if (this.#records.size >= max) this.sweep(now, SWEEP_WHEN_FULL)
    return this.#records.size < max
  }

  /** If any record can have ended, checks a few and removes those that have. */
  step(now: number): void {
    if (this.#records.size > 0) this.#sweeper.step(now, this.#lifeMs)
  }

  /** Checks the next `most` records, and removes those that have ended. */
  sweep(now: number, most: number): void {
    this.#sweeper.sweep(now, this.#lifeMs, most)
  }

  /** Returns copies of all live records with their keys. */
  *entries(now: number): Generator<readonly [key: string, record: IdRecord]> {
    for (const [key, record] of this.#records) if (now < record.expiresAt) yield [key, copyOf(record)]
  }

  #put(key: string, record: IdRecord, ttlMs: number): void {
    this.#records.set(key, record)
    this.#lifeMs = Math.max(this.#lifeMs, ttlMs + GRACE_MS)
  }

  #refundRow({ layer, key, charged }: HoldRow, most: (unit: string) => number): void {
    const table = this.#tables.of(layer)
    const place = table.placeOf(key)
    if (place === NOWHERE) return
    const cells = table.pageOf(place)
    const at = table.at(place)
    for (const [cell, { unit }] of table.cells.entries()) {
      // A cell that is newer than the hold has no pair in it.
      const [startedAt = NOT_OPEN, taken = 0] = [charged[2 * cell], charged[2 * cell + 1]]
      if (taken > 0) refund(cells, at + 2 * cell, startedAt, amountBack(taken, unit, most), unit === SLOTS)
    }
  }

  #dequeue(record: OpenRecord): void {
    const { by, owner } = record.hold
    this.#heap.remove(record)
    const owners = this.#byOwner.get(by)!
    const ofOwner = owners.get(owner)!
    if (ofOwner.length === 1) owners.delete(owner)
    else ofOwner.splice(ofOwner.indexOf(record), 1)
  }
}

/** Returns the part of a record to store elsewhere. */
export function copyOf({ state, nonce, fingerprint, states, expiresAt, hold }: IdRecord): IdRecord {
  if (hold === undefined) return { state, nonce, fingerprint, states, expiresAt }
  const { by, owner, costs, takenAt, endsAt, ttlMs, rows, answer } = hold
  const facts = { by, owner, costs, takenAt, endsAt, ttlMs, rows, answer }
  return { state, nonce, fingerprint, states, expiresAt, hold: facts }
}

const NONE: readonly OpenRecord[] = []
const NO_ROWS: readonly HoldRow[] = []
const EVERYTHING = (): number => Number.POSITIVE_INFINITY

function endsFirst(): Heap<OpenRecord> {
  return new Heap((a, b) => a.hold.endsAt < b.hold.endsAt)
}
