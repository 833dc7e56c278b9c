import { QuotaError } from '../errors/quota-error.ts'
import { aFunction, type Check, optional } from '../options/checks.ts'
import type { QuotaLogger } from '../options/logger.ts'
import { calling, isPromiseLike } from '../options/promise.ts'
import type { QuotaAnswer } from './answers.ts'

/** The options with which an application answers itself, by status. */
const HANDLERS = { 429: 'handler', 401: 'onUnauthenticated', 503: 'onUnavailable' } as const

/** Their names, for an adapter's `ownOfRoutes`. */
export const ANSWER_HANDLERS: readonly string[] = Object.values(HANDLERS)

/** Their checks, for an adapter's `own`. */
export function answerHandlerChecks(): Readonly<Record<string, Check<unknown>>> {
  return Object.fromEntries(ANSWER_HANDLERS.map((name) => [name, optional(aFunction())]))
}

/** Returns the application's function for an answer; `undefined`: the adapter sends it. */
export function answerHandlerOf<Handler>(options: object, { status }: QuotaAnswer): Handler | undefined {
  return (options as Readonly<Record<string, Handler | undefined>>)[HANDLERS[status]]
}

/** The error of an application's function that answered nothing. */
export function noResponse({ status }: QuotaAnswer, expected: string): QuotaError {
  const message = `${HANDLERS[status]}() sent nothing, so the request got the default ${status}: ${expected}`
  return new QuotaError('no_response', message)
}

/** What the application's function for an answer does to a response. */
interface OwnAnswer {
  /** Calls the function. */
  answer(): unknown
  /** Whether it has sent a response, or passed the request on; or the client disconnected. */
  isDone(): boolean
  /** Sends the answer as without the function. */
  sendDefault(): void
  /** Passes on what the function throws, or rejects with. */
  failed(error: unknown): void
}

/** How long a function that returned without a promise can still send, in milliseconds. */
const CALLBACK_MS = 1_000

/**
 * Lets the application answer. If its function has sent nothing one second after it returned or its promise resolved,
 * that is logged, and the request gets the default answer.
 */
export function answerByApplication(given: QuotaAnswer, logger: QuotaLogger, own: OwnAnswer): void {
  const sendIfOpen = (): void => {
    if (own.isDone()) return
    logger.error(noResponse(given, 'send a response before it returns, or return a promise'))
    calling(() => own.sendDefault(), own.failed)
  }
  const returned = (): void => {
    if (!own.isDone()) setTimeout(sendIfOpen, CALLBACK_MS)
  }
  calling(() => {
    const result = own.answer()
    if (isPromiseLike(result)) return result.then(returned)
    returned()
    return undefined
  }, own.failed)
}
