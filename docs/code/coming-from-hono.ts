import { createQuota } from '@scoregw/quota'
import { quotaMiddleware } from '@scoregw/quota-fetch/hono'
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
    limits: { api: { by: 'user', limit, per: '15m' } },
  })
  const app = new Hono()
  app.use(
    quotaMiddleware({
      quota,
      subject: userOf,
      skip: (c) => c.req.path === '/health',
      standardHeaders: 'draft-10',
    }),
  )
  return app
}
