import type { RequestListener } from 'node:http'
import { registerQuotaMetrics } from '@scoregw/quota/prometheus'
import type { Request, RequestHandler } from 'express'
import { Counter, Histogram, Registry } from 'prom-client'
import * as z from 'zod'
import { adminRoute, type Route } from '../http/route.ts'
import type { GatewayQuota } from '../quota/policy.ts'

/** Seconds: from fast responses to slow score services. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** The metrics of a gateway for Prometheus. */
export interface GatewayMetrics {
  readonly registry: Registry
  /** Measures the duration of each request. */
  readonly observe: RequestHandler
  /** Stops counting. */
  close(): void
}

/**
 * Makes metrics of requests by method, route and status, of the quota's decisions, and of usage records that were
 * dropped. The last are read when Prometheus scrapes.
 */
export function gatewayMetrics(quota: GatewayQuota, usage: { readonly dropped: number }): GatewayMetrics {
  const registry = new Registry()
  const close = registerQuotaMetrics({ quota, registry })
  const duration = new Histogram({
    name: 'http_server_request_duration_seconds',
    help: 'Duration of requests by route. Those without a route share one label.',
    labelNames: ['method', 'route', 'status'],
    buckets: BUCKETS,
    registers: [registry],
  })
  const dropped = new Counter({
    name: 'score_gateway_usage_records_dropped_total',
    help: 'Metered requests that were not recorded because too many were waiting for the database',
    registers: [],
    collect() {
      this.reset()
      this.inc(usage.dropped)
    },
  })
  registry.registerMetric(dropped)
  return {
    registry,
    close,
    observe(req, res, next) {
      const end = duration.startTimer()
      res.once('close', () => end({ method: req.method, route: routeOf(req), status: res.statusCode }))
      next()
    },
  }
}

/** The route's path and not the request's, because a label must have few values. */
function routeOf(req: Request): string {
  const route = req.route as { readonly path?: unknown } | undefined
  return typeof route?.path === 'string' ? route.path : 'none'
}

/** Metrics for administrators, for gateways whose metrics have no port of their own. */
export function metricsRoutes(registry: Registry): Route[] {
  return [
    adminRoute('GET /metrics', {
      id: 'metrics',
      summary: 'Metrics for Prometheus',
      description: 'In the text format of Prometheus.',
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
  return ({ method, url }, res) => {
    if (url !== '/metrics') return void res.writeHead(404).end()
    if (method !== 'GET') return void res.writeHead(405, { Allow: 'GET' }).end()
    registry.metrics().then(
      (text) => res.writeHead(200, { 'Content-Type': registry.contentType }).end(text),
      () => res.writeHead(500).end(),
    )
  }
}
