import { createQuota } from '@scoregw/quota'
import { quotaMiddleware } from '@scoregw/quota-fetch/hono'
import type { Context, Hono } from 'hono'
import { Hono as Hono40 } from 'hono40'
import { expect, test } from 'vitest'

const Oldest = Hono40 as unknown as typeof Hono

test('the oldest Hono of the range admits, settles, refuses, and gets the errors', async () => {
  const quota = createQuota({ limits: { api: { by: 'user', limit: 2, per: '1h' } } })
  const app = new Oldest()
  const subject = (c: Context): string => {
    if (c.req.query('user') === 'bad') throw new Error('no such user')
    return 'ann'
  }
  app.onError((error, c) => c.text(`got: ${error.message}`, 500))
  app.use('*', quotaMiddleware({ quota, subject, standardHeaders: 'draft-11', logger: false }))
  app.get('/served', (c) => c.text('served'))
  app.get('/thrown', () => {
    throw new Error('handler')
  })
  const ask = async (path: string): Promise<Response> => app.request(path)

  const first = await ask('/served')
  expect([first.status, await first.text()]).toEqual([200, 'served'])
  expect(first.headers.get('ratelimit')).toContain('r=1')
  // Failed requests are refunded.
  for (let i = 0; i < 3; i++) expect(await (await ask('/thrown')).text()).toBe('got: handler')
  expect(await (await ask('/served?user=bad')).text()).toBe('got: no such user')
  expect((await ask('/served')).status).toBe(200)
  const refused = await ask('/served')
  expect(refused.status).toBe(429)
  expect(refused.headers.get('ratelimit')).toContain('r=0')
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await refused.json()).toMatchObject({ retryable: true })
})
