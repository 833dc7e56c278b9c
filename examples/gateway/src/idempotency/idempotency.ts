import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { Clock } from '@scoregw/quota'
import type { Request } from 'express'
import type { Transaction } from 'kysely'
import type { Chore } from '../chores.ts'
import type { Db, Tables } from '../db/schema.ts'
import { HttpError, invalid } from '../http/http-error.ts'
import type { Reply, UserCall } from '../http/route.ts'

/** Header field of a request's key. Its work is done once, however often it is sent. */
export const IDEMPOTENCY_KEY = 'Idempotency-Key'
/** Header field of a replayed reply. */
export const IDEMPOTENCY_REPLAYED = 'Idempotency-Replayed'

/** How long a stored reply is replayed, in milliseconds. */
const KEPT_MS = 86_400_000
const LONGEST_KEY = 255
/** `Retry-After` of a request that another call works on, in seconds. */
const RETRY_SECONDS = 1
const REMOVE_EVERY_MS = 600_000
/** Records per deletion. With SQLite, that takes a few milliseconds. */
const SLICE = 500

/**
 * `Idempotency-Key` for routes. A reply is stored in the transaction of its work, so a rollback or a crash leaves
 * nothing behind, and the next request with the key does the work. Transactions of one player take turns, so the second
 * of two requests with one key finds the reply of the first.
 *
 * Hand-written, because packages store the reply after the work. A crash in between would do the work twice.
 */
export class Idempotency {
  readonly #db: Db
  readonly #clock: Clock
  /** Deletes expired records. */
  readonly chore: Chore

  constructor(db: Db, clock: Clock) {
    this.#db = db
    this.#clock = clock
    this.chore = {
      what: 'removing old idempotency keys',
      everyMs: REMOVE_EVERY_MS,
      run: () => this.#removeExpired(),
    }
  }

  /**
   * A route's `recall`: the stored reply of a request that was answered in the last 24 hours.
   *
   * @throws {HttpError} `validation_failed` for a key of a wrong form, `idempotency_key_reused`
   */
  async recall<Answer>(call: UserCall<unknown>): Promise<Reply<Answer> | undefined> {
    const text = await this.#stored(this.#db, call)
    if (text === undefined) return undefined
    const { headers, ...reply } = JSON.parse(text) as Reply<Answer>
    return { ...reply, headers: { ...headers, [IDEMPOTENCY_REPLAYED]: 'true' } }
  }

  /**
   * Call it first in the transaction of the work, after the player's row is locked.
   *
   * @throws {HttpError} `conflict` if the reply was stored after `recall`; `idempotency_key_reused`
   */
  async begin(transaction: Transaction<Tables>, call: UserCall<unknown>): Promise<void> {
    if ((await this.#stored(transaction, call)) === undefined) return
    const msg = `A request with this ${IDEMPOTENCY_KEY} was in flight. Send it again for its answer.`
    throw new HttpError('conflict', msg, { retryAfterSeconds: RETRY_SECONDS })
  }

  /** Stores the reply. Call it last in the transaction of the work. */
  async keep(transaction: Transaction<Tables>, call: UserCall<unknown>, reply: Reply<unknown>): Promise<void> {
    const key = keyOf(call.req)
    if (key === undefined) return
    const expires_at = this.#clock.now() + KEPT_MS
    const row = { request_hash: hashOf(call), reply: JSON.stringify(reply), expires_at }
    await transaction
      .insertInto('idempotency_keys')
      .values({ user_id: call.user.id, key, ...row })
      .onConflict((conflict) => conflict.columns(['user_id', 'key']).doUpdateSet(row))
      .execute()
  }

  /** The stored reply to this request, as JSON. */
  async #stored(db: Db, call: UserCall<unknown>): Promise<string | undefined> {
    const key = keyOf(call.req)
    if (key === undefined) return undefined
    const stored = await db
      .selectFrom('idempotency_keys')
      .select(['request_hash', 'reply'])
      .where('user_id', '=', call.user.id)
      .where('key', '=', key)
      .where('expires_at', '>', this.#clock.now())
      .executeTakeFirst()
    if (stored === undefined || stored.request_hash === hashOf(call)) return stored?.reply
    throw new HttpError('idempotency_key_reused', `This ${IDEMPOTENCY_KEY} was sent with another request.`)
  }

  /** In slices, so that other work can run in between. */
  async #removeExpired(): Promise<void> {
    const now = this.#clock.now()
    let removed = SLICE
    while (removed === SLICE) {
      const { numDeletedRows } = await this.#db
        .deleteFrom('idempotency_keys')
        .where(({ eb, refTuple, selectFrom }) => {
          const old = selectFrom('idempotency_keys as old').where('old.expires_at', '<=', now).limit(SLICE)
          return eb(refTuple('user_id', 'key'), 'in', old.select(['old.user_id', 'old.key']).$asTuple('user_id', 'key'))
        })
        // Another process may have stored a reply under an expired key meanwhile.
        .where('expires_at', '<=', now)
        .executeTakeFirstOrThrow()
      removed = Number(numDeletedRows)
      await setImmediate()
    }
  }
}

function keyOf(req: Request): string | undefined {
  const key = req.get(IDEMPOTENCY_KEY)
  if (key === undefined || (key.length <= LONGEST_KEY && /^[\x21-\x7e]+$/.test(key))) return key
  throw invalid([{ path: IDEMPOTENCY_KEY, msg: `expected 1 to ${LONGEST_KEY} visible ASCII characters` }])
}

/** Of the parsed input: its members come in the schema's order, whatever their order in the body. */
function hashOf({ req: { method, path }, input }: UserCall<unknown>): string {
  return createHash('sha256')
    .update(JSON.stringify([method, path, input]))
    .digest('hex')
}
