import {
  type Decision,
  type Quota,
  QuotaError,
  type RefusedDecision,
  type ResumedReservation,
  type Subject,
} from '@scoregw/quota'
import { subjectsOf } from '../../quota/layer-members.ts'
import type { OperationName } from '../../quota/policy.ts'
import { SESSION_MS, tokensOf, type Upload } from './upload.ts'

const OPERATION = 'music.upsert' satisfies OperationName

/**
 * How long the tokens of a session wait for their charge once it is being stored, in milliseconds. It is only used up where
 * every process dies between storing and charging: then the next one charges.
 */
const CHARGE_WAIT_MS = 24 * 3_600_000

/** What a session's scores are held by. */
export type Cover = Pick<Upload, 'price' | 'tokens' | 'holdToken'>

/** The tokens are gone: their time was over, or an administrator let them go. */
export class HoldGone extends Error {
  override readonly name = 'HoldGone'
}

/** The tokens of sessions: held while scores come, charged once, by any process. */
export class UploadHolds {
  readonly #quota: Quota<OperationName>
  readonly #subjectOf: (userId: string) => Subject

  constructor(quota: Quota<OperationName>) {
    this.#quota = quota
    this.#subjectOf = subjectsOf(quota.policy)
  }

  get category(): string {
    return this.#quota.policy.operations[OPERATION].category
  }

  /**
   * Holds what so many scores need, in every window or in none, for as long as the session lasts from now on.
   * @throws {HoldGone}
   */
  async cover(upload: Upload, scores: number): Promise<Cover | RefusedDecision> {
    const { price, tokens, holdToken, userId } = upload
    if (price === null) return this.#reserve(userId)
    const needed = tokensOf(price, scores)
    // Admitted while the counters were away: nothing is held, and nothing will be charged.
    if (holdToken === null) return { price, tokens: needed, holdToken }
    return orGone(async () => {
      const hold = await this.#quota.resume(holdToken)
      if (needed > tokens) {
        const decision = await hold.add(needed - tokens)
        if (!decision.allowed) return decision
      }
      await hold.extend(SESSION_MS)
      return { price, tokens: needed, holdToken }
    })
  }

  /**
   * Keeps the tokens for as long as the session lasts from now on; `forCharge`: until they are charged, even if the process dies.
   * @throws {HoldGone}
   */
  async extend({ holdToken }: Upload, forCharge = false): Promise<void> {
    if (holdToken === null) return
    await orGone(async () => (await this.#quota.resume(holdToken)).extend(forCharge ? CHARGE_WAIT_MS : SESSION_MS))
  }

  /**
   * Charges a stored session, once, however often it is called.
   *
   * @returns the tokens
   */
  async charge({ holdToken, tokens }: Upload): Promise<number> {
    if (holdToken === null) return 0
    let hold: ResumedReservation
    try {
      hold = await this.#quota.resume(holdToken)
    } catch (error) {
      // Its tokens wait for a day: a hold that is not known any more was charged, by a process that died before it said so.
      if (isGone(error)) return tokens
      throw error
    }
    try {
      return (await hold.commit(tokens)).charged
    } catch (error) {
      // An administrator let the tokens go, or the day is over: the scores are stored all the same.
      if (isGone(error)) return 0
      throw error
    }
  }

  /** Gives the tokens back. A hold that has ended has given them back already. */
  async cancel({ holdToken }: Upload): Promise<void> {
    if (holdToken === null) return
    try {
      await (await this.#quota.resume(holdToken)).cancel()
    } catch (error) {
      if (!isGone(error)) throw error
    }
  }

  async #reserve(userId: string): Promise<Cover | RefusedDecision> {
    const subject = this.#subjectOf(userId)
    const reservation = await this.#quota.reserve({ subject, operation: OPERATION, ttlMs: SESSION_MS })
    const decision = reservation.decision as Decision
    if (!decision.allowed) return decision
    const holdToken = (reservation.allowed ? reservation.token : undefined) ?? null
    // A list of one call never has more scores than have one price.
    return { price: decision.cost, tokens: decision.cost, holdToken }
  }
}

async function orGone<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (isGone(error)) throw new HoldGone('the tokens of the session are gone', { cause: error })
    throw error
  }
}

function isGone(error: unknown): boolean {
  if (!(error instanceof QuotaError)) return false
  return ['reservation_expired', 'reservation_cancelled', 'invalid_token'].includes(error.code)
}
