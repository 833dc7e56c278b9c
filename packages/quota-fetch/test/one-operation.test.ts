import { createQuota } from '@scoregw/quota'
import { quotaFetch } from '@scoregw/quota-fetch'
import { quotaMiddleware } from '@scoregw/quota-fetch/hono'
import { Hono } from 'hono'
import { expect, test } from 'vitest'

async function statusesOf(ask: () => Response | Promise<Response>): Promise<number[]> {
  const statuses: number[] = []
  for (let count = 0; count < 3; count++) statuses.push((await ask()).status)
  return statuses
}

test('an engine with one operation wraps any fetch handler', async () => {
  const metered = quotaFetch({
    quota: createQuota({ limits: { api: { by: 'user', limit: 2, per: '1h' } } }),
    subject: () => 'u1',
  })
  const handler = metered(() => new Response('ok'))
  expect(await statusesOf(() => handler(new Request('http://localhost/')))).toEqual([200, 200, 429])
})

test('an engine with one operation meters a whole Hono app', async () => {
  const app = new Hono()
  app.use(
    quotaMiddleware({
      quota: createQuota({ limits: { api: { by: 'user', limit: 2, per: '1h' } } }),
      subject: () => 'u1',
    }),
  )
  app.get('/', (c) => c.text('ok'))
  expect(await statusesOf(() => app.request('/'))).toEqual([200, 200, 429])
})
