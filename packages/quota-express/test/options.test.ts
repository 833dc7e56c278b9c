import * as api from '@scoregw/quota-express'
import { type QuotaMiddlewareOptions, quotaMiddleware } from '@scoregw/quota-express'
import express from 'express'
import { expect, test } from 'vitest'
import { syncQuota } from './support/engine.ts'
import { serve } from './support/server.ts'

const subject = () => 'u1'

test('every fault of the options is named', () => {
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
  expect(make).toThrow(/settle: .*standardHeaders: expected 'draft-10' or false; .*windowMs: unknown key/)
  const paths = caught(make).faults.map(({ path }) => path)
  expect(paths.sort()).toEqual(
    ['cost', 'locale', 'logger', 'messages.fr', 'quota', 'settle', 'standardHeaders', 'subject', 'windowMs'].sort(),
  )
})

test('a route refuses options that are not its own, and operations that the policy does not have', () => {
  const metered = quotaMiddleware({ quota: syncQuota(), subject })
  const stranger = { standardHeaders: false } as object
  expect(caught(() => metered.operation('save', stranger)).faults).toMatchObject([{ path: 'standardHeaders' }])
  expect(caught(() => metered.operation('nonsense' as 'save')).code).toBe('unknown_operation')
  expect(caught(() => metered.operation('save', { cost: 0.5 })).faults).toMatchObject([{ path: 'cost' }])
})

test('without operation() there is no middleware for a whole app', () => {
  const metered = quotaMiddleware({ quota: syncQuota(), subject })
  expect(() => express().use(metered as unknown as express.RequestHandler)).toThrow(TypeError)
})

test('operation names are typed from the policy, and req.quota is typed', async () => {
  const metered = quotaMiddleware({ quota: syncQuota(), subject, operation: () => 'look' })
  // @ts-expect-error: not an operation of the policy
  expect(() => metered.operation('nonsense')).toThrow()
  // @ts-expect-error: not an operation of the policy
  quotaMiddleware({ quota: syncQuota(), subject, operation: () => 'nonsense' })
  const app = express()
  app.get('/x', metered, (req, res) => res.json(req.quota?.decision.cost))
  expect((await (await serve(app)).ask('/x')).body).toBe('1')
})

test('another property name', async () => {
  const named = quotaMiddleware({ quota: syncQuota(), subject, operation: () => 'look', requestPropertyName: 'limits' })
  const app = express()
  app.get('/x', named, (req, res) => {
    const { limits } = req as typeof req & api.RequestQuotaProperty<'limits'>
    res.json([limits?.decision.cost, req.quota === undefined])
  })
  expect((await (await serve(app)).ask('/x')).body).toBe('[1,true]')
})

test('what the package exports', () => {
  expect(Object.keys(api).sort()).toMatchInlineSnapshot(`
    [
      "QUOTA_HEADER_NAMES",
      "QuotaError",
      "QuotaWarning",
      "createQuota",
      "defaultPolicy",
      "ipSubject",
      "memoryStore",
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
