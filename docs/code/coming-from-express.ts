import {
  createQuota,
  defaultPolicy,
  quotaMiddleware,
} from '@scoregw/quota-express'
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
  const app = express()
  app.use(
    quotaMiddleware({
      quota,
      subject: userOf,
      operation: () => 'request',
      skip: (req) => req.path === '/health',
      standardHeaders: 'draft-10',
    }),
  )
  return app
}
