import { createQuota, memoryStore, type Quota } from '@scoregw/quota'
import { type QuotaFastifyOptions, quotaFastify } from '@scoregw/quota-fastify'
import fastify from 'fastify'
import { expect, onTestFinished } from 'vitest'
import { downStore, one, rowsOf, testClock } from './rows.ts'

const LIMITS = { api: { by: 'user', limit: 1, per: '15m' } } as const

/** An app with routes that answer, fail, and aren't metered. */
async function appOf(options: Partial<QuotaFastifyOptions>) {
  const app = fastify()
  onTestFinished(() => app.close())
  const quota: Quota = one(1)
  await app.register(quotaFastify, { quota, subject: ({ headers }) => headers['x-user']?.toString(), ...options })
  app.get('/works', () => 'done')
  app.get('/health', { config: { quota: false } }, () => 'ok')
  const read = Object.hasOwn((options.quota ?? quota).policy.operations, 'read')
  app.get('/read', read ? { config: { quota: 'read' } } : {}, () => 'read')
  return (url = '/works', headers: Readonly<Record<string, string>> = {}) =>
    app.inject({ url, headers: { 'x-user': 'ann', ...headers } })
}

async function statuses(ask: Awaited<ReturnType<typeof appOf>>, ...urls: readonly (string | undefined)[]) {
  const found: number[] = []
  for (const url of urls) found.push((await ask(url)).statusCode)
  return found
}

rowsOf('@fastify/rate-limit', {
  async max() {
    const quota = one(1)
    await quota.subjects.set('bob', { limits: { api: 2 } })
    const ask = await appOf({ quota })
    expect(await statuses(ask, '/works', '/works')).toEqual([200, 429])
    for (const status of [200, 200, 429]) expect((await ask('/works', { 'x-user': 'bob' })).statusCode).toBe(status)
  },
  async 'max: (request) => ...'() {
    const ask = await appOf({ limits: ({ headers }) => ({ api: headers['x-paid'] === '1' ? 2 : null }) })
    expect(await statuses(ask, '/works', '/works')).toEqual([200, 429])
    expect((await ask('/works', { 'x-paid': '1' })).statusCode).toBe(200)
  },
  async timeWindow() {
    const clock = testClock()
    const ask = await appOf({ quota: createQuota({ limits: LIMITS, clock }) })
    expect(await statuses(ask, '/works', '/works')).toEqual([200, 429])
    clock.advance(15 * 60_000)
    expect(await statuses(ask, '/works')).toEqual([200])
  },
  async 'global: true'() {
    expect(await statuses(await appOf({}), '/works', '/works')).toEqual([200, 429])
  },
  async 'global: false, config: { rateLimit: { ... } }'() {
    const quota: Quota = createQuota({ limits: LIMITS, operations: { read: {}, write: {} } })
    expect(await statuses(await appOf({ quota }), '/works', '/works', '/read', '/read')).toEqual([200, 200, 200, 429])
  },
  async 'config: { rateLimit: false }'() {
    expect(await statuses(await appOf({}), '/works', '/health', '/works')).toEqual([200, 200, 429])
  },
  async keyGenerator() {
    const byAddress = await appOf({ subject: undefined, anonymous: 'ip' })
    expect((await byAddress()).statusCode).toBe(200)
    expect((await byAddress('/works', { 'x-user': 'bob' })).statusCode).toBe(429)
  },
  async allowList() {
    const ask = await appOf({ skip: ({ headers }) => headers['x-user'] === 'probe' })
    for (let i = 0; i < 3; i++) expect((await ask('/works', { 'x-user': 'probe' })).statusCode).toBe(200)
  },
  async hook() {
    expect(await statuses(await appOf({ hook: 'onRequest' }), '/works', '/works')).toEqual([200, 429])
  },
  async errorResponseBuilder() {
    const texts = await appOf({ messages: { en: { exceeded: () => 'Too much.' } } })
    await texts()
    expect((await texts()).json()).toMatchObject({ msg: 'Too much.' })
    const own = await appOf({ handler: (_request, reply) => reply.code(420).send('calm') })
    await own()
    expect(await own()).toMatchObject({ statusCode: 420, body: 'calm' })
  },
  async 'onExceeding, onExceeded'() {
    const quota = one(5)
    const heard: string[] = []
    quota.on('nearLimit', ({ limit }) => void heard.push(`near ${limit.name}`))
    quota.on('refused', ({ refusedBy }) => void heard.push(`refused ${refusedBy.name}`))
    await statuses(await appOf({ quota, settle: 'charge-first' }), ...Array<string>(6).fill('/works'))
    expect(heard).toEqual(['near api', 'refused api'])
  },
  async ban() {
    const clock = testClock()
    const quota: Quota = createQuota({ limits: { ...LIMITS, day: { by: 'user', limit: 2, per: '1d' } }, clock })
    const ask = await appOf({ quota })
    expect(await statuses(ask, '/works')).toEqual([200])
    clock.advance(15 * 60_000)
    expect(await statuses(ask, '/works')).toEqual([200])
    clock.advance(15 * 60_000)
    expect(Number((await ask()).headers['retry-after'])).toBeGreaterThan(80_000)
  },
  async skipOnError() {
    const quota: Quota = createQuota({
      limits: LIMITS,
      store: downStore(),
      failurePolicy: { request: 'open' },
      logger: false,
    })
    expect(await statuses(await appOf({ quota, logger: false }), '/works', '/works')).toEqual([200, 200])
  },
  async 'redis, store'() {
    const quota: Quota = createQuota({ limits: LIMITS, store: memoryStore() })
    expect(await statuses(await appOf({ quota }), '/works', '/works')).toEqual([200, 429])
  },
  async cache() {
    const quota: Quota = createQuota({ limits: LIMITS, store: memoryStore({ maxSubjects: 1 }), logger: false })
    const ask = await appOf({ quota, logger: false })
    expect((await ask()).statusCode).toBe(200)
    expect((await ask('/works', { 'x-user': 'bob' })).statusCode).toBe(503)
    expect((await ask()).statusCode).toBe(429)
  },
  async 'continueExceeding, exponentialBackoff'() {
    const limits = { ...LIMITS, hour: { by: 'user', limit: 1, per: '1h' } } as const
    const ask = await appOf({ quota: createQuota({ limits, clock: testClock() }) as Quota })
    await ask()
    expect((await ask()).headers['retry-after']).toBe('3600')
  },
  async enableDraftSpec() {
    const ask = await appOf({ standardHeaders: 'draft-10' })
    expect((await ask()).headers).toMatchObject({ ratelimit: expect.stringContaining('"api";r=0') })
  },
  async 'addHeaders, addHeadersOnExceeding'() {
    const { headers } = await (await appOf({ legacyHeaders: true }))()
    expect(headers).toMatchObject({ 'x-ratelimit-limit': '1', 'x-ratelimit-remaining': '0' })
    expect(Number(headers['x-ratelimit-reset'])).toBeGreaterThan(1_000_000_000)
  },
  async 'app.createRateLimit()'() {
    const quota = one(1)
    expect((await quota.peek({ subject: 'ann' })).allowed).toBe(true)
    expect((await quota.consume({ subject: 'ann' })).allowed).toBe(true)
    expect((await quota.peek({ subject: 'ann' })).allowed).toBe(false)
  },
})
