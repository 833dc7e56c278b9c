import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { Clock } from '@scoregw/quota'
import type { Transaction } from 'kysely'
import type { Db, Tables } from '../db/schema.ts'
import type { Reply } from '../http/route.ts'

/** How long a stored reply is replayed, in milliseconds. */
export const REPLY_KEPT_MS = 86_400_000

/**
 * How long a claim lasts if its process crashes, in milliseconds. Work never takes as long. If it does, its claim may
 * be gone, and it is rolled back.
 */
export const CLAIM_MS = 90_000

/** Records per deletion. With SQLite, that takes a few milliseconds. */
const SLICE = 500

/** A request with an idempotency key. */
export interface KeyedRequest {
  readonly userId: string
  readonly key: string
  /** A hash of the request's content. */
  readonly hash: string
}

/**
 * The state of a request: the caller may work on it, it has a reply, another call is working on it, or its key was used
 * for another request.
 */
export type Known =
  | { readonly state: 'claimed'; readonly claimId: string }
  | { readonly state: 'answered'; readonly reply: Reply<unknown> }
  | { readonly state: 'in_flight' }
  | { readonly state: 'reused' }

/**
 * Stores which call works on a keyed request, and the replies. A claim is one statement, so only one process gets it.
 * The reply is stored in the transaction of the work.
 */
export class IdempotencyRecords {
  readonly #db: Db
  readonly #clock: Clock

  constructor(db: Db, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  /** Claims a request, unless another call works on it or it was answered in the last 24 hours. */
  async claim(request: KeyedRequest): Promise<Known> {
    const claimId = await this.#claim(request)
    if (claimId !== undefined) return { state: 'claimed', claimId }
    const { userId, key, hash } = request
    const record = await this.#db
      .selectFrom('idempotency_keys')
      .select(['request_hash', 'reply'])
      .where('user_id', '=', userId)
      .where('key', '=', key)
      .executeTakeFirst()
    // It was released between the two statements, so the caller can try again.
    if (record === undefined) return { state: 'in_flight' }
    if (record.request_hash !== hash) return { state: 'reused' }
    if (record.reply === null) return { state: 'in_flight' }
    return { state: 'answered', reply: JSON.parse(record.reply) as Reply<unknown> }
  }

  async #claim({ userId, key, hash }: KeyedRequest): Promise<string | undefined> {
    const now = this.#clock.now()
    const claim = { request_hash: hash, claim_id: randomUUID(), reply: null, expires_at: now + CLAIM_MS }
    const claimed = await this.#db
      .insertInto('idempotency_keys')
      .values({ user_id: userId, key, ...claim })
      .onConflict((conflict) =>
        conflict.columns(['user_id', 'key']).doUpdateSet(claim).where('idempotency_keys.expires_at', '<=', now),
      )
      .returning('claim_id')
      .executeTakeFirst()
    return claimed?.claim_id
  }

  /**
   * Stores the reply in the transaction of the claimed work.
   *
   * @returns `false` if the claim was lost: the transaction must be rolled back
   */
  async keep(transaction: Transaction<Tables>, claimId: string, reply: Reply<unknown>): Promise<boolean> {
    const { numUpdatedRows } = await transaction
      .updateTable('idempotency_keys')
      .set({ reply: JSON.stringify(reply), expires_at: this.#clock.now() + REPLY_KEPT_MS })
      .where('claim_id', '=', claimId)
      .where('reply', 'is', null)
      .executeTakeFirstOrThrow()
    return numUpdatedRows > 0n
  }

  /**
   * Releases a claim so that others can work on the request. Does nothing if a reply is stored, even by a commit whose
   * confirmation was lost.
   */
  async release(claimId: string): Promise<void> {
    await this.#db.deleteFrom('idempotency_keys').where('claim_id', '=', claimId).where('reply', 'is', null).execute()
  }

  /** Deletes expired records, in slices so that other work can run in between. */
  async removeExpired(): Promise<void> {
    const now = this.#clock.now()
    let removed = SLICE
    while (removed === SLICE) {
      const { numDeletedRows } = await this.#db
        .deleteFrom('idempotency_keys')
        .where('claim_id', 'in', ({ selectFrom }) =>
          selectFrom('idempotency_keys as old').select('old.claim_id').where('old.expires_at', '<=', now).limit(SLICE),
        )
        .where('expires_at', '<=', now)
        .executeTakeFirstOrThrow()
      removed = Number(numDeletedRows)
      await setImmediate()
    }
  }
}
