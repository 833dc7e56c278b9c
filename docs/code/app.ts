import type { Quota } from '@scoregw/quota'
import { quotaMiddleware } from '@scoregw/quota-express'
import express, { type Express } from 'express'

/** Takes the quota from outside, so that each test makes its own. */
export function createApp(quota: Quota<'request'>): Express {
  const app = express()
  app.use(
    quotaMiddleware({
      quota,
      operation: () => 'request',
      subject: (req) => req.get('X-User'),
    }),
  )
  app.get('/scores', (_req, res) => void res.json([871]))
  app.get('/missing', (_req, res) => void res.sendStatus(404))
  return app
}
