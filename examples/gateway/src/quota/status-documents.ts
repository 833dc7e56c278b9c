import type { Policy, QuotaStatus } from '@scoregw/quota'
import type { QuotaStatusBody } from '@scoregw/quota/http'
import { BEIJING_TIME_ZONE } from '@scoregw/quota/score-gateway'
import * as z from 'zod'
import { instantText, isoInstant } from '../http/instant.ts'
import { limitLabels } from './policy-limits.ts'
import { listOf } from './policy-words.ts'

const instant = isoInstant.nullable()
const amount = z.union([z.int(), z.literal('unlimited')])

function windowShape(policy: Policy) {
  const { layers } = policy
  return {
    scope: z.string().describe(`${listOf(layers.map(({ scope }) => scope))}.`),
    window: z.string().describe(`${listOf(limitLabels(policy))}.`),
    limit: amount.describe('Tokens.'),
    burst: amount.optional().describe('Of a bucket: how many tokens can be saved up.'),
    used: z.int().describe('Tokens; of a bucket those that have not come back.'),
    held: z
      .int()
      .min(1)
      .optional()
      .describe('How much of `used` open holds have and may still give back; absent: none.'),
    remaining: amount.describe('Tokens, never below 0; of a bucket what is left of its burst.'),
    startedAt: instant.describe('ISO 8601 UTC; `null`: nothing was charged in the window yet.'),
    resetAt: instant.describe(
      'When the window ends, or the bucket is full again, ISO 8601 UTC; `null`: it is not open, or full.',
    ),
  }
}

function statusOf(policy: Policy, window: z.ZodType): z.ZodObject {
  const list = z.array(window).readonly()
  return z.object({
    windows: z
      .object(Object.fromEntries(policy.categories.map((category) => [category, list])))
      .describe('By category: the windows of each layer in turn; those of a shared layer only where it applies.'),
    timeZone: z.string().describe('Time zone of local times in texts.'),
  })
}

/** What a user has used and has left. */
export function statusSchema(policy: Policy): z.ZodType<QuotaStatusBody> {
  const window = z.object(windowShape(policy)).meta({ id: 'WindowStatus' })
  return statusOf(policy, window).meta({ id: 'QuotaStatus' }) as unknown as z.ZodType<QuotaStatusBody>
}

/** A user's limits for administrators, with those that are not enforced. */
export interface NamedStatusBody {
  readonly windows: Readonly<Record<string, readonly object[]>>
  readonly timeZone: string
}

/**
 * The same for administrators: beside the layer's name for people the one that settings go by, and the limits that are
 * charged and refuse nobody.
 */
export function namedStatusSchema(policy: Policy): z.ZodType<NamedStatusBody> {
  const layer = z.enum(policy.layers.map(({ name }) => name)).describe("The layer's name in settings.")
  const kind = z
    .enum(['rolling', 'calendar', 'bucket', 'concurrency'])
    .describe(
      'What ends its count: its length, the next period of the calendar, or the end of the work that has slots; the tokens of a bucket come back one by one.',
    )
  const enforced = z.boolean().describe('`false`: it is charged and refuses nobody; users do not see it.')
  const window = z.object({ layer, ...windowShape(policy), kind, enforced }).meta({ id: 'NamedWindowStatus' })
  return statusOf(policy, window).meta({ id: 'NamedQuotaStatus' }) as unknown as z.ZodType<NamedStatusBody>
}

export function namedStatusBody(status: QuotaStatus): NamedStatusBody {
  const named = Object.entries(status.windows).map(([category, list]) => [category, list.map(namedWindow)] as const)
  return { windows: Object.fromEntries(named), timeZone: BEIJING_TIME_ZONE }
}

function namedWindow(of: QuotaStatus['windows'][string][number]): object {
  const { layer, scope, window, limit, burst, used, held, remaining, startedAt, resetAt, kind, enforced } = of
  return {
    layer,
    scope,
    window,
    limit,
    ...(burst === undefined ? {} : { burst }),
    used,
    ...(held === undefined ? {} : { held }),
    remaining,
    startedAt: startedAt === null ? null : instantText(startedAt),
    resetAt: resetAt === null ? null : instantText(resetAt),
    kind,
    enforced,
  }
}
