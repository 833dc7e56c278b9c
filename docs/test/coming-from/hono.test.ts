import { createQuota, memoryStore } from '@scoregw/quota'
import { type QuotaAppOptions, quotaMiddleware } from '@scoregw/quota-fetch/hono'
import { Hono } from 'hono'
import { expect } from 'vitest'
import { one, rowsOf } from './rows.ts'

type Options = Partial<QuotaAppOptions<'request'>>

/** An app that answers with the status in its path, behind the middleware. */
function appOf(options: Options) {
  const app = new Hono()
  app.use(
    quotaMiddleware({
      quota: one(1),
      subject: (c) => c.req.header('x-user'),
      operation: () => 'request',
      ...options,
    }),
  )
  app.get('/:status', (c) => c.body('done', Number(c.req.param('status')) as 200))
  return (status = 200, user = 'ann') => app.request(`/${status}`, { headers: { 'x-user': user } })
}

async function statuses(ask: ReturnType<typeof appOf>, ...asked: readonly number[]) {
  const found: number[] = []
  for (const each of asked) found.push((await ask(each)).status)
  return found
}

rowsOf('hono-rate-limiter', {
  async 'windowMs, limit'() {
    const ask = appOf({})
    expect(await statuses(ask, 200, 200)).toEqual([200, 429])
    expect((await ask()).headers.get('retry-after')).toBe('900')
  },
  async keyGenerator() {
    const ask = appOf({ subject: undefined, anonymous: 'ip', address: () => '203.0.113.7' })
    expect([(await ask(200, 'ann')).status, (await ask(200, 'bob')).status]).toEqual([200, 429])
  },
  async 'handler, message, statusCode'() {
    const own = appOf({ handler: (c, { decision }) => c.text(decision.refusedBy.name, 420 as 429) })
    await own()
    const refused = await own()
    expect([refused.status, await refused.text()]).toEqual([420, 'api'])
    const texts = appOf({ messages: { en: { exceeded: () => 'Too much.' } } })
    await texts()
    expect(await (await texts()).json()).toMatchObject({ msg: 'Too much.' })
  },
  async "standardHeaders: 'draft-7'"() {
    expect((await appOf({ standardHeaders: 'draft-10' })()).headers.get('ratelimit')).toBe('"api";r=0;t=900')
  },
  async skip() {
    expect(await statuses(appOf({ skip: (c) => c.req.path === '/202' }), 202, 202, 200, 200)).toEqual([
      202, 202, 200, 429,
    ])
  },
  async 'skipFailedRequests: true'() {
    expect(await statuses(appOf({}), 500, 404, 200, 200)).toEqual([500, 404, 200, 429])
  },
  async skipSuccessfulRequests() {
    expect(await statuses(appOf({ settle: 'failures' }), 200, 200, 401, 401)).toEqual([200, 200, 401, 429])
  },
  async requestWasSuccessful() {
    const ask = appOf({ settle: 'failures', isFailure: (status) => status === 418 })
    expect(await statuses(ask, 401, 418, 200)).toEqual([401, 418, 429])
  },
  async requestPropertyName() {
    const app = new Hono<{ Variables: { limit: { decision: { allowed: boolean } } } }>()
    app.use(quotaMiddleware({ quota: one(1), subject: () => 'ann', variable: 'limit' }))
    app.get('/', (c) => c.json(c.get('limit').decision.allowed))
    expect(await (await app.request('/')).json()).toBe(true)
  },
  async store() {
    const limits = { api: { by: 'user', limit: 1, per: '15m' } } as const
    expect(await statuses(appOf({ quota: createQuota({ limits, store: memoryStore() }) }), 200, 200)).toEqual([
      200, 429,
    ])
  },
  async "c.get('rateLimitStore')"() {
    const quota = one(1)
    const ask = appOf({ quota })
    await ask()
    expect((await quota.status('ann')).limits.api?.used).toBe(1)
    await quota.reset('ann')
    expect(await statuses(ask, 200)).toEqual([200])
  },
})
