import { MODES } from '@scoregw/quota/internal'
import * as z from 'zod'
import { isoInstant } from '../http/schemas.ts'

const count = z.int().min(0)

const endings = {
  succeeded: count,
  refused: count.describe('By a limit.'),
  clientError: count.describe('By other client errors.'),
  serverError: count.describe('Server errors, ours or those of a source.'),
}

/** A limit's name. */
const name = z.string().describe('For example `personal-read-1h`.')

const limit = z.union([z.int(), z.literal('unlimited')])

const sharedLimit = z.object({
  name,
  limit,
  used: count,
  remaining: limit,
  resetAt: isoInstant.nullable(),
})

const topSubject = z.object({
  userId: z.string(),
  amount: count.describe('Tokens, or refusals.'),
  atLeast: count.describe('The certain part of it.'),
})

const byCategory = z.record(z.string(), z.array(topSubject))

/** Outcomes of requests in one step of time. */
const requestStep = z.object({ ts: isoInstant, calls: count, ...endings })

/** Outcomes of requests over the last day or week. */
export const requestHistoryDocument = z.object({ until: isoInstant, series: z.array(requestStep) })
export type RequestHistory = z.output<typeof requestHistoryDocument>

const figures = {
  at: isoInstant,
  process: z
    .object({ id: z.string(), since: isoInstant })
    .describe('The process that responded. It gets a new id with each start.'),
  requests: z.object({
    perSecond: z.number().min(0).describe('This process, over the last ten seconds.'),
    seconds: z.array(z.object(endings)).describe('This process: the last 60 whole seconds, the oldest first.'),
    minutes: z
      .array(requestStep)
      .nullable()
      .describe('All processes: the last 60 minutes, including the current one; `null`: the database is unavailable.'),
  }),
  refusals: z
    .object({ since: isoInstant, limits: z.array(z.object({ name, count })), degraded: count })
    .describe('This process. `degraded`: decisions by the failure policy, because the counters were unavailable.'),
  shared: z
    .array(sharedLimit)
    .nullable()
    .describe('Shared limits, of all processes; `null`: the counters are unavailable.'),
  disabled: z.array(z.string()).describe('Shared layers that are switched off, by name.'),
  adaptive: z
    .object({ mode: z.enum(MODES), isActive: z.boolean(), factor: z.number(), min: z.number(), max: z.number() })
    .describe('The last known factor of all processes.'),
  top: z
    .object({ since: isoInstant, spent: byCategory, refused: byCategory })
    .describe('This process: the users who spent the most and were refused the most, by category.'),
}

const settings = z.object({
  version: z.int(),
  faults: z
    .array(z.object({ path: z.string(), msg: z.string() }))
    .nullable()
    .describe('Stored values without effect; `null`: the database is unavailable.'),
})

export const overviewDocument = z.object({ ...figures, settings }).meta({ id: 'Overview' })
export type OverviewDocument = z.output<typeof overviewDocument>
