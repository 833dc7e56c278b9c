import type { WindowStates } from '../decision/decide.ts'
import type { EndedHold, Settled } from '../store/hold-port.ts'
import type { ReservationId } from '../store/schema.ts'
import { idOwnerKey, type StoreSchema, type Subject } from '../store/schema.ts'
import { refund } from '../windows/row.ts'
import { type Amounts, SLOTS } from '../windows/units.ts'
import { GRACE_MS } from '../windows/window.ts'
import { NOWHERE, Sweeper, type Tables } from './row-table.ts'

/** Most ended holds that are kept until the next sweep. */
const MAX_ENDED = 1_000

/** The record of a hold that is open. */
export type OpenRecord = IdRecord & { readonly hold: HoldFacts }

/** An open hold in the queue of ends. */
interface Ending {
  readonly key: string
  readonly owner: string
  endsAt: number
  /** Its place in the heap. */
  at: number
}

/** The open holds of a store: by when they end, and by whose they are. Settled ones are in neither. */
export class HoldBook {
  readonly #tables: Tables
  readonly #ids: IdRecords
  readonly #open = new Map<string, Ending>()
  /** The same by end, the earliest first: a binary heap. */
  readonly #heap: Ending[] = []
  readonly #byOwner = new Map<string, Set<string>>()
  #ended: EndedHold[] = []

  constructor(tables: Tables, ids: IdRecords) {
    this.#tables = tables
    this.#ids = ids
  }

  /** Open holds. */
  get size(): number {
    return this.#open.size
  }

  /** Keys of the open holds of an owner. */
  of(owner: string): ReadonlySet<string> {
    return this.#byOwner.get(owner) ?? NONE
  }

  /** Writes the record of a hold that is open: a new one, or one that has changed. */
  putOpen(key: string, record: OpenRecord): void {
    const { owner, endsAt } = record.hold
    this.#ids.put(key, record)
    const known = this.#open.get(key)
    if (known !== undefined) {
      known.endsAt = endsAt
      this.#settle(known)
      return
    }
    const ending: Ending = { key, owner, endsAt, at: this.#heap.length }
    this.#open.set(key, ending)
    this.#heap.push(ending)
    this.#settle(ending)
    const keys = this.#byOwner.get(owner)
    if (keys === undefined) this.#byOwner.set(owner, new Set([key]))
    else keys.add(key)
  }

  /**
   * Writes the record of a hold that was open: what it charged goes back by it, its slots are free.
   *
   * @param giveBack how much of a unit goes back at most; of slots all
   */
  close(
    key: string,
    { nonce, fingerprint, states, hold }: OpenRecord,
    state: IdRecord['state'],
    now: number,
    giveBack: (unit: string) => number = EVERYTHING,
    answer?: HoldFacts['answer'],
  ): void {
    const { category, owner, costs, takenAt, endsAt, ttlMs } = hold
    for (const row of hold.rows) this.#refundRow(category, row, giveBack)
    const settled: HoldFacts = { category, owner, costs, takenAt, endsAt, ttlMs, rows: NO_ROWS, answer }
    // Written out, member by member: copies by rest and spread have a shape of their own each, which is kept with them.
    this.#ids.put(key, { state, nonce, fingerprint, states, expiresAt: now + ttlMs, hold: settled })
    this.#forget(key)
  }

  /** Settles every hold that has ended by now: exactly once, before anything else is read. */
  endDue(now: number): void {
    for (let first = this.#heap[0]; first !== undefined && first.endsAt <= now; first = this.#heap[0]) {
      const record = this.#ids.find(first.key, now) as OpenRecord
      const { category, owner, costs, endsAt } = record.hold
      this.close(first.key, record, 'expired', now)
      if (this.#ended.length < MAX_ENDED) {
        this.#ended.push({ category, owner, fingerprint: record.fingerprint, costs, endsAt })
      }
    }
  }

  /** What ended since the last call. */
  drain(): readonly EndedHold[] {
    const ended = this.#ended
    this.#ended = []
    return ended
  }

  /** Forgets every hold, as if there had been none. */
  clear(): void {
    this.#open.clear()
    this.#heap.length = 0
    this.#byOwner.clear()
    this.#ended = []
  }

  #refundRow(category: string, { layer, key, charged }: HoldRow, giveBack: (unit: string) => number): void {
    const table = this.#tables.of(layer, category)
    const place = table.placeOf(key)
    if (place === NOWHERE) return
    const cells = table.pageOf(place)
    const at = table.at(place)
    for (let c = 0; 2 * c < charged.length; c++) {
      const taken = charged[2 * c + 1]!
      if (taken === 0) continue
      const { unit } = table.cells[c]!
      const isSlots = unit === SLOTS
      refund(cells, at + 2 * c, charged[2 * c]!, isSlots ? taken : Math.min(taken, giveBack(unit)), isSlots)
    }
  }

  #forget(key: string): void {
    const ending = this.#open.get(key)
    if (ending === undefined) return
    this.#open.delete(key)
    const last = this.#heap.pop()!
    if (last !== ending) {
      last.at = ending.at
      this.#heap[last.at] = last
      this.#settle(last)
    }
    const keys = this.#byOwner.get(ending.owner)!
    keys.delete(key)
    if (keys.size === 0) this.#byOwner.delete(ending.owner)
  }

  /** Moves an entry of the heap to where it belongs. */
  #settle(ending: Ending): void {
    const heap = this.#heap
    const swap = (a: Ending, b: Ending): void => {
      ;[a.at, b.at] = [b.at, a.at]
      heap[a.at] = a
      heap[b.at] = b
    }
    while (ending.at > 0) {
      const parent = heap[(ending.at - 1) >> 1]!
      if (parent.endsAt <= ending.endsAt) break
      swap(parent, ending)
    }
    for (;;) {
      const left = heap[2 * ending.at + 1]
      const right = heap[2 * ending.at + 2]
      const child = right !== undefined && right.endsAt < left!.endsAt ? right : left
      if (child === undefined || ending.endsAt <= child.endsAt) return
      swap(ending, child)
    }
  }
}

const NONE: ReadonlySet<string> = new Set()
const NO_ROWS: readonly HoldRow[] = []
const EVERYTHING = (): number => Number.POSITIVE_INFINITY

/** What is remembered of a server-side id. */
export interface IdRecord {
  /** `expired` is the end of a hold that nobody settled. */
  readonly state: 'reserved' | 'committed' | 'cancelled' | 'expired'
  readonly nonce: string
  readonly fingerprint: string
  /** States of the reply that admitted it; empty for an id cancelled before it was reserved. */
  readonly states: WindowStates
  /** Epoch milliseconds; of an open hold `NEVER`. */
  readonly expiresAt: number
  /** There if it is a hold's. */
  readonly hold?: HoldFacts | undefined
}

/** What a record knows of a hold. */
export interface HoldFacts {
  /** The category's name. */
  readonly category: string
  /** The subject's key in the first own layer. */
  readonly owner: string
  /** What the hold has, of `slots` 1 where it has a slot; after its end, what it had. */
  readonly costs: Amounts
  /** Epoch milliseconds. */
  readonly takenAt: number
  readonly endsAt: number
  /** How long the record is kept after its last write, in milliseconds. */
  readonly ttlMs: number
  /** What is charged where; empty after the end. */
  readonly rows: readonly HoldRow[]
  /** The answer of the commit that settled it. */
  readonly answer?: Settled<Amounts> | undefined
}

/** What a hold has in one row. */
export interface HoldRow {
  /** The layer's name. */
  readonly layer: string
  /** The subject's key in it. */
  readonly key: string
  /** Pairs `[startedAt, amount]` in the order of the table's cells, `[-1, 0]` where none; of slots 1. */
  readonly charged: readonly number[]
}

/** JSON, so that no two (category, subject, id) share a key whatever characters they hold. */
export function idKey(
  schema: StoreSchema,
  subject: Subject,
  category: number,
  { id }: { readonly id: string },
): string {
  return JSON.stringify([schema.categories[category], idOwnerKey(schema, subject), id])
}

/** When the record of an open hold is forgotten: not before it was settled. */
export const NEVER: number = Number.MAX_SAFE_INTEGER

/** Ids whose records are looked at, before a full table refuses a new one. */
const SWEEP_WHEN_FULL = 64

/** Records by id, each kept until `ttlMs` after its last write, and as long afterwards as rows outlive their windows. */
export class IdRecords {
  readonly #records = new Map<string, IdRecord>()
  readonly #sweeper = new Sweeper(this.#records, ({ expiresAt }) => expiresAt + GRACE_MS)
  #lifeMs = 0

  get size(): number {
    return this.#records.size
  }

  has(key: string): boolean {
    return this.#records.has(key)
  }

  find(key: string, now: number): IdRecord | undefined {
    const record = this.#records.get(key)
    return record !== undefined && now < record.expiresAt ? record : undefined
  }

  write(key: string, id: ReservationId, state: IdRecord['state'], states: WindowStates, now: number): void {
    this.put(key, { state, nonce: id.nonce, fingerprint: id.fingerprint, states, expiresAt: now + id.ttlMs })
    this.#lifeMs = Math.max(this.#lifeMs, id.ttlMs + GRACE_MS)
  }

  /** Puts a record as it is. */
  put(key: string, record: IdRecord): void {
    this.#records.set(key, record)
    if (record.hold !== undefined) this.#lifeMs = Math.max(this.#lifeMs, record.hold.ttlMs + GRACE_MS)
  }

  clear(): void {
    this.#records.clear()
  }

  /** Whether there is room for one more of at most `max`. */
  hasRoom(max: number, now: number): boolean {
    if (this.#records.size >= max) this.sweep(now, SWEEP_WHEN_FULL)
    return this.#records.size < max
  }

  /** Looks at a few records, where any can have ended, and forgets those that have. */
  step(now: number): void {
    if (this.#records.size > 0) this.#sweeper.step(now, this.#lifeMs)
  }

  /** Looks at the next records, `most` of them, and forgets those that ended. */
  sweep(now: number, most: number): void {
    this.#sweeper.sweep(now, this.#lifeMs, most)
  }

  /** Every live record with its key. */
  *entries(now: number): Generator<readonly [key: string, record: IdRecord]> {
    for (const entry of this.#records) if (now < entry[1].expiresAt) yield entry
  }
}
