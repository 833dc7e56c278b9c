import type { Policy } from '@scoregw/quota'
import { MAX_LIMIT, MODES } from '@scoregw/quota/store'
import * as z from 'zod'
import { isoInstant } from '../../http/instant.ts'
import { ownLayers } from '../../quota/layer-members.ts'
import { OPERATION_NAMES } from '../../quota/policy.ts'
import { labelsOfAny, limitLabels } from '../../quota/policy-limits.ts'

const MAX_DAYS = 30

const names = (all: readonly string[]) => {
  const [first, ...others] = all
  return z.enum([first as string, ...others], { error: `expected ${all.join(' or ')}` })
}

/** The schema of the request body. */
export function whyBody(policy: Policy) {
  const own = ownLayers(policy)
  const ownLabels = [...new Set(policy.categories.flatMap((category) => labelsOfAny(policy, own, category)))]
  const proposal = z
    .strictObject({
      mode: z.enum(MODES, { error: `expected one of ${MODES.join(', ')}` }).optional(),
      limit: z
        .strictObject({
          layer: names(own),
          window: names(ownLabels),
          tokens: z.int().min(0).max(MAX_LIMIT),
        })
        .optional()
        .describe("A different limit for the user, in the operation's category."),
      shadow: z
        .strictObject({ layer: names(policy.layers.map(({ name }) => name)), window: names(limitLabels(policy)) })
        .optional()
        .describe('A limit to shadow, so that it refuses nothing.'),
    })
    .describe('The change to try; absent: only the current limits.')
  return z.strictObject({
    operation: z
      .enum(OPERATION_NAMES, { error: `expected one of ${OPERATION_NAMES.join(', ')}` })
      .optional()
      .describe("Default: that of the user's last refusal."),
    proposal: proposal.optional(),
    days: z.int(`expected a whole number from 1 to ${MAX_DAYS}`).min(1).max(MAX_DAYS).default(7),
  })
}

const count = z.int().min(0)
const ofLimit = { layer: z.string(), scope: z.string(), window: z.string() }
const kind = z.enum(['rolling', 'calendar', 'bucket', 'concurrency'])

const violation = z.object({
  ...ofLimit,
  category: z.string(),
  kind,
  limit: count,
  burst: count.optional(),
  used: count,
  requested: count,
  resetAt: isoInstant.describe('When its window ends, or its bucket has enough tokens.'),
  retryable: z.boolean().describe("`false`: the limit is below the cost, so waiting doesn't help."),
})

const limit = z.union([z.int(), z.literal('unlimited')])

const decision = z.object({
  allowed: z.boolean(),
  cost: count,
  binding: violation.nullable().describe('The limit named in the response; `null`: none refuses.'),
  violations: z.array(violation).describe('All limits that refuse.'),
  shadowed: z.array(violation).describe('Limits that would refuse if they were enforced.'),
  retryAfterSeconds: count.nullable(),
  windows: z.array(
    z.object({
      ...ofLimit,
      kind,
      limit,
      burst: limit.optional(),
      used: count.nullable(),
      remaining: limit.nullable(),
      resetAt: isoInstant.nullable(),
      enforced: z.boolean(),
    }),
  ),
})

const byLimit = z.array(z.object({ ...ofLimit, category: z.string(), count }))

const judged = z.object({ refused: count, limits: byLimit })

export const whyAnswer = z
  .object({
    userId: z.string(),
    operation: z.string(),
    category: z.string(),
    now: decision.describe('The decision about a request now.'),
    proposed: decision.nullable().describe('The same with the proposal and current usage.'),
    refusals: z
      .array(
        z.object({
          at: isoInstant,
          operation: z.string(),
          ...ofLimit,
          category: z.string(),
          kind,
          limit: count,
          used: count,
          requested: count,
          resetAt: isoInstant,
        }),
      )
      .describe('The last refusals, the newest first, at most ten.'),
    replay: z
      .object({
        since: isoInstant,
        until: isoInstant,
        requests: count.describe('All recorded requests of that time.'),
        replayed: count.describe('Those that were decided again.'),
        recorded: judged.describe('The original decisions.'),
        present: judged.describe('Decided again with the current rules.'),
        proposed: judged.nullable().describe('Decided again with the proposal.'),
        days: z.array(
          z.object({
            date: z.iso.date().describe('In Beijing.'),
            requests: count,
            recorded: count,
            present: count,
            proposed: count.nullable(),
          }),
        ),
        changed: z
          .array(
            z.object({
              at: isoInstant,
              operation: z.string(),
              cost: count,
              wasRefused: z.boolean(),
              binding: z.object(ofLimit).nullable(),
            }),
          )
          .describe('Requests with a different outcome, the newest first, at most fifty.'),
        unknown: z.object({
          bySharedLimits: count.describe('Refused by shared limits: what others would have used is unknown.'),
          bySlots: count.describe('Refused by a concurrency limit.'),
          undecided: count.describe('Without a decision, or free.'),
          isTruncated: z.boolean().describe('Older requests of that time were deleted.'),
          hasOwnPeriods: z.boolean().describe("The user's periods start on other days, which the replay ignores."),
        }),
      })
      .describe('The past days, decided again by a real engine, without shared limits.'),
  })
  .meta({ id: 'Why' })

export type WhyAnswer = z.output<typeof whyAnswer>
