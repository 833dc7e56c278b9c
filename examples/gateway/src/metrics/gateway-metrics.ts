import type { Quota } from '@scoregw/quota'
import { registerQuotaMetrics } from '@scoregw/quota/prometheus'
import type { LeaseReport } from '@scoregw/quota-redis/leases'
import type { Request, RequestHandler } from 'express'
import { Histogram, Registry } from 'prom-client'
import type { OperationName } from '../quota/policy.ts'
import { registerLeaseMetrics } from './lease-metrics.ts'

/** Seconds: from a quick answer to a source that takes its time. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** What Prometheus reads of a gateway. */
export interface GatewayMetrics {
  readonly registry: Registry
  /** Measures every request. */
  readonly observe: RequestHandler
  /** Ends the counting. */
  close(): void
}

/** Requests by method, route and status, and everything that the quota decides; what leases came to, where there are some. */
export function gatewayMetrics(quota: Quota<OperationName>, leases?: () => LeaseReport): GatewayMetrics {
  const registry = new Registry()
  const close = registerQuotaMetrics({ quota, registry })
  if (leases !== undefined) registerLeaseMetrics(leases, registry)
  const duration = new Histogram({
    name: 'http_server_request_duration_seconds',
    help: 'How long requests took, by route; those that match no route are one.',
    labelNames: ['method', 'route', 'status'],
    buckets: BUCKETS,
    registers: [registry],
  })
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

/** The path as the route has it, never as it came: a label has few values. */
function routeOf(req: Request): string {
  const route = req.route as { readonly path?: unknown } | undefined
  return typeof route?.path === 'string' ? route.path : 'none'
}
