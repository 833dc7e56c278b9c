import { createQuota } from '@scoregw/quota'
import { quotaMiddleware } from '@scoregw/quota-express'
import type express from 'express'
import express417 from 'express417'
import { expect, test } from 'vitest'
import { serve } from './support/server.ts'

const oldest = express417 as unknown as typeof express

test('the oldest Express of the range admits, settles, refuses, and gets the errors', async () => {
  const quota = createQuota({ limits: { api: { by: 'user', limit: 2, per: '1h' } } })
  const app = oldest()
  app.set('env', 'test')
  const subject = ({ query }: express.Request): string => {
    if (query.user === 'bad') throw new Error('no such user')
    return 'ann'
  }
  app.use(quotaMiddleware({ quota, subject, standardHeaders: 'draft-11', logger: false }))
  app.get('/served', (_req, res) => void res.send('served'))
  app.get('/failed', (_req, res) => void res.status(500).send('failed'))
  const answerError: express.ErrorRequestHandler = (error, _req, res, _next) => {
    res.status(500).send(`got: ${error.message}`)
  }
  app.use(answerError)
  const { ask } = await serve(app)

  const first = await ask('/served')
  expect([first.status, first.body]).toEqual([200, 'served'])
  expect(first.headers.ratelimit).toContain('r=1')
  // Failed requests are refunded.
  for (let i = 0; i < 3; i++) expect((await ask('/failed')).status).toBe(500)
  expect((await ask('/served?user=bad')).body).toBe('got: no such user')
  expect((await ask('/served')).status).toBe(200)
  const refused = await ask('/served')
  expect(refused.status).toBe(429)
  expect(refused.headers.ratelimit).toContain('r=0')
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
  expect(JSON.parse(refused.body)).toMatchObject({ retryable: true })
})
