import { once } from 'node:events'
import { createQuota } from '@scoregw/quota'
import { ipSubject, type QuotaAppOptions, quotaErrorHandler, quotaMiddleware } from '@scoregw/quota-express'
import express, { type NextFunction, type Request, type Response } from 'express'
import { describe, expect, test } from 'vitest'
import { listening, type Operation, syncQuota, type Tokens, used } from './support/engine.ts'
import { MATRIX } from './support/matrix.ts'
import { latch, serve } from './support/server.ts'

describe.each(MATRIX)('metered requests: $title', ({ express, engine }) => {
  async function setUp(options: Partial<QuotaAppOptions<Operation, Tokens>> = {}) {
    const quota = engine()
    const app = express()
    app.use(express.json())
    app.use(
      quotaMiddleware({
        quota,
        subject: (req) => req.get('x-user'),
        operation: (req) => (req.path === '/save' ? 'save' : undefined),
        ...options,
      }),
    )
    app.use((req, res) => void res.json(req.quota?.decision ?? null))
    return { quota, ...(await serve(app)) }
  }

  const u1 = { headers: { 'X-User': 'u1' } }

  test('a request isn’t metered if operation() returns undefined', async () => {
    const { ask, quota } = await setUp()
    expect((await ask('/other', u1)).body).toBe('null')
    expect(JSON.parse((await ask('/save', u1)).body)).toMatchObject({ operation: 'save', subject: 'u1', cost: 5 })
    expect(await used(quota)).toBe(5)
  })

  test('a free operation needs no store', async () => {
    const { ask } = await setUp({ operation: () => 'free' })
    expect(JSON.parse((await ask('/save', u1)).body)).toMatchObject({ source: 'free' })
  })

  test('subject and cost may be promises, and the cost may depend on the body', async () => {
    const { ask, quota } = await setUp({
      subject: async () => 'late',
      cost: async (req) => (req.body as { list: unknown[] }).list.length,
    })
    const headers = { 'Content-Type': 'application/json' }
    await ask('/save', { method: 'POST', headers, body: '{"list":[1,2,3]}' })
    expect(await used(quota, 'late')).toBe(3)
  })

  test('the cost may be constant, and a cost function may leave the price', async () => {
    const constant = await setUp({ cost: 2 })
    await constant.ask('/save', u1)
    expect(await used(constant.quota)).toBe(2)
    const unsure = await setUp({ cost: () => undefined })
    await unsure.ask('/save', u1)
    expect(await used(unsure.quota)).toBe(5)
  })

  test('a request isn’t metered if skip returns true, or a promise of it', async () => {
    const { ask, quota } = await setUp({ skip: async (req) => req.query.skip === '1' })
    await ask('/save?skip=1', u1)
    expect(await used(quota)).toBe(0)
    await ask('/save', u1)
    expect(await used(quota)).toBe(5)
  })

  test('a request without a subject gets 401 with a challenge and isn’t charged', async () => {
    const { ask } = await setUp()
    const { status, headers, body } = await ask('/save')
    expect([status, headers['www-authenticate'], headers['cache-control']]).toEqual([401, 'Bearer', 'no-store'])
    expect(JSON.parse(body)).toEqual({ error: 'unauthorized', msg: 'Authentication required.' })
  })

  test("a request without a subject passes unmetered with anonymous: 'skip'", async () => {
    const { ask } = await setUp({ anonymous: 'skip' })
    expect(await ask('/save')).toMatchObject({ status: 200, body: 'null' })
  })

  test("a request without a subject is metered by address with anonymous: 'ip'", async () => {
    const { ask, quota } = await setUp({ anonymous: 'ip' })
    expect((await ask('/save')).status).toBe(200)
    expect(await used(quota, 'ip:127.0.0.1')).toBe(5)
  })

  test('an app’s middleware and a route’s can meter one request for different subjects', async () => {
    const quota = engine()
    const app = express()
    const metered = quotaMiddleware({ quota, subject: () => 'u1', operation: () => undefined })
    app.use(metered)
    app.get('/a', metered.operation('save', { subject: () => 'u2', cost: 3 }), (_, res) => res.json({}))
    await (await serve(app)).ask('/a')
    expect([await used(quota), await used(quota, 'u2')]).toEqual([0, 3])
  })
})

describe.each(MATRIX)('callers who disconnect: $title', ({ express, engine }) => {
  /** Serves one request whose caller is gone before the handler goes on; resolves when all handlers are done. */
  async function hangUp(goOn: (req: Request, res: Response, next: NextFunction) => unknown, withErrorHandler = false) {
    const quota = engine()
    const app = express()
    const [reached, finished] = [latch(), latch()]
    const metered = quotaMiddleware({ quota, subject: () => 'u1' })
    app.get('/x', metered.operation('save'), async (req, res, next) => {
      reached.open()
      await once(res, 'close')
      try {
        await goOn(req, res, next)
      } catch (error) {
        next(error)
        return
      }
      finished.open()
    })
    if (withErrorHandler) app.use(quotaErrorHandler())
    app.use((error: unknown, _: Request, res: Response, __: NextFunction) => {
      res.status(500).json(String(error))
      finished.open()
    })
    const { dial } = await serve(app)
    const socket = await dial()
    socket.write('GET /x HTTP/1.1\r\nHost: a\r\n\r\n')
    await reached.promise
    socket.destroy()
    await finished.promise
    return used(quota)
  }

  test('a request whose caller disconnects before the head stays charged, whatever the handler answers', async () => {
    expect(await hangUp((_, res) => res.json({}))).toBe(5)
    expect(await hangUp((_, res) => res.status(499).end())).toBe(5)
  })

  test('a request whose caller disconnects stays charged if the failure reaches no quota middleware', async () => {
    expect(await hangUp(() => Promise.reject(new Error('x')))).toBe(5)
  })

  test('a request whose caller disconnects gets its tokens back if its handler fails or cancels', async () => {
    expect(await hangUp(() => Promise.reject(new Error('x')), true)).toBe(0)
    expect(await hangUp((req) => req.quota!.cancel())).toBe(0)
  })

  test('a request whose caller disconnects after the head of a success stays charged', async () => {
    const quota = engine()
    const app = express()
    const closed = latch()
    const metered = quotaMiddleware({ quota, subject: () => 'u1' })
    app.get('/x', metered.operation('save'), (_, res) => {
      res.once('close', () => closed.open())
      res.write('half')
    })
    app.use(quotaErrorHandler())
    const { dial } = await serve(app)
    const socket = await dial()
    socket.write('GET /x HTTP/1.1\r\nHost: a\r\n\r\n')
    await once(socket, 'data')
    socket.destroy()
    await closed.promise
    expect(await used(quota)).toBe(5)
  })
})

test('quotaErrorHandler() passes errors of unmetered requests on', async () => {
  const app = express()
  app.get('/x', () => Promise.reject(Object.assign(new Error('x'), { status: 418 })))
  app.use(quotaErrorHandler())
  app.set('env', 'test')
  expect((await (await serve(app)).ask('/x')).status).toBe(418)
})

test('an address is metered in each of several non-shared layers', async () => {
  const quota = createQuota({
    limits: {
      personal: { by: 'personal', limit: 9, per: '1h' },
      team: { by: 'team', limit: 9, per: '1h' },
      everybody: { shared: 'site', limit: 9, per: '1h' },
    },
    operations: { save: {} },
  })
  const app = express()
  app.use(quotaMiddleware({ quota, anonymous: 'ip', operation: () => 'save' }))
  app.get('/x', (req, res) => res.json(req.quota?.decision.subject))
  const { body } = await (await serve(app)).ask('/x')
  expect(JSON.parse(body)).toEqual({ personal: 'ip:127.0.0.1', team: 'ip:127.0.0.1' })
})

test('a forged address that can’t be parsed has no subject', async () => {
  const app = express()
  app.set('trust proxy', 'loopback')
  app.use(quotaMiddleware({ quota: syncQuota(), anonymous: 'ip', operation: () => 'save' }))
  const { ask } = await serve(app)
  expect((await ask('/x', { headers: { 'X-Forwarded-For': 'nonsense' } })).status).toBe(401)
})

test.each([
  ['203.0.113.7', 'ip:203.0.113.7'],
  ['::ffff:203.0.113.7', 'ip:203.0.113.7'],
  ['::ffff:cb00:7107', 'ip:203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', 'ip:2001:db8:1:0::/56'],
  ['2001:DB8:1:2::', 'ip:2001:db8:1:0::/56'],
  ['::1', 'ip:0:0:0:0::/56'],
  ['fe80::1%eth0', 'ip:fe80:0:0:0::/56'],
  ['0x7f.1', undefined],
  ['nonsense', undefined],
  ['', undefined],
  [undefined, undefined],
])('the subject of address %s is %s', (ip, subject) => {
  expect(ipSubject(ip)).toBe(subject)
})

describe('misconfiguration warnings', () => {
  async function warned(
    setUp: (options: QuotaAppOptions<Operation, Tokens>) => express.Express,
    headers: Record<string, string> = {},
    validate = true,
  ) {
    const logger = listening()
    const quota = syncQuota(1_000)
    const app = setUp({ quota, subject: () => 'u1', operation: () => 'save', logger, validate })
    const { ask } = await serve(app)
    for (let i = 0; i < 3; i++) await ask('/x', { headers })
    return { codes: logger.warnings.map(({ code }) => code), spent: await used(quota), logger }
  }

  test('mounting the middleware twice is logged once, and requests are charged once', async () => {
    const { codes, spent, logger } = await warned((options) => {
      const middleware = quotaMiddleware(options)
      return express()
        .use(middleware, middleware)
        .get('/x', (_, res) => res.json({}))
    })
    expect(codes).toEqual(['mounted_twice'])
    expect(spent).toBe(15)
    expect(logger.warnings[0]!.message).toContain(logger.warnings[0]!.docs)
    expect(logger.warnings[0]!.docs).toMatch(/warnings\.md#mounted_twice$/)
  })

  test('a taken request property is logged once', async () => {
    const { codes } = await warned((options) => {
      const app = express()
      app.use((req, _, next) => {
        Object.assign(req, { quota: 'mine' })
        next()
      })
      return app.use(quotaMiddleware(options)).get('/x', (_, res) => res.json({}))
    })
    expect(codes).toEqual(['property_taken'])
  })

  const byAddress = (trust: unknown) => (options: QuotaAppOptions<Operation, Tokens>) => {
    const app = express()
    if (trust !== undefined) app.set('trust proxy', trust)
    return app.use(quotaMiddleware({ ...options, subject: () => null, anonymous: 'ip' }))
  }

  test.each([
    [undefined, ['untrusted_forwarded_for']],
    [true, ['permissive_trust_proxy']],
    [1, []],
  ])('X-Forwarded-For under trust proxy %s is logged once', async (trust, expected) => {
    expect((await warned(byAddress(trust), { 'X-Forwarded-For': '203.0.113.7' })).codes).toEqual(expected)
  })

  test('requests without a proxy log nothing, nor do any with validate: false', async () => {
    expect((await warned(byAddress(undefined))).codes).toEqual([])
    expect((await warned(byAddress(true), {}, false)).codes).toEqual([])
  })
})
