import type { SimpleQuota } from '@scoregw/quota'
import { quotaMiddleware } from '@scoregw/quota-express'
import express, { type Express } from 'express'

/** Takes the quota from outside, so that each test makes its own. */
export function createApp(quota: SimpleQuota): Express {
  const app = express()
  app.use(
    quotaMiddleware({ quota, subject: (req) => req.get('X-User') }),
  )
  app.get('/scores', (_req, res) => void res.json([871]))
  app.get('/missing', (_req, res) => void res.sendStatus(404))
  return app
}
