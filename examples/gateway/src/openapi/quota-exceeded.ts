import type { Policy } from '@scoregw/quota'
import type { ScoreGatewayBody } from '@scoregw/quota/score-gateway'
import * as z from 'zod'
import { isoInstant } from '../http/instant.ts'
import { limitLabels } from '../quota/policy-limits.ts'
import { listOf } from '../quota/policy-words.ts'

/** The body of a refusal under a policy. */
export function quotaExceededSchema(policy: Policy): z.ZodType<ScoreGatewayBody> {
  const { layers, categories } = policy
  return z
    .object({
      error: z.literal('quota_exceeded').describe('The same in every refusal by a quota.'),
      msg: z
        .string()
        .describe(
          'For people, by `Accept-Language` in English or Chinese: scope, window, category, until when in Beijing time (UTC+8), and where to ask for more.',
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
          burst: z.int().optional().describe('Of a bucket: how many tokens can be saved up.'),
        })
        .describe('The window that refuses.'),
    })
    .meta({
      id: 'QuotaExceeded',
      description: 'A window has too few tokens left. Nothing was charged.',
    }) as unknown as z.ZodType<ScoreGatewayBody>
}
