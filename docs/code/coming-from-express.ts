import { createQuota } from '@scoregw/quota'
import { quotaMiddleware } from '@scoregw/quota-express'
import express, { type Express, type Request } from 'express'
import { rateLimit } from 'express-rate-limit'

const userOf = (req: Request): string => req.get('x-user') ?? 'nobody'

export function before(limit: number): Express {
  const app = express()
  app.use(
    rateLimit({
      windowMs: 15 * 60_000,
      limit,
      keyGenerator: userOf,
      skip: (req) => req.path === '/health',
      skipFailedRequests: true,
      standardHeaders: 'draft-8',
      legacyHeaders: false,
    }),
  )
  return app
}

export function after(limit: number): Express {
  const quota = createQuota({
    limits: { api: { by: 'user', limit, per: '15m' } },
  })
  const app = express()
  app.use(
    quotaMiddleware({
      quota,
      subject: userOf,
      skip: (req) => req.path === '/health',
      standardHeaders: 'draft-10',
    }),
  )
  return app
}
