import type { Clock } from '@scoregw/quota'
import * as z from 'zod'
import { adminRoute, type Route } from '../http/route.ts'
import { instantText, isoInstant } from '../http/schemas.ts'
import type { UsageRecorder } from './usage-recorder.ts'
import { refusalOf, type UsageRecord, type UsageRecords } from './usage-records.ts'

const DAY_MS = 86_400_000
/** The most refusals read: enough for an overview, and still fast. */
const MOST = 1_000
/** The most groups in the response. */
const MOST_GROUPS = 50

const tokens = z.int().min(0)

const query = z.object({
  userId: z.string().min(1).max(128).optional().describe('Only refusals of this user.'),
})

const group = z.object({
  userId: z.string(),
  operation: z.string(),
  name: z.string().describe("The limit's name, for example `personal-read-1h`."),
  limit: tokens.describe('The limit at the last refusal, in tokens. So are `used` and `requested`.'),
  used: tokens,
  requested: tokens.describe('Above `limit`: waiting did not help.'),
  count: z.int().min(1),
  lastAt: isoInstant,
  resetAt: isoInstant.describe('When the limit had room again after the last refusal.'),
})

const answer = z.object({ since: isoInstant, refusals: z.array(group) })

type Group = z.output<typeof group>

export interface RefusalsOptions {
  readonly records: UsageRecords
  readonly recorder: UsageRecorder
  readonly clock: Clock
}

/** A route for administrators: who was refused, and by which limit. */
export function refusalRoutes({ records, recorder, clock }: RefusalsOptions): Route[] {
  return [
    adminRoute('GET /admin/refusals', {
      id: 'latestRefusals',
      summary: 'Recent refusals by user and limit',
      description:
        'Refusals of the last 24 hours in all processes, by user, operation and limit, the newest first. Counts at most the newest 1,000.',
      query,
      answer,
      async handle({ query: { userId } }) {
        // Include the requests of this process up to now.
        await recorder.flush()
        const since = clock.now() - DAY_MS
        const refusals = groupsOf(await records.refusedSince(since, MOST, userId))
        return { body: { since: instantText(since), refusals } }
      },
    }),
  ]
}

/** @param newestFirst so that the first of a group is its last refusal */
function groupsOf(newestFirst: readonly UsageRecord[]): Group[] {
  const groups = new Map<string, Group>()
  for (const record of newestFirst) {
    const refusal = refusalOf(record)
    if (refusal === null) continue
    const { user_id: userId, operation, at } = record
    const key = JSON.stringify([userId, operation, refusal.name])
    const known = groups.get(key)
    if (known === undefined) groups.set(key, { userId, operation, ...refusal, count: 1, lastAt: instantText(at) })
    else known.count++
  }
  return [...groups.values()].slice(0, MOST_GROUPS)
}
