import type { WindowStates } from '../decision/decide.ts'
import type { Settled } from '../store/hold-port.ts'
import type { ReservationId } from '../store/reservation-id.ts'
import { idOwnerKey, type StoreSchema, type Subject } from '../store/schema.ts'
import type { Amounts } from '../windows/units.ts'
import { GRACE_MS } from '../windows/window.ts'
import { Sweeper } from './sweeper.ts'

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
