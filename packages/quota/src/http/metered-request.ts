import type { Decision } from '../decision/decision.ts'
import type { CommitResult } from '../engine/requests.ts'
import { QuotaError } from '../errors/quota-error.ts'
import { type FieldsOption, type RateLimitFields, rateLimitFields, type StandardHeaders } from './headers.ts'
import type { RequestQuota, SettleMode } from './options.ts'
import type { QuotaLogger } from './warnings.ts'

/** Tokens held for a request, as an engine of either kind hands them out. */
export interface Held {
  /** There for a hold. */
  readonly token?: string | undefined
  commit(actual?: number): CommitResult | Promise<CommitResult>
  cancel(): void | Promise<void>
  add(tokens: number): Decision | Promise<Decision>
  extend(ttlMs?: number): number | Promise<number>
  keepAlive(): () => void
}

/** What of a meter's options its requests need to the end. */
export interface MeteringOptions {
  /** The engine that decides; one request is one decision of an engine. */
  readonly quota: object
  readonly settle: SettleMode
  readonly standardHeaders: StandardHeaders | false
  readonly fields: FieldsOption
  readonly logger: QuotaLogger
}

/** What a settlement came to; nothing: the tokens are back. */
type Settled = CommitResult | undefined

/** Errors after which a hold is over: there is nothing left to settle. */
const OVER: readonly string[] = ['quota_unavailable', 'reservation_expired', 'reservation_cancelled']

/** One request under one engine: what was decided, what is held, and whether that is settled. */
export class MeteredRequest implements RequestQuota {
  readonly kind = 'metered'
  readonly decision: Decision
  /** The quota of the same request that was asked before this one. */
  before: MeteredRequest | undefined
  readonly #held: Held | undefined
  readonly #options: MeteringOptions
  /** Ends what keeps a hold alive. */
  readonly #letGo: (() => void) | undefined
  #settled = false
  /** Whether the head has told that the tokens go back: of a hold they do so at the end. */
  #failed = false
  /** Tokens that this request is charged, as far as is known. */
  #charged: number
  #result: CommitResult | Promise<CommitResult> | undefined
  /** A settlement under way. */
  #pending: Promise<void> | undefined

  /** @param held absent where nothing is ever given back */
  constructor(options: MeteringOptions, decision: Decision, held: Held | undefined) {
    this.decision = decision
    this.#options = options
    this.#held = held
    this.#charged = decision.allowed ? decision.cost : 0
    this.#letGo = held?.token === undefined ? undefined : held.keepAlive()
  }

  get engine(): object {
    return this.#options.quota
  }

  get charged(): number {
    return this.#charged
  }

  /** Whether the response has anything to do with this quota. */
  get watches(): boolean {
    return this.decision.source !== 'free' && (this.#held !== undefined || this.#tellsFields)
  }

  get #tellsFields(): boolean {
    return this.#options.standardHeaders !== false && this.decision.allowed
  }

  /** Whether the end of the response settles it. */
  get settlesAtEnd(): boolean {
    return this.#held !== undefined && (this.#isHold || this.#options.settle === 'end')
  }

  get #isHold(): boolean {
    return this.#letGo !== undefined
  }

  /** @param actual default: everything that is reserved */
  async commit(actual?: number): Promise<CommitResult> {
    // The head has told of a failure: what its handler says later changes nothing.
    if (this.#failed && !this.#settled) return { charged: 0, uncharged: 0 }
    await this.#commit(actual)
    return this.#result ?? { charged: this.#charged, uncharged: 0 }
  }

  async cancel(): Promise<void> {
    // A commit under way may yet turn out to be impossible, and to have settled nothing.
    if (this.#pending !== undefined) await this.#pending
    await this.#cancel()
  }

  async add(tokens: number): Promise<Decision> {
    const decision = await this.#growing('add').add(tokens)
    if (decision.allowed && !this.#settled) this.#charged += tokens
    return decision
  }

  async extend(ttlMs?: number): Promise<number> {
    return this.#growing('extend').extend(ttlMs)
  }

  /** A settlement under way, which what is sent has to wait for; never rejects. */
  get pending(): Promise<void> | undefined {
    return this.#pending
  }

  /** Whether a head with this status has to wait until the tokens are back. */
  holdsBack(status: number, isHungUp: boolean): boolean {
    return this.#pending !== undefined || (!this.#isHold && this.gives(status, isHungUp))
  }

  /** Whether a head with this status gives the tokens back. Nobody hears it after a hang-up: hanging up is not failing. */
  gives(status: number, isHungUp: boolean): boolean {
    return status >= 400 && !this.#settled && this.#held !== undefined && !isHungUp
  }

  /** Settles by the status of the head, a hold only when the response ends; {@link pending} tells what to wait for. */
  judge(status: number, isHungUp: boolean): void {
    // Also while a commit is under way, which may turn out to be impossible.
    if (status >= 400 && !isHungUp) this.#failed = true
    if (this.gives(status, isHungUp)) {
      if (!this.#isHold) this.#cancel()?.catch(() => undefined)
    } else if (status < 400 && !this.settlesAtEnd) this.#commit(undefined)?.catch(() => undefined)
  }

  /** Settles what the end of the response settles. */
  end(): void {
    if (!this.settlesAtEnd) return
    const pending = this.#pending
    // What its handler asked for may yet turn out to be impossible, and to have settled nothing.
    if (pending !== undefined) this.#pending = pending.then(() => this.#carryOut())
    else void this.#carryOut()
  }

  /** Settles what is not settled. @returns what to wait for; it never rejects */
  #carryOut(): Promise<void> | undefined {
    const settling = this.#failed ? this.#cancel() : this.#commit(undefined)
    settling?.catch(() => undefined)
    return this.#pending
  }

  /** The `RateLimit` fields of a response with this status; `undefined` where it has none. */
  fields(status: number, isHungUp: boolean): RateLimitFields | undefined {
    if (!this.#tellsFields || this.decision.source === 'free') return undefined
    const charged = this.gives(status, isHungUp) ? 0 : this.#charged
    return rateLimitFields(this.decision, this.#options.fields, charged - this.decision.cost)
  }

  #commit(actual: number | undefined): Promise<unknown> | undefined {
    const held = this.#open()
    if (held === undefined) return this.#pending
    return this.#settling(held, 'commit', actual, Math.min(actual ?? this.#charged, this.#charged))
  }

  #cancel(): Promise<unknown> | undefined {
    const held = this.#open()
    if (held === undefined) return this.#pending
    return this.#settling(held, 'cancel', undefined, 0)
  }

  /** What is there to settle. */
  #open(): Held | undefined {
    return this.#settled ? undefined : this.#held
  }

  #growing(call: 'add' | 'extend'): Held {
    if (this.#held !== undefined) return this.#held
    throw new QuotaError('hold_required', `${call}: this request has no hold; use settle: 'end'`)
  }

  /** Settles, and answers with nothing where that is done already; a rejection may go unheard. */
  #settling(
    held: Held,
    as: 'commit' | 'cancel',
    actual: number | undefined,
    charged: number,
  ): Promise<unknown> | undefined {
    const before = this.#charged
    this.#settled = true
    this.#letGo?.()
    this.#charged = charged
    const answer = settle(held, as, actual)
    if (!(answer instanceof Promise)) {
      this.#heard(answer)
      return undefined
    }
    const settling = answer.then(
      (result) => {
        this.#pending = undefined
        this.#heard(result)
      },
      (error: unknown) => this.#fail(error, before),
    )
    // A full commit of what is no hold asks no store: nothing to wait for.
    if (this.#isHold || charged !== before) this.#pending = settling.catch(() => undefined)
    settling.catch(() => undefined)
    return settling
  }

  #heard(result: Settled): void {
    this.#result = result ?? { charged: this.#charged, uncharged: 0 }
    this.#charged = this.#result.charged
  }

  #fail(error: unknown, charged: number): never {
    this.#pending = undefined
    this.#charged = charged
    // A wrong amount settled nothing: the outcome still may.
    if (error instanceof QuotaError && !OVER.includes(error.code)) this.#settled = false
    this.#options.logger.error(error)
    throw error
  }
}

/** Makes the call, which may throw, answer later, or at once; the handles of engines answer by promises of this realm. */
function settle(held: Held, as: 'commit' | 'cancel', actual: number | undefined): Settled | Promise<Settled> {
  try {
    return (as === 'commit' ? held.commit(actual) : held.cancel()) as Settled | Promise<Settled>
  } catch (error) {
    return Promise.reject(error)
  }
}
