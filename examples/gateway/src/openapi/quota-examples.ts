import { createQuota, memoryStore, type RefusedDecision } from '@scoregw/quota'
import { luxonCalendar } from '@scoregw/quota/calendar'
import { quotaHeaders } from '@scoregw/quota/http'
import { type ScoreGatewayBody, scoreGatewayAnswers } from '@scoregw/quota/score-gateway'
import { FIELDS } from '../quota/metering.ts'
import type { GatewayPolicy } from '../quota/policy.ts'
import { subjectsOf } from '../quota/subjects.ts'

const AT = Date.UTC(2026, 7, 6, 14, 6, 26)
const OPERATION = 'music.upsert'

/** Examples of a quota's answers, as they are sent. */
export interface QuotaExamples {
  readonly body: ScoreGatewayBody
  /** Header fields of the same answer. */
  readonly headers: Readonly<Record<string, string>>
}

/** A user has sent all that the windows let him, and goes on: what that is answered with, half a window later. */
export function quotaExamples(policy: GatewayPolicy): QuotaExamples | undefined {
  const clock = { nowMs: AT, now: () => clock.nowMs }
  // The gateway's own engine has warned of this policy.
  const quota = createQuota({ policy, store: memoryStore({ clock }), clock, calendar: luxonCalendar(), logger: false })
  const refused = (): RefusedDecision | undefined => {
    const request = { subject: subjectsOf(policy)('demo'), operation: OPERATION } as const
    const { category } = policy.operations[OPERATION]
    const left = quota.statusSync(request.subject).windows[category] ?? []
    const ofTokens = left.filter(({ kind }) => kind !== 'concurrency')
    const tokens = Math.min(
      ...ofTokens.map(({ remaining }) => (remaining === 'unlimited' ? Number.POSITIVE_INFINITY : remaining)),
    )
    if (!Number.isFinite(tokens)) return undefined
    quota.consumeSync({ ...request, cost: tokens })
    const decision = quota.peekSync(request)
    if (decision.allowed) return undefined
    clock.nowMs += Math.floor(decision.retryAfterMs / 2)
    const later = quota.peekSync(request)
    return later.allowed ? undefined : later
  }
  const decision = refused()
  if (decision === undefined) return undefined
  return {
    body: scoreGatewayAnswers({ supportForumUrl: 'https://forum.example.com/quota' })(decision, {
      locale: 'en',
      policy,
    }),
    headers: quotaHeaders(decision, FIELDS),
  }
}
