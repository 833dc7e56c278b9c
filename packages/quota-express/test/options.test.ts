import { createQuota } from '@scoregw/quota'
import * as api from '@scoregw/quota-express'
import { type QuotaMiddlewareOptions, quotaMiddleware } from '@scoregw/quota-express'
import express from 'express'
import express4 from 'express4'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { syncQuota } from './support/engine.ts'
import { serve } from './support/server.ts'

const subject = () => 'u1'

const BOTH = [
  { title: 'Express 5', express },
  { title: 'Express 4', express: express4 as unknown as typeof express },
]

test('invalid options are reported with every fault', () => {
  const faulty = {
    quota: {},
    subject: 'u1',
    cost: -1,
    settle: 'later',
    standardHeaders: true,
    windowMs: 60_000,
    logger: {},
    locale: 'fr',
    messages: { fr: () => 'non' },
  }
  const make = () => quotaMiddleware(faulty as unknown as QuotaMiddlewareOptions)
  expect(make).toThrow(expect.objectContaining({ name: 'QuotaError', code: 'invalid_options' }))
  expect(make).toThrow(
    /settle: expected "outcome" or "end" or "failures" or "charge-first", got "later"; .*; and 4 more$/,
  )
  const paths = caught(make).faults.map(({ path }) => path)
  expect(paths.sort()).toEqual(
    ['cost', 'locale', 'logger', 'messages.fr', 'quota', 'settle', 'standardHeaders', 'subject', 'windowMs'].sort(),
  )
})

test('an engine in place of options is recognized, although it has an operation, as options do', () => {
  const quota = createQuota({ limits: { api: { by: 'user', limit: 1, per: '1m' } } })
  expect(caught(() => quotaMiddleware(quota as never)).message).toBe(
    'invalid options of quotaMiddleware(): expected an object, got a value for "quota": write quotaMiddleware({ quota })',
  )
})

test('a framework that passes no next gets the name of its adapter', () => {
  const metered = quotaMiddleware({
    quota: createQuota({ limits: { api: { by: 'user', limit: 1, per: '1m' } } }),
    subject,
  })
  const called = metered as unknown as (context: object, next: () => void) => void
  expect(caught(() => called({ req: {} }, () => undefined))).toMatchObject({
    code: 'invalid_options',
    message: expect.stringContaining('for Hono, import it from @scoregw/quota-fetch/hono'),
  })
})

test.each([undefined, 'reject', 'skip'] as const)('subject is required if anonymous is %s', (anonymous) => {
  const make = () => quotaMiddleware({ quota: syncQuota(), anonymous })
  expect(caught(make).faults).toEqual([
    { path: 'subject', message: "missing; expected a function of the request, or anonymous: 'ip'" },
  ])
})

test('a route rejects options of the middleware and unknown operations', () => {
  const metered = quotaMiddleware({ quota: syncQuota(), subject })
  const unknown = { standardHeaders: false } as object
  expect(caught(() => metered.operation('save', unknown)).faults).toMatchObject([{ path: 'standardHeaders' }])
  expect(caught(() => metered.operation('nonsense' as 'save')).code).toBe('unknown_operation')
  expect(caught(() => metered.operation('save', { cost: 0.5 })).faults).toMatchObject([{ path: 'cost' }])
})

test.each([
  ['keyGenerator', /use subject\(request\)/],
  ['windowMs', /write it in `limits`, by name/],
  ['skipFailedRequests', /are refunded/],
  ['anonymus', /did you mean "anonymous"\?/],
  ['standardheaders', /did you mean "standardHeaders"\?/],
  ['nonsense', /^unknown key/],
])('the unknown option %s gets a hint', (key, message) => {
  const make = () => quotaMiddleware({ quota: syncQuota(), subject, [key]: 1 })
  expect(caught(make).faults).toMatchObject([{ path: key, message: expect.stringMatching(message) }])
})

test.each(BOTH)('an engine with one operation needs no operation option, with $title', async ({ express }) => {
  const metered = quotaMiddleware({
    quota: createQuota({ limits: { api: { by: 'user', limit: 2, per: '1h' } } }),
    subject,
  })
  const app = express()
  app.use(metered)
  app.get('/named', metered.operation('request'))
  app.use((_req, res) => void res.send('ok'))
  const { ask } = await serve(app)
  const statuses: number[] = []
  for (const path of ['/', '/named', '/other', '/']) statuses.push((await ask(path)).status)
  expect(statuses).toEqual([200, 200, 429, 429])
})

describe.each(BOTH)('misuse with $title', ({ express }) => {
  test('using the middleware on an app without operation() throws with that hint', () => {
    const metered = quotaMiddleware({ quota: syncQuota(), subject }) as unknown as express.RequestHandler
    for (const mount of [
      () => express().use(metered),
      () => express().use('/x', metered),
      () => express().get('/x', metered),
      () => express.Router().use(metered),
    ]) {
      expect(caught(mount)).toMatchObject({ code: 'invalid_options', faults: [{ path: 'operation' }] })
    }
  })
})

test('mounting quotaMiddleware itself logs one line, and clients get a plain 500', async () => {
  const logged = vi.spyOn(console, 'error').mockReturnValue()
  onTestFinished(() => logged.mockRestore())
  for (const { express } of BOTH) {
    const { ask } = await serve(express().use(quotaMiddleware as unknown as express.RequestHandler))
    for (let i = 0; i < 2; i++) {
      expect(await ask('/x')).toMatchObject({ status: 500, body: '{"error":"internal_error"}' })
    }
  }
  expect(logged.mock.calls).toEqual([[expect.objectContaining({ code: 'invalid_options' })]])
})

test('operation names and req.quota are typed from the policy', async () => {
  const metered = quotaMiddleware({ quota: syncQuota(), subject, operation: () => 'look' })
  // @ts-expect-error: not an operation of the policy
  expect(() => metered.operation('nonsense')).toThrow()
  // @ts-expect-error: not an operation of the policy
  quotaMiddleware({ quota: syncQuota(), subject, operation: () => 'nonsense' })
  const app = express()
  app.get('/x', metered, (req, res) => res.json(req.quota?.decision.cost))
  expect((await (await serve(app)).ask('/x')).body).toBe('1')
})

test('requestPropertyName renames req.quota', async () => {
  const named = quotaMiddleware({ quota: syncQuota(), subject, operation: () => 'look', requestPropertyName: 'limits' })
  const app = express()
  app.get('/x', named, (req, res) => {
    const { limits } = req as typeof req & api.RequestQuotaProperty<'limits'>
    res.json([limits?.decision.cost, req.quota === undefined])
  })
  expect((await (await serve(app)).ask('/x')).body).toBe('[1,true]')
})

test('the package exports these values', () => {
  expect(Object.keys(api).sort()).toMatchInlineSnapshot(`
    [
      "QUOTA_HEADER_NAMES",
      "QuotaError",
      "QuotaRefusal",
      "QuotaWarning",
      "createQuota",
      "definePolicy",
      "ipSubject",
      "memoryStore",
      "money",
      "quotaErrorHandler",
      "quotaMiddleware",
      "quotaStatusBody",
    ]
  `)
})

function caught(call: () => unknown): api.QuotaError {
  try {
    call()
  } catch (error) {
    return error as api.QuotaError
  }
  throw new Error('nothing was thrown')
}
