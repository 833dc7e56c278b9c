import type { Decision } from '../decision/decision.ts'
import { QuotaError } from '../errors/quota-error.ts'
import { rateLimitHeaders } from './headers.ts'
import type { RequestQuota, SettleMode } from './options.ts'
import type { QuotaLogger } from './warnings.ts'

/** Tokens held for a request, as an engine of either kind hands them out. */
export interface Held {
  commit(actual?: number): void | Promise<void>
  cancel(): void | Promise<void>
}

/** What a metered request is made of. */
export interface MeteredParts {
  /** The engine that decided; one request is one decision of an engine. */
  readonly engine: object
  readonly decision: Decision
  /** Absent where nothing is ever given back. */
  readonly held: Held | undefined
  readonly settle: SettleMode
  readonly standardHeaders: boolean
  readonly logger: QuotaLogger
}

const DONE: Promise<void> = Promise.resolve()

/** One request under one engine: what was decided, what is held, and whether that is settled. */
export class MeteredRequest implements RequestQuota {
  readonly kind = 'metered'
  readonly decision: Decision
  readonly engine: object
  readonly #held: Held | undefined
  readonly #atEnd: boolean
  readonly #standardHeaders: boolean
  readonly #logger: QuotaLogger
  #settled = false
  #givenBack = 0
  /** A settlement under way. */
  #pending: Promise<void> | undefined

  constructor(parts: MeteredParts) {
    this.decision = parts.decision
    this.engine = parts.engine
    this.#held = parts.held
    this.#atEnd = parts.settle === 'end'
    this.#standardHeaders = parts.standardHeaders && parts.decision.allowed
    this.#logger = parts.logger
  }

  /** Whether the response has anything to do with this quota. */
  get watches(): boolean {
    return this.decision.source !== 'free' && (this.#held !== undefined || this.#standardHeaders)
  }

  /** Whether the end of the response settles it. */
  get settlesAtEnd(): boolean {
    return this.#atEnd && this.#held !== undefined
  }

  commit(actual: number = this.decision.cost): Promise<void> {
    return this.#commit(actual) ?? DONE
  }

  cancel(): Promise<void> {
    return this.#cancel() ?? DONE
  }

  /** A settlement under way, which what is sent has to wait for; never rejects. */
  get pending(): Promise<void> | undefined {
    return this.#pending
  }

  /** Whether a head with this status gives the tokens back. Nobody hears it after a hang-up: hanging up is not failing. */
  gives(status: number, isHungUp: boolean): boolean {
    return status >= 400 && !this.#settled && this.#held !== undefined && !isHungUp
  }

  /** Settles by the status of the head; afterwards {@link pending} tells what to wait for. */
  judge(status: number, isHungUp: boolean): void {
    if (this.gives(status, isHungUp)) this.#cancel()?.catch(() => undefined)
    else if (status < 400 && !this.#atEnd) this.#commit(this.decision.cost)?.catch(() => undefined)
  }

  /** Settles what the end of the response settles. */
  end(): void {
    if (this.#atEnd) this.#commit(this.decision.cost)?.catch(() => undefined)
  }

  /** The draft's fields of a response with this status; `undefined` where it has none. */
  fields(status: number, isHungUp: boolean): Readonly<Record<string, string>> | undefined {
    if (!this.#standardHeaders || this.decision.source === 'free') return undefined
    return rateLimitHeaders(this.#decisionAfter(this.gives(status, isHungUp)))
  }

  #commit(actual: number): Promise<void> | undefined {
    const held = this.#open()
    if (held === undefined) return this.#pending
    return this.#settling(() => held.commit(actual), this.decision.cost - actual)
  }

  #cancel(): Promise<void> | undefined {
    const held = this.#open()
    if (held === undefined) return this.#pending
    return this.#settling(() => held.cancel(), this.decision.cost)
  }

  /** What is there to settle. */
  #open(): Held | undefined {
    return this.#settled ? undefined : this.#held
  }

  /** Settles, and answers with nothing where that is done already; a rejection may go unheard. */
  #settling(call: () => void | Promise<void>, giveBack: number): Promise<void> | undefined {
    this.#settled = true
    this.#givenBack = giveBack
    const answer = attempt(call)
    if (answer === undefined) return undefined
    const settling = answer.then(
      () => {
        this.#pending = undefined
      },
      (error: unknown) => this.#failed(error),
    )
    // A full commit asks no store: nothing to wait for.
    if (giveBack !== 0) this.#pending = settling.catch(() => undefined)
    settling.catch(() => undefined)
    return settling
  }

  #failed(error: unknown): never {
    this.#pending = undefined
    this.#givenBack = 0
    // A wrong amount settled nothing: the outcome still may.
    if (error instanceof QuotaError && error.code !== 'quota_unavailable') this.#settled = false
    this.#logger.error(error)
    throw error
  }

  /** The decision as it stands when the head leaves: without the tokens that go back. */
  #decisionAfter(cancels: boolean): Decision {
    const { decision } = this
    const giveBack = cancels ? decision.cost : this.#givenBack
    if (giveBack === 0) return decision
    const windows = decision.windows.map((window) => {
      if (window.limit === 'unlimited' || window.used === null) return window
      const used = Math.max(0, window.used - giveBack)
      return { ...window, used, remaining: Math.max(0, window.limit - used) }
    })
    return { ...decision, windows } as Decision
  }
}

/** Makes a call that may throw, answer later, or answer at once with nothing. */
function attempt(call: () => void | Promise<void>): Promise<void> | undefined {
  try {
    return call() ?? undefined
  } catch (error) {
    return Promise.reject(error)
  }
}
