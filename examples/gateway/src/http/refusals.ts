import type { OutgoingHttpHeaders } from 'node:http'
import type { Request, RequestHandler, Response } from 'express'
import type { Logger } from '../log/logger.ts'
import type { ErrorBody } from './error-handler.ts'
import type { FailureLimit, FailuresExceeded } from './failure-limit.ts'
import { contextOf } from './request-context.ts'

/** How long a refusal is repeated, in milliseconds. A revoked credential is noticed at most this much later. */
const REPEATED_MS = 1_000
/** How many refusals are cached, and how long their keys may be, in characters. */
const MAX_KNOWN = 1_000
const MAX_KEY_LENGTH = 1_024
/** The parts of a request that the head of a refusal depends on. */
const FIELDS = ['authorization', 'bot-token', 'x-api-key', 'origin', 'accept-language', 'accept-encoding'] as const
/** Fields that each response must set for itself. */
const OWN_FIELDS: ReadonlySet<string> = new Set(['x-request-id', 'content-length', 'connection'])

interface Known {
  readonly error: FailuresExceeded
  readonly headers: OutgoingHttpHeaders
  readonly facts: Readonly<Record<string, unknown>>
  times: number
}

export interface RefusalsOptions {
  readonly failures: FailureLimit
  readonly logger: Logger
  readonly bodyOf: ErrorBody
  /**
   * Whether the request can only be refused after its caller was identified: it is neither a page nor on a public path.
   */
  readonly isGuarded: (req: Request) => boolean
}

/**
 * Repeats the last refusal to callers with too many failures, without identifying them again. Refused callers often
 * retry immediately, and a refusal must cost less than the work it prevents. A response is repeated only while every
 * byte of it is accurate.
 */
export class Refusals {
  readonly #options: RefusalsOptions
  readonly #known = new Map<string, Known>()

  constructor(options: RefusalsOptions) {
    this.#options = options
  }

  /** Runs before every step that such a request should not reach. */
  readonly repeat: RequestHandler = (req, res, next) => {
    const known = this.#knownOf(req)
    if (known === undefined) return next()
    known.times++
    const context = contextOf(req)
    context.errorCode = known.error.code
    const body = Buffer.from(JSON.stringify(this.#options.bodyOf(known.error, context.id)))
    res.writeHead(known.error.status, { ...known.headers, 'content-length': body.length }).end(body)
  }

  /** Caches the response that was just made. */
  keep(req: Request, res: Response, error: FailuresExceeded): void {
    const { user, holder } = contextOf(req)
    const key = keyOf(req)
    if ((user === undefined && holder === undefined) || key.length > MAX_KEY_LENGTH) return
    // Responses are repeated without compression.
    if (res.hasHeader('content-encoding')) return
    if (this.#known.has(key) || this.#known.size >= MAX_KNOWN || !this.#options.isGuarded(req)) return
    const headers = Object.entries(res.getHeaders()).filter(([name]) => !OWN_FIELDS.has(name))
    const facts = user === undefined ? { holderId: holder?.id } : { userId: user.id }
    this.#known.set(key, { error, headers: Object.fromEntries(headers), facts, times: 0 })
    setTimeout(() => this.#forget(key), REPEATED_MS).unref()
  }

  #knownOf(req: Request): Known | undefined {
    if (this.#known.size === 0) return undefined
    const key = keyOf(req)
    const known = this.#known.get(key)
    if (known === undefined || !this.#options.isGuarded(req) || hasTwo(req)) return undefined
    if (this.#options.failures.isStill(known.error)) return known
    this.#forget(key)
    return undefined
  }

  /** Logs how often the refusal was repeated. The first one was logged like every request. */
  #forget(key: string): void {
    const known = this.#known.get(key)
    if (!this.#known.delete(key) || known === undefined || known.times === 0) return
    const { facts, times, error } = known
    this.#options.logger.info({ ...facts, status: error.status, times }, 'requests refused again')
  }
}

function keyOf({ headers }: Request): string {
  return FIELDS.map((name) => headers[name] ?? '').join('\n')
}

/** Whether there are two credentials, of which Node shows the first. */
function hasTwo(req: Request): boolean {
  return (req.headersDistinct.authorization ?? []).length > 1
}
