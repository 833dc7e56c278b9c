import type { Registry } from 'prom-client'
import * as z from 'zod'
import { type Route, route } from '../http/route.ts'

/** The metrics behind the administrators' credential: for where they have no port of their own. */
export function metricsRoutes(registry: Registry): Route[] {
  return [
    route({
      method: 'get',
      path: '/metrics',
      docs: {
        id: 'metrics',
        tag: 'Administration',
        summary: 'Metrics for Prometheus',
        description: 'In the text format of Prometheus.',
      },
      access: 'admin',
      answer: z.string(),
      answerType: 'text/plain',
      async handle() {
        return { body: await registry.metrics() }
      },
    }),
  ]
}
