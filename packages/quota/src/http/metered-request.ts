import type { Decision } from '../decision/decision.ts'
import type { Quota } from '../engine/quota.ts'
import type { CommitResult } from '../engine/requests.ts'
import { QuotaError } from '../errors/quota-error.ts'
import type { QuotaLogger } from '../options/logger.ts'
import { type Amount, amountText, type Cost, type Counting, combined } from '../policy/units.ts'
import {
  type FieldsOption,
  LimitTexts,
  legacyFields,
  type NamedFields,
  type RateLimitFields,
  rateLimitFields,
  type StandardHeaders,
} from './headers.ts'
import type { RequestQuota, SettleMode, UnitsOfHandlers } from './options.ts'

/** Tokens held for a request, as an engine of either kind hands them out. */
export interface HeldTokens {
  /** There for a hold. */
  readonly token?: string | undefined
  commit(actual?: Cost): CommitResult | Promise<CommitResult>
  cancel(): void | Promise<void>
  add(cost: Cost): Decision | Promise<Decision>
  extend(ttlMs?: number): number | Promise<number>
  keepAlive(): () => void
}

/** What of a meter's options its requests need to the end. */
export interface MeteringOptions {
  /** The engine that decides; one request is one decision of an engine. */
  readonly quota: Pick<Quota, 'holdTtlMs'>
  readonly settle: SettleMode
  /** As of a meter's options; of `settle: 'failures'`. */
  readonly isFailure?: ((status: number) => boolean) | undefined
  /** As of a meter's options. */
  readonly ttlMs?: number | undefined
  readonly abortGraceMs: number
  readonly abortedAs: 'commit' | 'cancel'
  readonly standardHeaders: StandardHeaders | false
  readonly fields: FieldsOption
  readonly legacyHeaders?: boolean | undefined
  readonly logger: QuotaLogger
}

/** What a settlement came to; nothing: the tokens are back. */
type Settled = CommitResult | undefined

/** Where the settlement stands. */
type Settlement =
  | { readonly is: 'open' }
  /** `done`: for the response to wait for, never rejects; absent where the store is not called. */
  | { readonly is: 'settling'; readonly done: Promise<void> | undefined }
  | { readonly is: 'settled'; readonly result: CommitResult }

/** Where the response stands. `isRefunded`: its head has announced that the tokens go back, those of a hold at its end. */
type ResponseState = { readonly isRefunded: boolean } & (
  | { readonly is: 'open' }
  /** It closed early: its handler may settle until the timer fires. */
  | { readonly is: 'closing'; readonly timer: ReturnType<typeof setTimeout> }
  /** It has settled the request: its handler comes too late. */
  | { readonly is: 'over' }
)

const UNSETTLED: Settlement = { is: 'open' }
const OPEN: ResponseState = { is: 'open', isRefunded: false }

/** Errors after which a hold is over: there is nothing left to settle. */
const OVER: readonly string[] = ['quota_unavailable', 'reservation_expired', 'reservation_cancelled']

/** One request under one engine: its decision, its hold, and whether the hold is settled. */
export class MeteredRequest<C extends Counting = UnitsOfHandlers> implements RequestQuota<C> {
  readonly kind = 'metered'
  readonly decision: Decision<C>
  /** The quota of the same request that was charged before this one. */
  before: MeteredRequest<C> | undefined
  readonly #held: HeldTokens | undefined
  readonly #options: MeteringOptions
  readonly #texts: LimitTexts
  /** Stops keeping the hold alive. */
  readonly #letGo: (() => void) | undefined
  #settlement: Settlement = UNSETTLED
  #response: ResponseState = OPEN
  /** What this request is charged, as far as is known. */
  #charged: Amount
  #hasLoggedLate = false

  /**
   * @param held absent where nothing is ever given back
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

  /** Whether the response has anything to do with this quota. */
  get watches(): boolean {
    return this.decision.source !== 'free' && (this.#held !== undefined || this.#hasFields || this.#hasLegacyFields)
  }

  get #hasFields(): boolean {
    return this.#options.standardHeaders !== false && this.decision.allowed
  }

  get #hasLegacyFields(): boolean {
    return this.#options.legacyHeaders === true && this.decision.allowed
  }

  /** Whether the end of the response settles it. */
  get settlesAtEnd(): boolean {
    return this.#held !== undefined && (this.#isHold || this.#options.settle === 'end')
  }

  get #isSettled(): boolean {
    return this.#settlement.is !== 'open'
  }

  get #isHold(): boolean {
    return this.#letGo !== undefined
  }

  /** @param actual default: everything that is reserved */
  commit(actual?: C['cost']): Promise<CommitResult<C>> {
    const committed = this.#committed(actual)
    // Logged already: a call that nobody awaits must not end the process.
    committed.catch(() => undefined)
    return committed as Promise<CommitResult<C>>
  }

  async #committed(actual: Cost | undefined): Promise<CommitResult> {
    // The head has announced a failure: a later commit by the handler changes nothing.
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
    // A commit in flight may still fail, and then has settled nothing.
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

  /** A settlement in flight, which the response has to wait for; never rejects. */
  get pending(): Promise<void> | undefined {
    return this.#settlement.is === 'settling' ? this.#settlement.done : undefined
  }

  /** Whether a head with this status has to wait until the tokens are back. */
  holdsBack(status: number, isHungUp: boolean): boolean {
    return this.pending !== undefined || (!this.#isHold && this.refunds(status, isHungUp))
  }

  /** Whether a head with this status gives the tokens back. After a hang-up they stay charged, regardless of the status. */
  refunds(status: number, isHungUp: boolean): boolean {
    return this.#isRefunded(status) && !this.#isSettled && this.#held !== undefined && !isHungUp
  }

  #isRefunded(status: number): boolean {
    const { settle, isFailure = isError } = this.#options
    return settle === 'failures' ? !isFailure(status) : isError(status)
  }

  /** Settles a request whose handler has failed before it answered. */
  fail(): Promise<unknown> {
    return this.#options.settle === 'failures' ? this.commit() : this.cancel()
  }

  /** Settles by the status of the head, a hold only when the response ends; {@link pending} is then to be awaited. */
  settleByStatus(status: number, isHungUp: boolean): void {
    // Also while a commit is in flight, which may fail.
    const isRefunded = this.#isRefunded(status)
    if (isRefunded && !isHungUp) this.#response = { ...this.#response, isRefunded }
    if (this.refunds(status, isHungUp)) {
      if (!this.#isHold) this.#cancel()?.catch(() => undefined)
    } else if (!isRefunded && !this.settlesAtEnd) this.#commit(undefined)?.catch(() => undefined)
  }

  /** Settles a hold at the end of the response, unless it closed early: its handler may still commit. */
  end(): void {
    if (this.settlesAtEnd && this.#response.is !== 'closing')
      this.#close(this.#response.isRefunded ? 'cancel' : 'commit')
  }

  /** The response closed early: its handler may still commit the actual cost during the grace. */
  abort(): void {
    const { is, isRefunded } = this.#response
    if (!this.settlesAtEnd || is !== 'open' || this.#isSettled) return
    const { settle, quota, abortGraceMs, ttlMs = quota.holdTtlMs ?? abortGraceMs, abortedAs } = this.#options
    const graceMs = settle === 'end' && !isRefunded ? Math.min(abortGraceMs, ttlMs) : 0
    const isGivenBack = isRefunded || (settle === 'end' && abortedAs === 'cancel')
    const timer = setTimeout(() => this.#close(isGivenBack ? 'cancel' : 'commit'), graceMs)
    // A process that ends leaves the hold to its own end. Where timers are numbers, they keep no process alive.
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
    // The handler's commit may still fail, and then has settled nothing.
    this.#settlement = { is: 'settling', done: settlement.done.then(() => this.#carryOut(as)) }
  }

  /** Settles the request unless it is settled. @returns what to wait for; it never rejects */
  #carryOut(as: 'commit' | 'cancel'): Promise<void> | undefined {
    if (!this.#isSettled) this.#response = { is: 'over', isRefunded: this.#response.isRefunded }
    const settling = as === 'cancel' ? this.#cancel() : this.#commit(undefined)
    settling?.catch(() => undefined)
    return this.pending
  }

  /** The `RateLimit` fields of a response with this status; `undefined` where it has none. */
  fields(status: number, isHungUp: boolean): RateLimitFields | undefined {
    if (!this.#hasFields || this.decision.source === 'free') return undefined
    return rateLimitFields(this.decision, this.#options.fields, this.#chargedSince(status, isHungUp), this.#texts)
  }

  /** The `X-RateLimit` fields of a response with this status; `undefined` where it has none. */
  legacyFields(status: number, isHungUp: boolean): NamedFields | undefined {
    if (!this.#hasLegacyFields || this.decision.source === 'free') return undefined
    return legacyFields(this.decision, this.#chargedSince(status, isHungUp))
  }

  /** The charge since the decision if the response has this status; negative: that goes back. */
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

  /** Settles unless that has begun. @returns what to wait for; a rejection may go unheard */
  #settle(as: 'commit' | 'cancel', actual: Cost | undefined, charged: Amount): Promise<unknown> | undefined {
    const held = this.#held
    if (held === undefined || this.#isSettled) return this.pending
    this.#letGo?.()
    if (this.#response.is === 'closing') clearTimeout(this.#response.timer)
    const before = this.#charged
    this.#charged = charged
    this.#settlement = { is: 'settling', done: undefined }
    const answer = settle(held, as, actual)
    if (!(answer instanceof Promise)) {
      this.#settled(answer)
      return undefined
    }
    const settling = answer.then(
      (result) => this.#settled(result),
      (error: unknown) => this.#fail(error, before),
    )
    const done = settling.catch(() => undefined)
    // Without a hold, a full commit needs no call to the store: nothing to wait for.
    if (this.#isHold || !isSame(charged, before)) this.#settlement = { is: 'settling', done }
    return settling
  }

  #settled(result: Settled = this.#asCharged()): void {
    this.#charged = result.charged
    this.#settlement = { is: 'settled', result }
  }

  #fail(error: unknown, charged: Amount): never {
    this.#charged = charged
    // A wrong amount settled nothing: the outcome still may.
    const isOver = !(error instanceof QuotaError) || OVER.includes(error.code)
    this.#settlement = isOver ? { is: 'settled', result: this.#asCharged() } : UNSETTLED
    this.#options.logger.error(error)
    throw error
  }

  #asCharged(): CommitResult {
    return { charged: this.#charged, uncharged: nothingOf(this.#charged) }
  }
}

/** Makes the call, which may throw, answer later, or at once; the handles of engines answer by promises of this realm. */
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

/** 0 of each unit. */
function nothingOf(amount: Amount): Amount {
  return combined(amount, amount, () => 0)
}

function isSame(one: Amount, other: Amount): boolean {
  return amountText(one) === amountText(other)
}
