import { createHash } from 'node:crypto'
import type { Request } from 'express'
import type { Transaction } from 'kysely'
import type { Chore } from '../chores.ts'
import type { Tables } from '../db/schema.ts'
import { HttpError, invalid } from '../http/http-error.ts'
import { contextOf } from '../http/request-context.ts'
import type { Reply, UserCall } from '../http/route.ts'
import type { IdempotencyRecords } from './idempotency-records.ts'

/** Header field of a request's key. Its work is done once, however often it is sent. */
export const IDEMPOTENCY_KEY = 'Idempotency-Key'
/** Header field of a replayed reply. */
export const IDEMPOTENCY_REPLAYED = 'Idempotency-Replayed'

/**
 * Stores a reply in the transaction of its work. Call it last in the transaction.
 *
 * @throws {HttpError} `conflict` if the work took so long that another request claimed it: nothing may be committed
 */
type KeepReply = (transaction: Transaction<Tables>, reply: Reply<unknown>) => Promise<void>

const LONGEST_KEY = 255
const REMOVE_EVERY_MS = 600_000
/** `Retry-After` of a request that another call works on, in seconds. */
const RETRY_SECONDS = 1

/**
 * `Idempotency-Key` for routes. Set a route's `recall` to {@link recall}. Its handler gets a function from {@link
 * keeperOf}, and calls it in the transaction of its work.
 *
 * Hand-written, because packages store the reply after the work. A crash in between would do the work twice.
 */
export class Idempotency {
  readonly #records: IdempotencyRecords
  readonly #claims = new WeakMap<Request, string>()
  /** Deletes expired records. */
  readonly chore: Chore

  constructor(records: IdempotencyRecords) {
    this.#records = records
    this.chore = {
      what: 'removing old idempotency keys',
      everyMs: REMOVE_EVERY_MS,
      run: () => records.removeExpired(),
    }
  }

  /**
   * The stored reply of a request that was answered in the last 24 hours; `undefined` for one that has no key, or is now
   * this request's to work on.
   *
   * @throws {HttpError} `validation_failed` for a key of a wrong form, `idempotency_key_reused`, `conflict` while it is
   *   in flight
   */
  async recall<Answer>({ req, user, input }: UserCall<unknown>): Promise<Reply<Answer> | undefined> {
    const key = keyOf(req)
    if (key === undefined) return undefined
    const hash = requestHash(req.method, req.path, input)
    const known = await this.#records.claim({ userId: user.id, key, hash })
    if (known.state === 'reused') {
      throw new HttpError('idempotency_key_reused', `This ${IDEMPOTENCY_KEY} was sent with another request.`)
    }
    if (known.state === 'in_flight') throw inFlight()
    if (known.state === 'answered') {
      const { headers, ...reply } = known.reply as Reply<Answer>
      return { ...reply, headers: { ...headers, [IDEMPOTENCY_REPLAYED]: 'true' } }
    }
    const { claimId } = known
    this.#claims.set(req, claimId)
    // If a claim can't be released, it expires. The caller must see the earlier error.
    contextOf(req).abandon = () => this.#records.release(claimId).catch(() => undefined)
    return undefined
  }

  /** Returns the function that stores a request's reply. For requests without a key, it does nothing. */
  keeperOf(req: Request): KeepReply {
    const claimId = this.#claims.get(req)
    return async (transaction, reply) => {
      if (claimId === undefined) return
      const isKept = await this.#records.keep(transaction, claimId, reply)
      if (!isKept) throw inFlight()
    }
  }
}

function keyOf(req: Request): string | undefined {
  const key = req.get(IDEMPOTENCY_KEY)
  if (key === undefined || (key.length <= LONGEST_KEY && /^[\x21-\x7e]+$/.test(key))) return key
  throw invalid([{ path: IDEMPOTENCY_KEY, msg: `expected 1 to ${LONGEST_KEY} visible ASCII characters` }])
}

function inFlight(): HttpError {
  const msg = `A request with this ${IDEMPOTENCY_KEY} is in flight. Send it again for its answer.`
  return new HttpError('conflict', msg, { retryAfterSeconds: RETRY_SECONDS })
}

/** Hashes a request's path and parsed body. The order of members and unread fields don't matter. */
export function requestHash(method: string, path: string, input: unknown): string {
  const text = JSON.stringify([method, path, input], (_key, value: unknown) =>
    isObject(value) ? sorted(value) : value,
  )
  return createHash('sha256').update(text).digest('hex')
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function sorted(value: object): object {
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
