import { createQuota, memoryStore } from '@scoregw/quota'
import { type QuotaAppOptions, quotaMiddleware } from '@scoregw/quota-express'
import express from 'express'
import request from 'supertest'
import { expect } from 'vitest'
import { downStore, one, rowsOf, testClock } from './rows.ts'

type Options = Partial<QuotaAppOptions<'request'>>

/** An app that answers with the status in its path, behind the middleware. */
function appOf(options: Options) {
  const app = express().set('trust proxy', 1)
  app.use(
    quotaMiddleware({
      quota: one(1),
      subject: (req) => req.get('x-user'),
      operation: () => 'request',
      ...options,
    }),
  )
  app.get('/:status', (req, res) => void res.sendStatus(Number(req.params.status)))
  return (status = 200, headers: Readonly<Record<string, string>> = {}) =>
    request(app)
      .get(`/${status}`)
      .set({ 'x-user': 'ann', ...headers })
}

/** The statuses of some requests, one after the other. */
async function statuses(ask: ReturnType<typeof appOf>, ...asked: readonly Parameters<typeof ask>[]) {
  const found: number[] = []
  for (const each of asked) found.push((await ask(...each)).status)
  return found
}

rowsOf('express-rate-limit', {
  async windowMs() {
    const clock = testClock()
    const quota = createQuota({
      clock,
      limits: { api: { by: 'user', limit: 1, per: '15m' }, day: { by: 'user', limit: 2, per: '1d' } },
    })
    const ask = appOf({ quota })
    expect(await statuses(ask, [], [])).toEqual([200, 429])
    clock.advance(15 * 60_000)
    expect(await statuses(ask, [])).toEqual([200])
    clock.advance(15 * 60_000)
    expect((await ask()).headers['retry-after']).toBe(String(86_400 - 30 * 60))
  },
  async 'limit, max'() {
    const quota = one(1)
    await quota.subjects.set('bob', { limits: { api: 2 } })
    expect(await statuses(appOf({ quota }), [], [])).toEqual([200, 429])
    const bob = { 'x-user': 'bob' }
    expect(await statuses(appOf({ quota }), [200, bob], [200, bob], [200, bob])).toEqual([200, 200, 429])
  },
  async 'limit: (req) => ...'() {
    const ask = appOf({ limits: async (req) => ({ api: req.get('x-paid') === '1' ? 2 : null }) })
    expect(await statuses(ask, [], [], [200, { 'x-paid': '1' }])).toEqual([200, 429, 200])
  },
  async keyGenerator() {
    expect(await statuses(appOf({}), [], [200, { 'x-user': 'bob' }], [])).toEqual([200, 200, 429])
    const byAddress = appOf({ subject: undefined, anonymous: 'ip' })
    expect(await statuses(byAddress, [], [200, { 'x-user': 'bob' }])).toEqual([200, 429])
  },
  async ipv6Subnet() {
    const ask = appOf({ subject: undefined, anonymous: 'ip', ipv6Subnet: 64 })
    const from = (address: string) => [200, { 'x-forwarded-for': address }] as const
    expect(await statuses(ask, [...from('2001:db8:0:1::1')], [...from('2001:db8:0:1::2')])).toEqual([200, 429])
    expect(await statuses(ask, [...from('2001:db8:0:2::1')])).toEqual([200])
  },
  async handler() {
    const ask = appOf({
      handler: (_req, res, _next, { decision }) => res.status(420).send(decision.refusedBy.name),
      onUnauthenticated: (_req, res) => res.status(403).send('who'),
    })
    await ask()
    expect(await ask()).toMatchObject({ status: 420, text: 'api' })
    expect(await ask(200, { 'x-user': '' })).toMatchObject({ status: 403, text: 'who' })
    const down = createQuota({
      limits: { api: { by: 'user', limit: 1, per: '15m' } },
      store: downStore(),
      logger: false,
    })
    const onUnavailable = appOf({
      quota: down,
      onUnavailable: (_req, res) => res.status(502).send('later'),
      logger: false,
    })
    expect(await onUnavailable()).toMatchObject({ status: 502, text: 'later' })
  },
  async 'message, statusCode'() {
    const ask = appOf({ messages: { en: { exceeded: () => 'Too much.' } } })
    await ask()
    expect((await ask()).body).toMatchObject({ msg: 'Too much.' })
  },
  async "standardHeaders: 'draft-8'"() {
    const { headers } = await appOf({ standardHeaders: 'draft-10' })()
    expect(headers.ratelimit).toBe('"api";r=0;t=900')
    expect(headers['ratelimit-policy']).toBe('"api";q=1;w=900')
  },
  async legacyHeaders() {
    const { headers } = await appOf({ legacyHeaders: true })()
    expect(headers).toMatchObject({ 'x-ratelimit-limit': '1', 'x-ratelimit-remaining': '0' })
    expect((await appOf({})()).headers).not.toHaveProperty('x-ratelimit-limit')
  },
  async identifier() {
    const quota = createQuota({ limits: { 'api/v1': { by: 'user', limit: 5, per: '1m' } }, clock: testClock() })
    expect((await appOf({ quota, standardHeaders: 'draft-10' })()).headers.ratelimit).toContain('"api/v1"')
  },
  async skip() {
    const ask = appOf({ skip: (req) => req.path === '/204' })
    expect(await statuses(ask, [204], [204], [200], [200])).toEqual([204, 204, 200, 429])
  },
  async 'skipFailedRequests: true'() {
    expect(await statuses(appOf({ settle: 'outcome' }), [500], [404], [200], [200])).toEqual([500, 404, 200, 429])
  },
  async 'skipFailedRequests: false'() {
    expect(await statuses(appOf({ settle: 'charge-first' }), [500], [200])).toEqual([500, 429])
  },
  async skipSuccessfulRequests() {
    expect(await statuses(appOf({ settle: 'failures' }), [200], [200], [401], [401])).toEqual([200, 200, 401, 429])
  },
  async requestWasSuccessful() {
    const ask = appOf({ settle: 'failures', isFailure: (status) => status === 418 })
    expect(await statuses(ask, [401], [418], [200])).toEqual([401, 418, 429])
  },
  async 'passOnStoreError: true'() {
    const limits = { api: { by: 'user', limit: 1, per: '15m' } } as const
    const quota = createQuota({ limits, store: downStore(), failurePolicy: { request: 'open' }, logger: false })
    expect(await statuses(appOf({ quota, logger: false }), [], [])).toEqual([200, 200])
  },
  async 'passOnStoreError: false'() {
    const limits = { api: { by: 'user', limit: 1, per: '15m' } } as const
    const quota = createQuota({ limits, store: downStore(), logger: false })
    expect(await statuses(appOf({ quota, logger: false }), [])).toEqual([503])
  },
  async 'requestPropertyName (req.rateLimit)'() {
    const metered = quotaMiddleware({ quota: one(5), subject: () => 'ann', requestPropertyName: 'limit' })
    const app = express().use(metered, (req, res) => {
      const { decision } = (req as unknown as { limit: { decision: { limits: { api: { remaining: number } } } } }).limit
      res.send(String(decision.limits.api.remaining))
    })
    expect((await request(app).get('/')).text).toBe('4')
  },
  async store() {
    const limits = { api: { by: 'user', limit: 1, per: '15m' } } as const
    const quota = createQuota({ limits, store: memoryStore({ maxSubjects: 5 }) })
    expect(await statuses(appOf({ quota }), [], [])).toEqual([200, 429])
  },
  async validate() {
    const logged: string[] = []
    const warn = (message: string) => void logged.push(message)
    const address = { subject: undefined, anonymous: 'ip', logger: { warn, error: warn } } as const
    const proxied = [200, { 'x-forwarded-for': '203.0.113.7' }] as const
    const app = (options: Options) => {
      const untrusting = express().use(
        quotaMiddleware({ quota: one(5), operation: () => 'request', ...address, ...options }),
        (_req, res) => {
          res.send('ok')
        },
      )
      return request(untrusting).get('/').set(proxied[1])
    }
    await app({ validate: false })
    expect(logged).toEqual([])
    await app({})
    expect(logged.join()).toContain('trust proxy')
  },
  async 'resetKey(key), getKey(key)'() {
    const quota = one(1)
    const ask = appOf({ quota })
    await ask()
    expect((await quota.status('ann')).limits.api?.used).toBe(1)
    await quota.reset('ann')
    expect(await statuses(ask, [])).toEqual([200])
  },
})
