import { QuotaError, type QuotaLogger } from '@scoregw/quota'
import type { QuotaAnswer } from '@scoregw/quota/http'
import { noResponse } from '@scoregw/quota/internal'

/** Makes a JSON response. */
export function answerResponse({ status, headers, content, contentType }: QuotaAnswer): Response {
  return new Response(JSON.stringify(content), { status, headers: { 'Content-Type': contentType, ...headers } })
}

/** Returns the application's own response to a refused request. If it made none, that is logged. */
export function ownResponse(own: unknown, answer: QuotaAnswer, logger: QuotaLogger): Response {
  if (isResponse(own)) return own
  logger.error(noResponse(answer, 'return a Response, or a promise of one'))
  return answerResponse(answer)
}

/** A program may have several `Response` classes. */
function isResponse(value: unknown): value is Response {
  return typeof value === 'object' && value !== null && 'status' in value && 'headers' in value
}

/** The response to a client that has disconnected. Nobody reads it. */
export function goneResponse(): Response {
  return new Response(null, { status: 503 })
}

/** Messages already logged, so that a mistake made on every request is logged once per process. */
const logged = new Set<string>()

/** Logs a programming error, and returns a response that doesn't mention it. */
export function misused(logger: QuotaLogger, message: string): Response {
  if (!logged.has(message)) {
    logged.add(message)
    logger.error(new QuotaError('invalid_options', message))
  }
  return Response.json({ error: 'internal_error' }, { status: 500 })
}
