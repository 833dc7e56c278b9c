import type { WindowStates } from '../decision/decide.ts'
import type { ReservationId } from '../store/quota-store.ts'
import { GRACE_MS } from './row-table.ts'

/** What is remembered of a server-side id. */
export interface IdRecord {
  readonly state: 'reserved' | 'committed' | 'cancelled'
  readonly nonce: string
  readonly fingerprint: string
  /** States of the reply that admitted it; empty for an id cancelled before it was reserved. */
  readonly states: WindowStates
  readonly expiresAt: number
}

/** Records by id, each kept until `ttlMs` after its last write. */
export class IdRecords {
  /** In the order of the last writes, so that the oldest come first and a sweep stops at the first live one. */
  readonly #records = new Map<string, IdRecord>()

  get size(): number {
    return this.#records.size
  }

  find(key: string, now: number): IdRecord | undefined {
    const record = this.#records.get(key)
    return record !== undefined && now < record.expiresAt ? record : undefined
  }

  write(key: string, id: ReservationId, state: IdRecord['state'], states: WindowStates, now: number): void {
    this.put(key, { state, nonce: id.nonce, fingerprint: id.fingerprint, states, expiresAt: now + id.ttlMs })
  }

  /** Puts a record as it is, behind all others. */
  put(key: string, record: IdRecord): void {
    this.#records.delete(key)
    this.#records.set(key, record)
  }

  /** Forgets the oldest records that ended, a few at the most; as rows, they outlive their end a little. */
  sweep(now: number, most: number): void {
    let left = most
    for (const [key, { expiresAt }] of this.#records) {
      if (left-- === 0 || now < expiresAt + GRACE_MS) return
      this.#records.delete(key)
    }
  }

  /** Every live record with its key. */
  *entries(now: number): Generator<readonly [key: string, record: IdRecord]> {
    for (const entry of this.#records) if (now < entry[1].expiresAt) yield entry
  }
}
