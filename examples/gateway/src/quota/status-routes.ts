import type { Policy, Quota, QuotaStatus } from '@scoregw/quota'
import { type QuotaStatusBody, quotaStatusBody } from '@scoregw/quota/http'
import { BEIJING_TIME_ZONE } from '@scoregw/quota/score-gateway'
import type { BucketWindow } from '@scoregw/quota/store'
import * as z from 'zod'
import { instantText, isoInstant } from '../http/instant.ts'
import { type Route, route } from '../http/route.ts'
import { subjectsOf } from './layer-members.ts'
import { limitDocument } from './limit-document.ts'
import type { OperationName } from './policy.ts'
import { limitLabels } from './policy-limits.ts'

const instant = isoInstant.nullable()
const amount = z.union([z.int(), z.literal('unlimited')])

function windowShape(policy: Policy) {
  const { layers } = policy
  return {
    scope: z.string().describe(`${listOf(layers.map(({ scope }) => scope))}.`),
    window: z.string().describe(`${listOf(limitLabels(policy))}.`),
    limit: amount.describe('Tokens.'),
    burst: amount.optional().describe('For a bucket: the most tokens that it can hold.'),
    used: z.int().describe('Tokens; for a bucket, those that have not returned.'),
    held: z.int().min(1).optional().describe('The part of `used` that open holds may still refund. Absent: none.'),
    remaining: amount.describe('Tokens, never below 0; for a bucket, what remains of its burst.'),
    startedAt: instant.describe("ISO 8601 UTC; `null`: the window isn't open."),
    resetAt: instant.describe(
      "When the window ends, or the bucket is full again, ISO 8601 UTC; `null`: it isn't open, or is full.",
    ),
  }
}

function statusOf(policy: Policy, window: z.ZodType): z.ZodObject {
  const list = z.array(window).readonly()
  return z.object({
    windows: z
      .object(Object.fromEntries(policy.categories.map((category) => [category, list])))
      .describe('By category: the windows of each layer that applies, in order.'),
    timeZone: z.string().describe('Time zone of local times in texts.'),
  })
}

/** The schema of a user's quota status. */
export function statusSchema(policy: Policy): z.ZodType<QuotaStatusBody> {
  const window = z.object(windowShape(policy)).meta({ id: 'WindowStatus' })
  return statusOf(policy, window).meta({ id: 'QuotaStatus' }) as unknown as z.ZodType<QuotaStatusBody>
}

/** A user's limits for administrators, including shadowed ones. */
export interface NamedStatusBody {
  readonly windows: Readonly<Record<string, readonly object[]>>
  readonly timeZone: string
}

/** The schema for administrators. It also has the layer's name in settings, and shadowed limits. */
export function namedStatusSchema(policy: Policy): z.ZodType<NamedStatusBody> {
  const layer = z.enum(policy.layers.map(({ name }) => name)).describe("The layer's name in settings.")
  const kind = z
    .enum(['rolling', 'calendar', 'bucket', 'concurrency'])
    .describe(
      'What ends its count: its length, the next calendar period, or the end of the work with the slots. A bucket refills token by token.',
    )
  const enforced = z
    .boolean()
    .describe("`false`: it is shadowed. It is charged but refuses nothing, and users don't see it.")
  const window = z.object({ layer, ...windowShape(policy), kind, enforced }).meta({ id: 'NamedWindowStatus' })
  return statusOf(policy, window).meta({ id: 'NamedQuotaStatus' }) as unknown as z.ZodType<NamedStatusBody>
}

export function namedStatusBody(status: QuotaStatus): NamedStatusBody {
  const named = Object.entries(status.windows).map(([category, list]) => [category, list.map(namedWindow)] as const)
  return { windows: Object.fromEntries(named), timeZone: BEIJING_TIME_ZONE }
}

function namedWindow(status: QuotaStatus['windows'][string][number]): object {
  const { held, startedAt } = status
  return {
    ...limitDocument(status),
    ...(held !== undefined && { held }),
    startedAt: startedAt === null ? null : instantText(startedAt),
  }
}

/** Lists names in a text: `a`, `b` or `c`. */
export function listOf(names: readonly string[], conjunction: 'or' | 'and' = 'or'): string {
  const quoted = names.map((name) => `\`${name}\``)
  return [quoted.slice(0, -1).join(', '), quoted.at(-1) ?? ''].filter((part) => part !== '').join(` ${conjunction} `)
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const

/** A length in the largest unit that divides it: 1 hour, 5 hours, 1 day. */
function lengthText(lengthMs: number): string {
  const [unit, unitMs] = UNITS.find(([, each]) => lengthMs % each === 0) ?? (['millisecond', 1] as const)
  const count = lengthMs / unitMs
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}

/** Describes a window's length: 5 hours, a calendar month, or a minute with bursts of 20 %. */
export function windowText(window: Policy['windows'][number]): string {
  if (window.every !== undefined) return `a calendar ${window.every}`
  const { burst } = window as Partial<BucketWindow>
  if (burst === undefined) return lengthText(window.lengthMs)
  return `${lengthText(window.lengthMs)} (in bursts of ${typeof burst === 'number' ? burst : `${Math.round(burst.share * 100)} %`})`
}

const DOCS = {
  '/me/quota': {
    id: 'quotaStatus',
    tag: 'Quota',
    summary: "The caller's quota",
    description: 'Used and remaining tokens of the caller, window by window.',
    errors: ['quota_unavailable'],
  },
  '/quota': {
    id: 'quotaStatusAlias',
    tag: 'Quota',
    summary: "The caller's quota, by its older path",
    description: 'The same as `/me/quota`, for older clients.',
    errors: ['quota_unavailable'],
  },
} as const

/** Routes for a user's own quota. Free. `/quota` is for older clients. */
export function statusRoutes(quota: Quota<OperationName>): Route[] {
  const answer = statusSchema(quota.policy)
  const subjectOf = subjectsOf(quota.policy)
  return (['/me/quota', '/quota'] as const).map((path) =>
    route({
      method: 'get',
      path,
      docs: DOCS[path],
      access: 'user',
      answer,
      async handle({ user }) {
        return { body: quotaStatusBody(await quota.status(subjectOf(user.id)), { timeZone: BEIJING_TIME_ZONE }) }
      },
    }),
  )
}
