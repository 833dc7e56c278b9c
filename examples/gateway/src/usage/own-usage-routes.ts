import type { Clock } from '@scoregw/quota'
import * as z from 'zod'
import { dayText, lastBeijingDays } from '../beijing-day.ts'
import { envelope, type Route, success, userRoute } from '../http/route.ts'
import { CURSOR_ERROR, instantText, isoInstant, pageLimit, pageOf, queryNumber, toPage } from '../http/schemas.ts'
import { findPlace } from '../quota/names.ts'
import type { UsageRecorder } from './usage-recorder.ts'
import { refusalOf, type UsageCursor, type UsageRecord, type UsageRecords } from './usage-records.ts'

const cursor = z
  .string(CURSOR_ERROR)
  .regex(/^\d{1,15}\.[0-9a-f-]{36}$/, CURSOR_ERROR)
  .transform((text): UsageCursor => {
    const [at, id = ''] = text.split('.')
    return { at: Number(at), id }
  })

const pageQuery = z.object({
  cursor: cursor.optional().describe('`nextCursor` of the previous page.'),
  limit: pageLimit.describe('The largest number of requests on the page.'),
})

const statsQuery = z.object({ days: queryNumber(1, 30, 7).describe('How many days, including today.') })

const tokens = z.int().min(0)

const ownRequest = z.object({
  at: isoInstant.describe('When it was decided.'),
  operation: z.string(),
  category: z.string(),
  tokens: tokens.describe('The final charge.'),
  status: z.int().describe('The HTTP status; 499: the client disconnected before the response.'),
  error: z.string().nullable().describe("The response's `error`; `null`: none."),
  refusal: z
    .object({
      scope: z.string(),
      window: z.string(),
      limit: tokens,
      used: tokens,
      requested: tokens,
      resetAt: isoInstant,
    })
    .nullable()
    .describe('The limit that refused it; `null`: none, or one that is no longer there.'),
})

const sums = {
  requests: z.int().min(0),
  tokens,
  failures: z.int().min(0).describe('Responses with status 400 and above.'),
}

const stats = z.object({
  days: z.int(),
  timeZone: z.literal('Asia/Shanghai'),
  series: z.array(z.object({ date: z.iso.date(), ...sums })).describe('Each day, the oldest first.'),
  summary: z.object(sums),
})

export interface OwnUsageOptions {
  readonly records: UsageRecords
  readonly recorder: UsageRecorder
  readonly clock: Clock
}

/** Routes for the caller's requests and their outcomes. Free. */
export function ownUsageRoutes({ records, recorder, clock }: OwnUsageOptions): Route[] {
  return [
    userRoute('GET /me/usage', {
      id: 'ownUsage',
      tag: 'Quota',
      summary: "The caller's last requests, the newest first",
      description:
        'Metered requests of the last 30 days, at most 1,000: time, operation, outcome, charge, and the limit that refused. Follow `nextCursor` until it is `null`.',
      query: pageQuery,
      answer: envelope(pageOf(ownRequest)),
      async handle({ user, query: { cursor: behind, limit } }) {
        // Include the requests of this process up to now.
        await recorder.flush()
        const rows = await records.page(user.id, behind, limit + 1)
        const { items, nextCursor } = toPage(rows, limit, ({ at, id }) => `${at}.${id}`)
        return { body: success({ items: items.map(shown), nextCursor }) }
      },
    }),
    userRoute('GET /me/usage/stats', {
      id: 'ownUsageStats',
      tag: 'Quota',
      summary: "Outcomes of the caller's requests, day by day",
      description: 'Metered requests, tokens and failures per day in Beijing. Days without requests have zeros.',
      query: statsQuery,
      answer: envelope(stats),
      async handle({ user, query: { days } }) {
        await recorder.flush()
        const wanted = lastBeijingDays(clock.now(), days)
        const stored = new Map((await records.days(user.id, wanted[0] ?? 0)).map((each) => [each.day, each]))
        const series = wanted.map((day) => {
          const { requests = 0, tokens = 0, failures = 0 } = stored.get(day) ?? {}
          return { date: dayText(day), requests, tokens, failures }
        })
        const summary = { requests: 0, tokens: 0, failures: 0 }
        for (const each of series) {
          summary.requests += each.requests
          summary.tokens += each.tokens
          summary.failures += each.failures
        }
        return { body: success({ days, timeZone: 'Asia/Shanghai' as const, series, summary }) }
      },
    }),
  ]
}

function shown(record: UsageRecord): z.output<typeof ownRequest> {
  const { at, operation, category, charged, status, error } = record
  return { at: instantText(at), operation, category, tokens: charged, status, error, refusal: refusalShown(record) }
}

/** Leaves out a limit that had another name when it refused: nothing says any more where it was. */
function refusalShown(record: UsageRecord): z.output<typeof ownRequest>['refusal'] {
  const refusal = refusalOf(record)
  const place = refusal && findPlace(refusal.name)
  if (!refusal || !place) return null
  const { name: _, ...amounts } = refusal
  return { scope: place.scope, window: place.window, ...amounts }
}
