import { createQuota, definePolicy } from '@scoregw/quota'
import { quotaFetch, quotaOf } from '@scoregw/quota-fetch'
import { quotaMiddleware } from '@scoregw/quota-fetch/hono'
import { Hono } from 'hono'
import { expect, it } from 'vitest'

const policy = definePolicy({
  limits: {
    calls: { by: 'user', limit: 10, per: '1m' },
    tokens: { by: 'user', limit: 1_000, of: 'tokens', per: '1m' },
  },
  operations: { complete: { cost: { tokens: 100 } } },
})

function used(quota: ReturnType<typeof engine>) {
  return Object.values(quota.statusSync('ann').limits).map((each) => each.used)
}

function engine() {
  return createQuota({ policy })
}

it('a fetch handler commits amounts of several units', async () => {
  const quota = engine()
  const metered = quotaFetch({ quota, subject: () => 'ann', settle: 'end', cost: () => ({ tokens: 400 }) })
  const handler = metered.operation('complete')(async (request: Request) => {
    expect(used(quota)).toEqual([1, 400])
    await quotaOf(request)?.commit({ tokens: 30 } as never)
    return new Response('done')
  })
  expect(await (await handler(new Request('http://a/'))).text()).toBe('done')
  expect(used(quota)).toEqual([1, 30])
  // @ts-expect-error no such unit
  expect(() => quotaFetch({ quota, subject: () => 'ann', cost: { token: 5 } })).toThrow(/not a unit: "token"/)
})

it('a Hono handler commits amounts of several units', async () => {
  const quota = engine()
  const metered = quotaMiddleware({ quota, subject: () => 'ann', settle: 'end', cost: { tokens: 400 } })
  const app = new Hono()
  app.get('/', metered.operation('complete'), async (c) => {
    await c.get('quota')?.commit({ tokens: 30 } as never)
    return c.text('done')
  })
  expect(await (await app.request('/')).text()).toBe('done')
  expect(used(quota)).toEqual([1, 30])
})
