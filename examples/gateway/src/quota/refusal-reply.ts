import type { RefusedDecision } from '@scoregw/quota'
import { preferredLocale, quotaExceededBody, quotaHeaders } from '@scoregw/quota/http'
import { scoreGatewayAnswers } from '@scoregw/quota/score-gateway'
import type { Request } from 'express'
import type { Reply } from '../http/route.ts'
import { FIELDS } from './metering.ts'

/** Answers a refusal of a route that calls the quota itself, as the middleware does for all others. */
export function refusalReply(req: Request, decision: RefusedDecision, supportForumUrl: string): Reply<never> {
  const locale = preferredLocale(req.get('Accept-Language'))
  return {
    status: 429,
    headers: { ...quotaHeaders(decision, FIELDS), 'Cache-Control': 'no-store' },
    // No success: its form is that of every 429.
    body: quotaExceededBody(decision, { locale, answers: scoreGatewayAnswers({ supportForumUrl }) }) as never,
  }
}
