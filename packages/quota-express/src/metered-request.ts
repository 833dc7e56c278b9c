import type { ServerResponse } from 'node:http'
import { type Decision, type Quota, QuotaError, rateLimitHeaders } from '@scoregw/quota'
import type { Request } from 'express'
import type { RequestQuota } from './options.ts'
import { ResponseGate } from './response-gate.ts'
import type { QuotaLogger } from './warnings.ts'

/** Tokens held for a request, as an engine of either kind hands them out. */
export interface Held {
  commit(actual?: number): void | Promise<void>
  cancel(): void | Promise<void>
}

/** What a metered request is made of. */
export interface MeteredParts {
  readonly quota: Quota
  readonly req: Request
  readonly res: ServerResponse
  readonly decision: Decision
  /** Absent where nothing is ever given back. */
  readonly held: Held | undefined
  readonly standardHeaders: 'draft-10' | false
  readonly logger: QuotaLogger
}

/** Where a request keeps its quotas: the newest, which knows the one before. Shared by all copies of this package. */
const METERED: unique symbol = Symbol.for('@scoregw/quota-express') as never

interface Marked {
  [METERED]?: MeteredRequest
}

type WriteHead = (...args: unknown[]) => ServerResponse

const DONE: Promise<void> = Promise.resolve()

/** The fields of `rateLimitHeaders()`. */
const DRAFT_FIELDS = ['RateLimit-Policy', 'RateLimit'] as const
const NOTHING_TOLD: Readonly<Record<string, string>> = {}

/**
 * One request under one engine. Judges the outcome when the head is written: the head is fixed first, so that a status
 * Node refuses is never judged, then settled, and only then sent.
 */
export class MeteredRequest implements RequestQuota {
  readonly decision: Decision
  readonly quota: Quota
  /** The quota of an engine that metered the same request before. */
  readonly previous: MeteredRequest | undefined
  readonly #req: Request
  readonly #res: ServerResponse
  readonly #held: Held | undefined
  readonly #standardHeaders: boolean
  readonly #logger: QuotaLogger
  #gate: ResponseGate | undefined
  #settled = false
  #givenBack = 0
  /** A settlement under way. */
  #pending: Promise<void> | undefined
  /** The draft's fields as we set them last. */
  #told: Readonly<Record<string, string>> = NOTHING_TOLD

  constructor(parts: MeteredParts) {
    this.decision = parts.decision
    this.quota = parts.quota
    this.#req = parts.req
    this.#res = parts.res
    this.#held = parts.held
    this.#standardHeaders = parts.standardHeaders !== false
    this.#logger = parts.logger
    this.previous = newestOf(parts.req)
    ;(parts.req as Marked)[METERED] = this
  }

  /** Watches the response, if its head has anything to do with this quota. */
  watch(): void {
    if (this.decision.source === 'free' || (this.#held === undefined && !this.#standardHeaders)) return
    const res = this.#res
    const writeHead = res.writeHead as WriteHead
    res.writeHead = ((...args: unknown[]) => this.#writeHead(writeHead, args)) as ServerResponse['writeHead']
    if (this.#held === undefined || this.quota.sync) return
    this.#gate = new ResponseGate(res, this.#req.method, {
      holdsBack: (status) => this.#pending !== undefined || this.#gives(status),
      failed: (error) => this.#logger.error(error),
    })
  }

  commit(actual: number = this.decision.cost): Promise<void> {
    return this.#commit(actual) ?? DONE
  }

  cancel(): Promise<void> {
    return this.#cancel() ?? DONE
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
    if (giveBack !== 0) this.#pending = settling
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

  #writeHead(writeHead: WriteHead, args: unknown[]): ServerResponse {
    const res = this.#res
    if (res.headersSent) return writeHead.apply(res, args)
    if (this.#standardHeaders) this.#setFields(typeof args[0] === 'number' ? args[0] : res.statusCode)
    writeHead.apply(res, args)
    if (this.#held !== undefined) this.#judge(res.statusCode)
    return res
  }

  #judge(status: number): void {
    if (this.#gives(status)) this.#cancel()?.catch(() => undefined)
    else if (status < 400) this.#commit(this.decision.cost)?.catch(() => undefined)
    if (this.#pending !== undefined) this.#gate?.hold(this.#pending)
  }

  /** Whether a head with this status gives the tokens back. Nobody hears it after a hang-up: hanging up is not failing. */
  #gives(status: number): boolean {
    return status >= 400 && this.#held !== undefined && !this.#settled && !this.#isHungUp()
  }

  #isHungUp(): boolean {
    return this.#res.destroyed || this.#req.socket.writable === false
  }

  /** The draft's fields; those of another quota of the same request stay, in one list with ours. */
  #setFields(status: number): void {
    const fields = rateLimitHeaders(this.#decisionAfter(this.#gives(status)))
    for (const name of DRAFT_FIELDS) {
      const text = fields[name]
      if (text === undefined) continue
      const others = this.#res.getHeader(name)
      const isOurs = others === undefined || others === this.#told[name]
      this.#res.setHeader(name, isOurs ? text : `${others}, ${text}`)
    }
    this.#told = fields
  }

  /** The decision as it stands when the head leaves: without the tokens that go back. */
  #decisionAfter(cancels: boolean): Decision {
    const { decision } = this
    const giveBack = cancels ? decision.cost : this.#givenBack
    if (giveBack === 0) return decision
    const windows = decision.windows.map((window) => {
      if (window.limit === 'unlimited') return window
      const used = Math.max(0, window.used - giveBack)
      return { ...window, used, remaining: Math.max(0, window.limit - used) }
    })
    return { ...decision, windows } as Decision
  }
}

/** The quota that a request got last, if it is metered. */
export function newestOf(req: Request): MeteredRequest | undefined {
  return (req as Marked)[METERED]
}

/** Makes a call that may throw, answer later, or answer at once with nothing. */
function attempt(call: () => void | Promise<void>): Promise<void> | undefined {
  try {
    return call() ?? undefined
  } catch (error) {
    return Promise.reject(error)
  }
}
