import * as z from 'zod'
import { contextOf } from '../http/request-context.ts'
import { adminRoute, type Route } from '../http/route.ts'
import { overviewDocument, requestHistoryDocument } from './documents.ts'
import type { LiveOverview } from './live-overview.ts'
import type { Overview } from './overview.ts'

/** The step of each range. */
const RANGES = { '24h': { days: 1, bucketMinutes: 10 }, '7d': { days: 7, bucketMinutes: 60 } } as const

const historyQuery = z.object({ range: z.enum(['24h', '7d']).default('24h').describe('how far back') })

/** Routes for the overview (once, or every second) and for longer ranges. */
export function overviewRoutes(overview: Overview, live: LiveOverview): Route[] {
  return [
    adminRoute('GET /admin/overview', {
      id: 'overview',
      summary: 'Overview of the service',
      description:
        'Requests and their outcomes, refusals, what remains of shared limits, and the users who spend and are refused the most. Each member says whether it covers one process or all.',
      answer: overviewDocument,
      async handle() {
        return { body: await overview.read() }
      },
    }),
    adminRoute('GET /admin/overview/requests', {
      id: 'requestHistory',
      summary: 'Requests and their outcomes over the last day or week',
      description: 'All processes, in steps of 10 minutes or an hour. Steps without requests are included.',
      query: historyQuery,
      answer: requestHistoryDocument,
      async handle({ query: { range } }) {
        const { days, bucketMinutes } = RANGES[range]
        return { body: await overview.history(days, bucketMinutes) }
      },
    }),
    adminRoute('GET /admin/overview/events', {
      id: 'overviewEvents',
      summary: 'Overview of the service, every second',
      description:
        'Server-sent events `overview` with the JSON of `/admin/overview`, immediately and then every second. The stream ends after a minute, when the credential is revoked, and when the service stops. Reconnect with the credential.',
      errors: ['conflict'],
      answer: z.string(),
      answerType: 'text/event-stream',
      async handle({ req }) {
        const { identifyAgain } = contextOf(req)
        return { stream: await live.open(async () => (await identifyAgain())?.role === 'admin') }
      },
    }),
  ]
}
