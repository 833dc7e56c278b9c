import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Registry } from 'prom-client'
import * as z from 'zod'
import { type Route, route } from '../http/route.ts'

/** Metrics for administrators, for gateways whose metrics have no port of their own. */
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

/** Serves `GET /metrics` to anyone who can reach its port. */
export function metricsHandler(registry: Registry): RequestListener {
  return (req, res) => {
    answer(registry, req, res).catch(() => res.writeHead(500).end())
  }
}

async function answer(registry: Registry, { method, url }: IncomingMessage, res: ServerResponse): Promise<void> {
  if (url !== '/metrics') {
    res.writeHead(404).end()
    return
  }
  if (method !== 'GET') {
    res.writeHead(405, { Allow: 'GET' }).end()
    return
  }
  const text = await registry.metrics()
  res.writeHead(200, { 'Content-Type': registry.contentType }).end(text)
}
