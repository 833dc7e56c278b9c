import type { Decision } from '../decision/decision.ts'
import type { Quota } from '../engine/quota.ts'
import type { CommitResult } from '../engine/requests.ts'
import { QuotaError } from '../errors/quota-error.ts'
import type { QuotaLogger } from '../options/logger.ts'
import { isPromiseLike, notPromise } from '../options/promise.ts'
import { type Amount, amountText, type Cost, type Counting, combined, type OneUnit } from '../policy/units.ts'
import {
  type FieldsOption,
  LimitTexts,
  legacyFields,
  type NamedFields,
  type RateLimitFields,
  rateLimitFields,
  type StandardHeaders,
} from './headers.ts'
import type { RequestQuota, SettleMode } from './options.ts'

/** The tokens held for a request: a reservation of a synchronous or an asynchronous engine. */
export interface HeldTokens {
  /** Present for a hold. */
  readonly token?: string | undefined
  commit(actual?: Cost): CommitResult | Promise<CommitResult>
  cancel(): void | Promise<void>
  add(cost: Cost): Decision | Promise<Decision>
  extend(ttlMs?: number): number | Promise<number>
  keepAlive(): () => void
}

/** A decision of the engine, and the tokens it holds. */
export interface Taken {
  readonly decision: Decision
  readonly held: HeldTokens | undefined
}

/** The decision of a reservation, and what it holds. */
export function takenOf(reservation: { readonly decision?: Decision | undefined }): Taken {
  // Only a reservation with an id can lack a decision.
  const decision = reservation.decision as Decision
  return { decision, held: decision.allowed ? (reservation as unknown as HeldTokens) : undefined }
}

/** What can't be refunded. */
export function uncancellable(decision: Decision): Taken {
  return { decision, held: undefined }
}

/** The options of a meter that one metered request needs. */
export interface MeteringOptions {
  /** The engine that decided. */
  readonly quota: Pick<Quota, 'holdTtlMs'>
  readonly settle: SettleMode
  /** As in the meter's options. Used by `settle: 'failures'`. */
  readonly isFailure?: ((status: number) => boolean) | undefined
  /** As in the meter's options. */
  readonly ttlMs?: number | undefined
  readonly abortGraceMs: number
  readonly abortedAs: 'commit' | 'cancel'
  readonly standardHeaders: StandardHeaders | false
  readonly fields: FieldsOption
  readonly legacyHeaders?: boolean | undefined
  readonly logger: QuotaLogger
}

/** The result of a settlement; `undefined`: the tokens were refunded. */
type Settled = CommitResult | undefined

/** State of the settlement. */
type Settlement =
  | { readonly is: 'open' }
  /** `done` is for the response to await. It never rejects. Absent if no store is called. */
  | { readonly is: 'settling'; readonly done: Promise<void> | undefined }
  | { readonly is: 'settled'; readonly result: CommitResult }

/**
 * State of the response. `isRefunded`: the status sent means a refund. A hold is refunded at the end of the response.
 */
type ResponseState = { readonly isRefunded: boolean } & (
  | { readonly is: 'open' }
  /** Closed early: the handler can still settle until the timer fires. */
  | { readonly is: 'closing'; readonly timer: ReturnType<typeof setTimeout> }
  /** The response settled the request: it is too late for the handler. */
  | { readonly is: 'over' }
)

const UNSETTLED: Settlement = { is: 'open' }
const OPEN: ResponseState = { is: 'open', isRefunded: false }

/** Errors after which nothing is left to settle. */
const OVER: readonly string[] = ['quota_unavailable', 'reservation_expired', 'reservation_cancelled']

/** One request under one engine: its decision, its hold and the state of the settlement. */
export class MeteredRequest<C extends Counting = OneUnit> implements RequestQuota<C> {
  readonly kind = 'metered'
  readonly decision: Decision<C>
  readonly #held: HeldTokens | undefined
  readonly #options: MeteringOptions
  readonly #texts: LimitTexts
  /** Stops keeping the hold alive. */
  readonly #letGo: (() => void) | undefined
  #settlement: Settlement = UNSETTLED
  #response: ResponseState = OPEN
  /** The request's charge, as far as known. */
  #charged: Amount
  #hasLoggedLate = false

  /**
   * @param held absent if this meter never refunds
   * @param texts of the meter
   */
  constructor(
    options: MeteringOptions,
    decision: Decision,
    held: HeldTokens | undefined,
    texts: LimitTexts = new LimitTexts(),
  ) {
    this.decision = decision as Decision<C>
    this.#options = options
    this.#held = held
    this.#texts = texts
    this.#charged = decision.allowed ? decision.cost : nothingOf(decision.cost)
    this.#letGo = held?.token === undefined ? undefined : held.keepAlive()
  }

  get engine(): object {
    return this.#options.quota
  }

  get charged(): C['amount'] {
    return this.#charged
  }

  /** Whether the response's head or end matters to this quota. */
  get watches(): boolean {
    return this.decision.source !== 'free' && (this.#held !== undefined || this.#hasFields || this.#hasLegacyFields)
  }

  get #hasFields(): boolean {
    return this.#options.standardHeaders !== false && this.decision.allowed
  }

  get #hasLegacyFields(): boolean {
    return this.#options.legacyHeaders === true && this.decision.allowed
  }

  /** Whether this quota is settled at the end of the response. */
  get settlesAtEnd(): boolean {
    return this.#held !== undefined && (this.#isHold || this.#options.settle === 'end')
  }

  get #isSettled(): boolean {
    return this.#settlement.is !== 'open'
  }

  get #isHold(): boolean {
    return this.#letGo !== undefined
  }

  /** @param actual default: the whole reservation */
  commit(actual?: C['cost']): Promise<CommitResult<C>> {
    const committed = this.#committed(actual)
    // The error is logged already. Without this handler, a call without `await` would end the process.
    committed.catch(() => undefined)
    return committed as Promise<CommitResult<C>>
  }

  async #committed(actual: Cost | undefined): Promise<CommitResult> {
    // The status already announced a refund, so a later commit by the handler has no effect.
    if (this.#response.isRefunded && !this.#isSettled)
      return { charged: nothingOf(this.#charged), uncharged: nothingOf(this.#charged) }
    if (this.#response.is === 'over') throw this.#late()
    await this.#commit(actual)
    const settlement = this.#settlement
    return settlement.is === 'settled' ? settlement.result : this.#asCharged()
  }

  #late(): QuotaError {
    const message = `this request of "${this.decision.operation}" was settled without its handler, and its cost (${amountText(this.#charged)}) was charged: commit before the response ends, or soon after it closes early`
    const error = new QuotaError('reservation_expired', message)
    if (!this.#hasLoggedLate) this.#options.logger.error(error)
    this.#hasLoggedLate = true
    return error
  }

  async cancel(): Promise<void> {
    // A commit in flight may still fail, and then the request is still open.
    const { pending } = this
    if (pending !== undefined) await pending
    await this.#cancel()
  }

  async add(cost: C['cost']): Promise<Decision<C>> {
    const decision = await this.#growing('add').add(cost)
    if (decision.allowed && !this.#isSettled)
      this.#charged = combined(this.#charged, cost, (charged, more = 0) => charged + more)
    return decision as Decision<C>
  }

  async extend(ttlMs?: number): Promise<number> {
    return this.#growing('extend').extend(ttlMs)
  }

  /** A settlement in flight, for the response to await. Never rejects. */
  get pending(): Promise<void> | undefined {
    return this.#settlement.is === 'settling' ? this.#settlement.done : undefined
  }

  /** Whether a head with this status has to wait for a refund. */
  holdsBack(status: number, isHungUp: boolean): boolean {
    return this.pending !== undefined || (!this.#isHold && this.refunds(status, isHungUp))
  }

  /**
   * Whether a head with this status refunds the tokens. After the client hangs up they stay charged, whatever the
   * status.
   */
  refunds(status: number, isHungUp: boolean): boolean {
    return this.#isRefunded(status) && !this.#isSettled && this.#held !== undefined && !isHungUp
  }

  #isRefunded(status: number): boolean {
    return this.#options.settle === 'failures' ? !this.#isFailure(status) : isError(status)
  }

  #isFailure(status: number): boolean {
    const { isFailure = isError, logger } = this.#options
    try {
      return notPromise(isFailure(status), 'isFailure(status): expected true or false')
    } catch (error) {
      // This is called while the response's head is written, where an error would break every response.
      logger.error(error)
      return isError(status)
    }
  }

  /** Settles a request whose handler failed before it responded. */
  fail(): Promise<unknown> {
    return this.#options.settle === 'failures' ? this.commit() : this.cancel()
  }

  /**
   * Settles by the status of the head. Holds are settled only at the end of the response. Await {@link pending}
   * afterwards.
   */
  settleByStatus(status: number, isHungUp: boolean): void {
    // Also while a commit is in flight, because it may fail.
    const isRefunded = this.#isRefunded(status)
    if (isRefunded && !isHungUp) this.#response = { ...this.#response, isRefunded }
    if (this.refunds(status, isHungUp)) {
      if (!this.#isHold) this.#cancel()?.catch(() => undefined)
    } else if (!isRefunded && !this.settlesAtEnd) this.#commit(undefined)?.catch(() => undefined)
  }

  /** Settles a hold at the end of the response. If the response closed early, its handler may still commit. */
  end(): void {
    if (this.settlesAtEnd && this.#response.is !== 'closing')
      this.#close(this.#response.isRefunded ? 'cancel' : 'commit')
  }

  /** Call when the response closes early. The handler can commit the actual cost during a grace period. */
  abort(): void {
    const { is, isRefunded } = this.#response
    if (!this.settlesAtEnd || is !== 'open' || this.#isSettled) return
    const { settle, quota, abortGraceMs, ttlMs = quota.holdTtlMs ?? abortGraceMs, abortedAs } = this.#options
    const graceMs = settle === 'end' && !isRefunded ? Math.min(abortGraceMs, ttlMs) : 0
    const isGivenBack = isRefunded || (settle === 'end' && abortedAs === 'cancel')
    const timer = setTimeout(() => this.#close(isGivenBack ? 'cancel' : 'commit'), graceMs)
    // If the process exits, the hold expires by itself. In browsers and workers, timers are numbers without `unref`.
    ;(timer as { unref?: () => void }).unref?.()
    this.#response = { is: 'closing', timer, isRefunded }
  }

  /** Settles the request once its handler can no longer do so. */
  #close(as: 'commit' | 'cancel'): void {
    const settlement = this.#settlement
    if (settlement.is !== 'settling' || settlement.done === undefined) {
      void this.#carryOut(as)
      return
    }
    // The handler's commit may still fail, and then the request is still open.
    this.#settlement = { is: 'settling', done: settlement.done.then(() => this.#carryOut(as)) }
  }

  /** Settles the request if it is still open. @returns a promise to await; it never rejects */
  #carryOut(as: 'commit' | 'cancel'): Promise<void> | undefined {
    if (!this.#isSettled) this.#response = { is: 'over', isRefunded: this.#response.isRefunded }
    const settling = as === 'cancel' ? this.#cancel() : this.#commit(undefined)
    settling?.catch(() => undefined)
    return this.pending
  }

  /** Returns the `RateLimit` fields of a response with this status; `undefined`: none. */
  fields(status: number, isHungUp: boolean): RateLimitFields | undefined {
    if (!this.#hasFields || this.decision.source === 'free') return undefined
    return rateLimitFields(this.decision, this.#options.fields, this.#chargedSince(status, isHungUp), this.#texts)
  }

  /** Returns the `X-RateLimit` fields of a response with this status; `undefined`: none. */
  legacyFields(status: number, isHungUp: boolean): NamedFields | undefined {
    if (!this.#hasLegacyFields || this.decision.source === 'free') return undefined
    return legacyFields(this.decision, this.#chargedSince(status, isHungUp))
  }

  /** The charge since the decision if the response has this status; negative: a refund. */
  #chargedSince(status: number, isHungUp: boolean): Amount {
    const { cost } = this.decision
    const charged = this.refunds(status, isHungUp) ? nothingOf(cost) : this.#charged
    return combined(charged, cost, (one, other = 0) => one - other)
  }

  #commit(actual: Cost | undefined): Promise<unknown> | undefined {
    const charged = combined(this.#charged, actual ?? this.#charged, (one, other = one) => Math.min(one, other))
    return this.#settle('commit', actual, charged)
  }

  #cancel(): Promise<unknown> | undefined {
    return this.#settle('cancel', undefined, nothingOf(this.#charged))
  }

  #growing(call: 'add' | 'extend'): HeldTokens {
    if (this.#held !== undefined) return this.#held
    throw new QuotaError('hold_required', `${call}: this request has no hold; use settle: 'end'`)
  }

  /** Settles the request, once. @returns a promise to await, whose rejection is already handled; `undefined`: done */
  #settle(as: 'commit' | 'cancel', actual: Cost | undefined, charged: Amount): Promise<unknown> | undefined {
    const held = this.#held
    if (held === undefined || this.#isSettled) return this.pending
    this.#letGo?.()
    if (this.#response.is === 'closing') clearTimeout(this.#response.timer)
    const before = this.#charged
    this.#charged = charged
    this.#settlement = { is: 'settling', done: undefined }
    const answer = settle(held, as, actual)
    if (!isPromiseLike(answer)) {
      this.#settled(answer)
      return undefined
    }
    const settling = Promise.resolve(answer).then(
      (result) => this.#settled(result),
      (error: unknown) => this.#fail(error, before),
    )
    const done = settling.catch(() => undefined)
    // Without a hold, a full commit doesn't call the store, so there is nothing to wait for.
    if (this.#isHold || !isSame(charged, before)) this.#settlement = { is: 'settling', done }
    return settling
  }

  #settled(result: Settled = this.#asCharged()): void {
    this.#charged = result.charged
    this.#settlement = { is: 'settled', result }
  }

  #fail(error: unknown, charged: Amount): never {
    this.#charged = charged
    // An invalid amount settles nothing, so the response's status still can.
    const isOver = !(error instanceof QuotaError) || OVER.includes(error.code)
    this.#settlement = isOver ? { is: 'settled', result: this.#asCharged() } : UNSETTLED
    this.#options.logger.error(error)
    throw error
  }

  #asCharged(): CommitResult {
    return { charged: this.#charged, uncharged: nothingOf(this.#charged) }
  }
}

/** Makes the call. An error that it throws becomes a rejection. */
function settle(held: HeldTokens, as: 'commit' | 'cancel', actual: Cost | undefined): Settled | Promise<Settled> {
  try {
    return (as === 'commit' ? held.commit(actual) : held.cancel()) as Settled | Promise<Settled>
  } catch (error) {
    return Promise.reject(error)
  }
}

function isError(status: number): boolean {
  return status >= 400
}

/** Zero for each unit. */
function nothingOf(amount: Amount): Amount {
  return combined(amount, amount, () => 0)
}

function isSame(one: Amount, other: Amount): boolean {
  return amountText(one) === amountText(other)
}
