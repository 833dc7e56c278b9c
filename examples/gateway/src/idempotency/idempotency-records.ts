import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { Clock } from '@scoregw/quota'
import type { Transaction } from 'kysely'
import type { Db, Tables } from '../db/schema.ts'
import type { Reply } from '../http/route.ts'

/** How long a stored reply is given again, in milliseconds. */
export const REPLY_KEPT_MS = 86_400_000

/**
 * How long a claim holds when the process that made it died, in milliseconds: more than any work takes. Work that does
 * take longer may find its claim gone, and then undoes itself.
 */
export const CLAIM_MS = 90_000

/** Records that are removed at once: a few milliseconds of an embedded database. */
const SLICE = 500

/** Identifies a request under a key. */
export interface KeyedRequest {
  readonly userId: string
  readonly key: string
  /** A hash of the request's content. */
  readonly hash: string
}

/**
 * The state of a request: the caller is to work on it, it was answered, another call works on it, or its key was used for
 * another one.
 */
export type Known =
  | { readonly state: 'claimed'; readonly claimId: string }
  | { readonly state: 'answered'; readonly reply: Reply<unknown> }
  | { readonly state: 'in_flight' }
  | { readonly state: 'reused' }

/**
 * Requests under keys: who works on each, and the replies to give again. A claim is one statement, so that of any number
 * of processes one gets it, and the reply is stored by the transaction of the work itself.
 */
export class IdempotencyRecords {
  readonly #db: Db
  readonly #clock: Clock

  constructor(db: Db, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  /** Claims a request that no other call works on and that was not answered in the last 24 hours. */
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
    // Released between the two statements: it was in flight a moment ago, and the caller may try again.
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
   * Stores the reply of claimed work, in the transaction of that work.
   * @returns `false` when the claim is not its own any more: the transaction must not be committed
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

  /** Lets others claim the request. Does nothing once it is answered, also by a commit whose acknowledgement was lost. */
  async release(claimId: string): Promise<void> {
    await this.#db.deleteFrom('idempotency_keys').where('claim_id', '=', claimId).where('reply', 'is', null).execute()
  }

  /** Removes what holds no more, in slices that let others have a turn between them. */
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
