import { randomUUID } from 'node:crypto'
import { type Clock, type Decision, QuotaError, type RefusedDecision, type ResumedReservation } from '@scoregw/quota'
import { categoryOf, type GatewayQuota, type OperationName, type Tokens } from '../quota/policy.ts'
import type { UsageRecorder } from '../usage/usage-recorder.ts'
import { refusalIn, type UsageRecord } from '../usage/usage-records.ts'
import { SESSION_MS, type Upload } from './upload-sessions.ts'

const OPERATION = 'music.upsert' satisfies OperationName

/**
 * How long the tokens of a session wait for their charge, in milliseconds. This only matters if all processes crash
 * between storing and charging. Then the next one charges.
 */
const CHARGE_WAIT_MS = 24 * 3_600_000

/** Each price covers up to this many scores. */
const SCORES_A_PRICE = 20

/** How the session's scores are paid for: the price of each part, the tokens of all, and their hold. */
export type Cover = Pick<Upload, 'price' | 'tokens' | 'hold_token'>

/** Thrown if the tokens are gone: the hold expired, or an administrator released it. */
export class HoldGone extends Error {
  override readonly name = 'HoldGone'
}

/** The tokens of sessions: held while scores arrive, then charged once by any process. Users see both in their usage. */
export class UploadHolds {
  readonly #quota: GatewayQuota
  readonly #recorder: UsageRecorder
  readonly #clock: Clock

  constructor(quota: GatewayQuota, recorder: UsageRecorder, clock: Clock) {
    this.#quota = quota
    this.#recorder = recorder
    this.#clock = clock
  }

  /**
   * Holds the tokens for this many scores, in all windows or in none, for another session lifetime.
   *
   * @throws {HoldGone}
   */
  async cover(upload: Upload, scores: number): Promise<Cover | RefusedDecision<Tokens>> {
    const cover = await this.#cover(upload, scores)
    if ('allowed' in cover) {
      const { now: at, cost, settingsVersion: settings_version } = cover
      const outcome = { status: 429, error: 'quota_exceeded', refusal: refusalIn(cover) }
      this.#record(upload.user_id, { at, cost, charged: 0, settings_version, ...outcome })
    }
    return cover
  }

  async #cover(upload: Upload, scores: number): Promise<Cover | RefusedDecision<Tokens>> {
    const { price, tokens, hold_token, user_id } = upload
    if (price === null) return this.#reserve(user_id)
    const needed = price * Math.ceil(scores / SCORES_A_PRICE)
    // The session was admitted while the counters were unavailable: nothing is held, so nothing will be charged.
    if (hold_token === null) return { price, tokens: needed, hold_token }
    return orGone(async () => {
      const hold = await this.#quota.resume(hold_token)
      if (needed > tokens) {
        const decision = await hold.add(needed - tokens)
        if (!decision.allowed) return decision
      }
      await hold.extend(SESSION_MS)
      return { price, tokens: needed, hold_token }
    })
  }

  /**
   * Extends the hold by the session's lifetime; `forCharge`: until it is charged, even if the process crashes.
   *
   * @throws {HoldGone}
   */
  async extend({ hold_token }: Upload, forCharge: boolean): Promise<void> {
    if (hold_token === null) return
    await orGone(async () => (await this.#quota.resume(hold_token)).extend(forCharge ? CHARGE_WAIT_MS : SESSION_MS))
  }

  /**
   * Charges a stored session. Repeated calls charge it once.
   *
   * @returns the tokens
   */
  async charge({ hold_token, tokens }: Upload): Promise<number> {
    if (hold_token === null) return 0
    let hold: ResumedReservation<Tokens>
    try {
      hold = await this.#quota.resume(hold_token)
    } catch (error) {
      // Its tokens wait for a day. If the hold is unknown, a process has charged it and crashed before it recorded that.
      if (isGone(error)) return tokens
      throw error
    }
    try {
      return (await hold.commit(tokens)).charged
    } catch (error) {
      // An administrator released the tokens, or a day has passed. The scores stay stored.
      if (isGone(error)) return 0
      throw error
    }
  }

  /** Records the final charge. */
  recordCharge(userId: string, tokens: number): void {
    const at = this.#clock.now()
    const outcome = { status: 200, error: null, refusal: null }
    this.#record(userId, { at, cost: tokens, charged: tokens, settings_version: null, ...outcome })
  }

  #record(user_id: string, facts: Omit<UsageRecord, 'id' | 'user_id' | 'operation' | 'category'>): void {
    this.#recorder.record({
      ...{ id: randomUUID(), user_id, operation: OPERATION, category: categoryOf(OPERATION) },
      ...facts,
      charged: () => facts.charged,
      isOver: () => true,
    })
  }

  /** Refunds the tokens. An expired hold is refunded already. */
  async cancel({ hold_token }: Cover): Promise<void> {
    if (hold_token === null) return
    try {
      await (await this.#quota.resume(hold_token)).cancel()
    } catch (error) {
      if (!isGone(error)) throw error
    }
  }

  async #reserve(userId: string): Promise<Cover | RefusedDecision<Tokens>> {
    const reservation = await this.#quota.reserve({ subject: userId, operation: OPERATION, ttlMs: SESSION_MS })
    const decision = reservation.decision as Decision<Tokens>
    if (!decision.allowed) return decision
    const hold_token = (reservation.allowed ? reservation.token : undefined) ?? null
    // One call never has more scores than the first price covers.
    return { price: decision.cost, tokens: decision.cost, hold_token }
  }
}

async function orGone<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (isGone(error)) throw new HoldGone('the tokens of the session are gone', { cause: error })
    throw error
  }
}

function isGone(error: unknown): boolean {
  if (!(error instanceof QuotaError)) return false
  return ['reservation_expired', 'reservation_cancelled', 'invalid_token'].includes(error.code)
}
