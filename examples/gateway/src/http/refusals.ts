import type { OutgoingHttpHeaders } from 'node:http'
import type { Request, RequestHandler, Response } from 'express'
import type { Logger } from '../log/logger.ts'
import type { ErrorBody } from './error-handler.ts'
import type { FailureLimit, FailuresExceeded } from './failure-limit.ts'
import { contextOf } from './request-context.ts'

/** How long a refusal is repeated, in milliseconds: so much later a credential that was revoked is noticed. */
const REPEATED_MS = 1_000
/** Most refusals that are known by heart, and most characters of what each is known by. */
const MAX_KNOWN = 1_000
const MAX_KEY_LENGTH = 1_024
/** The parts of a request on which the head of a refusal depends. */
const FIELDS = ['authorization', 'bot-token', 'x-api-key', 'origin', 'accept-language', 'accept-encoding'] as const
/** Fields of an answer that are another request's. */
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
  /** Whether a request can only be refused once its caller is: neither a page nor a path that is open to everybody. */
  readonly isGuarded: (req: Request) => boolean
}

/**
 * Repeats the last refusal to callers with too many failures, without identifying them again: refused callers often retry
 * at once, and a refusal must cost less than the work it prevents. An answer is repeated while it is true to the letter.
 */
export class Refusals {
  readonly #options: RefusalsOptions
  readonly #known = new Map<string, Known>()

  constructor(options: RefusalsOptions) {
    this.#options = options
  }

  /** Comes before everything that is not to be done for such a request. */
  readonly repeat: RequestHandler = (req, res, next) => {
    const known = this.#knownOf(req)
    if (known === undefined) return next()
    known.times++
    const context = contextOf(req)
    context.errorCode = known.error.code
    const body = Buffer.from(JSON.stringify(this.#options.bodyOf(known.error, context.id)))
    res.writeHead(known.error.status, { ...known.headers, 'content-length': body.length }).end(body)
  }

  /** Remembers an answer that was just made. */
  keep(req: Request, res: Response, error: FailuresExceeded): void {
    const { user, holder } = contextOf(req)
    const key = keyOf(req)
    if ((user === undefined && holder === undefined) || key.length > MAX_KEY_LENGTH) return
    // Answers are repeated without compression.
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

  /** The first of them was logged as every request is. */
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

/** Two credentials where Node shows the first of them. */
function hasTwo(req: Request): boolean {
  return (req.headersDistinct.authorization ?? []).length > 1
}
