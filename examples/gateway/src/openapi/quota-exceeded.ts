import { createQuota, memoryStore, type Policy, type RefusedDecision } from '@scoregw/quota'
import { luxonCalendar } from '@scoregw/quota/calendar'
import { quotaHeaders } from '@scoregw/quota/http'
import { type ScoreGatewayBody, scoreGatewayAnswers } from '@scoregw/quota/score-gateway'
import * as z from 'zod'
import { isoInstant } from '../http/instant.ts'
import { subjectsOf } from '../quota/layer-members.ts'
import { FIELDS } from '../quota/metering.ts'
import type { GatewayPolicy } from '../quota/policy.ts'
import { limitLabels } from '../quota/policy-limits.ts'
import { listOf } from '../quota/status-routes.ts'

/** The body of a refusal with this policy. */
export function quotaExceededSchema(policy: Policy): z.ZodType<ScoreGatewayBody> {
  const { layers, categories } = policy
  return z
    .object({
      error: z.literal('quota_exceeded').describe('The same in all refusals by a quota.'),
      msg: z
        .string()
        .describe(
          'For people, in English or Chinese by `Accept-Language`: scope, window, category, when it resets in Beijing time (UTC+8), and where to request more.',
        ),
      retryAfterSeconds: z.int().min(1).describe('Whole seconds to wait before retrying.'),
      quota: z
        .object({
          scope: z.string().describe(`The layer that was exceeded: ${listOf(layers.map(({ scope }) => scope))}.`),
          category: z.string().describe(`${listOf(categories)}.`),
          window: z.string().describe(`Label of the window: ${listOf(limitLabels(policy))}.`),
          limit: z.int().describe('Quota of that window, in tokens.'),
          used: z.int().describe('Tokens used in the window.'),
          requested: z.int().describe('Tokens that this request needed.'),
          resetAt: isoInstant.describe('When the window ends, or the bucket has enough, ISO 8601 UTC.'),
          retryAtBeijing: z
            .string()
            .regex(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
            .describe('The same in Beijing time, `yyyy-MM-dd HH:mm:ss`.'),
          timeZone: z.string().describe('Time zone of `retryAtBeijing`: `Asia/Shanghai`.'),
          retryAt: isoInstant.describe('The same as `resetAt`.'),
          windowLabel: z.string().describe('The window for people, in the language of `msg`: `1-Hour`, `1 小时`.'),
          burst: z.int().optional().describe('For a bucket: the most tokens that it can hold.'),
        })
        .describe('The window that refuses.'),
    })
    .meta({
      id: 'QuotaExceeded',
      description: 'A window has too few tokens left. Nothing was charged.',
    }) as unknown as z.ZodType<ScoreGatewayBody>
}

const AT = Date.UTC(2026, 7, 6, 14, 6, 26)
const OPERATION = 'music.upsert'

/** Examples of a refusal, as sent. */
export interface QuotaExamples {
  readonly body: ScoreGatewayBody
  /** The header fields of the same response. */
  readonly headers: Readonly<Record<string, string>>
}

/** Makes examples: a user uses up the windows, and sends another request half of `Retry-After` later. */
export function quotaExamples(policy: GatewayPolicy): QuotaExamples | undefined {
  const clock = { nowMs: AT, now: () => clock.nowMs }
  // The gateway's own engine has already logged the policy's warnings.
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
