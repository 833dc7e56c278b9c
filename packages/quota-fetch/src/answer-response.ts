import { QuotaError } from '@scoregw/quota'
import type { QuotaAnswer, QuotaLogger } from '@scoregw/quota/http'

/** Makes a JSON response. */
export function answerResponse({ status, headers, content, contentType }: QuotaAnswer): Response {
  return new Response(JSON.stringify(content), { status, headers: { 'Content-Type': contentType, ...headers } })
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
