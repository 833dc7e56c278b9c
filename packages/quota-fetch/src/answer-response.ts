import { QuotaError } from '@scoregw/quota'
import type { QuotaAnswer, QuotaLogger } from '@scoregw/quota/http'

/** An answer as JSON. */
export function answerResponse({ status, headers, content, contentType }: QuotaAnswer): Response {
  return new Response(JSON.stringify(content), { status, headers: { ...headers, 'Content-Type': contentType } })
}

/** Each text once in a process: the same mistake is made with every request. */
const told = new Set<string>()

/** Tells a programmer of a mistake, and the client nothing of it. */
export function misused(logger: QuotaLogger, message: string): Response {
  if (!told.has(message)) {
    told.add(message)
    logger.error(new QuotaError('invalid_options', message))
  }
  return Response.json({ error: 'internal_error' }, { status: 500 })
}
