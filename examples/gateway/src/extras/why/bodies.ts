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
        .describe("Another limit of the user's own, in the operation's category."),
      shadow: z
        .strictObject({ layer: names(policy.layers.map(({ name }) => name)), window: names(limitLabels(policy)) })
        .optional()
        .describe('A limit that would be counted and refuse nobody.'),
    })
    .describe('The change to try; absent: only the current limits.')
  return z.strictObject({
    operation: z
      .enum(OPERATION_NAMES, { error: `expected one of ${OPERATION_NAMES.join(', ')}` })
      .optional()
      .describe("Left out: that of the user's last refusal."),
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
  resetAt: isoInstant.describe('When its window ends, or its bucket has enough.'),
  retryable: z.boolean().describe('`false`: the limit is below the cost, so that waiting does not help.'),
})

const limit = z.union([z.int(), z.literal('unlimited')])

const decision = z.object({
  allowed: z.boolean(),
  cost: count,
  binding: violation.nullable().describe('The limit named in the answer; `null`: none refuses.'),
  violations: z.array(violation).describe('Every limit that refuses.'),
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
    now: decision.describe('What a request would be answered at this moment.'),
    proposed: decision.nullable().describe('The same under the proposal, with the current use.'),
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
      .describe('The last refusals as they were, the newest first, ten at most.'),
    replay: z
      .object({
        since: isoInstant,
        until: isoInstant,
        requests: count.describe('Recorded in that time.'),
        replayed: count.describe('Of these, what was decided again.'),
        recorded: judged.describe('As it was at the time.'),
        present: judged.describe('Decided again under the rules of today.'),
        proposed: judged.nullable().describe('Decided again under the proposal.'),
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
          .describe('Requests that would end otherwise than they did, the newest first, fifty at most.'),
        unknown: z.object({
          bySharedLimits: count.describe('Refused by what everybody shares: what others would have used is not known.'),
          bySlots: count.describe('Refused since too much was under way.'),
          undecided: count.describe('Without a decision, or free.'),
          isTruncated: z.boolean().describe('Older requests of that time are not kept.'),
          hasOwnPeriods: z.boolean().describe("The user's periods begin on days of their own, which was not followed."),
        }),
      })
      .describe('The days before, decided again by a real engine. Limits that everybody shares are left out.'),
  })
  .meta({ id: 'Why' })

export type WhyAnswer = z.output<typeof whyAnswer>
