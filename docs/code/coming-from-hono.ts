import {
  createQuota,
  defaultPolicy,
  quotaMiddleware,
} from '@scoregw/quota-fetch/hono'
import { type Context, Hono } from 'hono'
import { rateLimiter } from 'hono-rate-limiter'

const userOf = (c: Context): string =>
  c.req.header('x-user') ?? 'nobody'

export function before(limit: number): Hono {
  const app = new Hono()
  app.use(
    rateLimiter({
      windowMs: 15 * 60_000,
      limit,
      keyGenerator: userOf,
      skip: (c) => c.req.path === '/health',
      skipFailedRequests: true,
      standardHeaders: 'draft-7',
    }),
  )
  return app
}

export function after(limit: number): Hono {
  const quota = createQuota({
    policy: {
      ...defaultPolicy({
        operations: { request: { category: 'read', cost: 1 } },
      }),
      windows: [{ label: '15m', lengthMs: 15 * 60_000 }],
      categories: ['read'],
      layers: [{ name: 'personal', scope: 'Personal', shared: false }],
      base: { personal: { read: { '15m': limit } } },
    },
  })
  const app = new Hono()
  app.use(
    quotaMiddleware({
      quota,
      subject: userOf,
      operation: () => 'request',
      skip: (c) => c.req.path === '/health',
      standardHeaders: 'draft-10',
    }),
  )
  return app
}
