import * as z from 'zod'
import { type Route, route } from '../http/route.ts'
import { overviewDocument } from './documents.ts'
import type { LiveOverview } from './live-overview.ts'
import type { Overview } from './overview.ts'

/** What is going on, once or each second. */
export function overviewRoutes(overview: Overview, live: LiveOverview): Route[] {
  const tag = 'Administration'
  return [
    route({
      method: 'get',
      path: '/admin/overview',
      docs: {
        id: 'overview',
        tag,
        summary: 'What is going on',
        description:
          'Requests and how they end, refusals, what is left of shared limits, who spends and who is refused most. Each member says whether it is of one process or of all.',
      },
      access: 'admin',
      answer: overviewDocument,
      async handle() {
        return { body: await overview.read() }
      },
    }),
    route({
      method: 'get',
      path: '/admin/overview/events',
      docs: {
        id: 'overviewEvents',
        tag,
        summary: 'What is going on, each second',
        description:
          'Server-sent events `overview`, whose data is the JSON of `/admin/overview`: at once, and then each second. The stream ends after a minute, and when the service stops; whoever asks again shows the credential again.',
        errors: ['conflict'],
      },
      access: 'admin',
      answer: z.string(),
      answerType: 'text/event-stream',
      async handle() {
        return { stream: await live.open() }
      },
    }),
  ]
}
