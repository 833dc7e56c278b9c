import { QuotaError } from '@scoregw/quota'
import { rateLimitHeaders } from '@scoregw/quota/http'
import {
  type QuotaAnswer,
  type QuotaAppOptions,
  type QuotaMiddlewareOptions,
  quotaErrorHandler,
  quotaMiddleware,
} from '@scoregw/quota-express'
import type { ErrorRequestHandler, NextFunction, Request, Response } from 'express'
import express from 'express'
import { describe, expect, test } from 'vitest'
import { LateStore, lateQuota, type Operation, syncQuota, type Tokens } from './support/engine.ts'
import { MATRIX } from './support/matrix.ts'
import { serve } from './support/server.ts'

describe.each(MATRIX)('refused requests: $title', ({ express, engine }) => {
  async function refusing(options: Partial<QuotaAppOptions<Operation, Tokens>> = {}) {
    const quota = engine()
    const app = express()
    let worked = 0
    app.use(quotaMiddleware({ quota, subject: () => 'u1', operation: () => 'save', ...options }))
    app.all('/x', (_, res) => {
      worked++
      res.json({})
    })
    const served = await serve(app)
    await served.ask('/x')
    await served.ask('/x')
    return { quota, ...served, worked: () => worked }
  }

  test('a refusal handler sends its own response, with the headers already set', async () => {
    const answers: QuotaAnswer[] = []
    const { ask } = await refusing({
      handler: (_, res, __, answer) => {
        answers.push(answer)
        res.status(answer.status).send('slow down')
      },
    })
    expect(await ask('/x')).toMatchObject({ status: 429, body: 'slow down', headers: { 'retry-after': '3600' } })
    expect(answers).toMatchObject([{ status: 429, body: { error: 'quota_exceeded' }, decision: { allowed: false } }])
  })

  test('an error in a refusal handler is an error of the application', async () => {
    const { ask } = await refusing({
      handler: async () => Promise.reject(Object.assign(new Error('x'), { status: 418 })),
    })
    expect((await ask('/x')).status).toBe(418)
  })

  test.each([new Error('x'), new QuotaError('store_error', 'x')])(
    '%s in an own body is one of the application',
    async (error) => {
      const { ask } = await refusing({
        answers: () => {
          throw Object.assign(error, { status: 418 })
        },
      })
      expect((await ask('/x')).status).toBe(418)
    },
  )

  test('a refusal handler may let the request through', async () => {
    const { ask, worked } = await refusing({ handler: (_, __, next) => next() })
    expect((await ask('/x')).status).toBe(200)
    expect(worked()).toBe(3)
  })

  test('a refusal uses the application’s language and texts', async () => {
    const { ask } = await refusing({ locale: () => 'zh-CN', messages: { 'zh-CN': () => '稍后再来' } })
    expect(JSON.parse((await ask('/x')).body)).toMatchObject({ msg: '稍后再来' })
  })
})

describe.each(MATRIX)('draft-10 fields: $title', ({ express, engine }) => {
  async function fieldsOf(handler: (req: Request, res: Response, next: NextFunction) => unknown) {
    const app = express()
    app.set('env', 'test')
    const metered = quotaMiddleware({ quota: engine(), subject: () => 'u1', standardHeaders: 'draft-10' })
    app.get('/x', metered.operation('save'), handler)
    return (await (await serve(app)).ask('/x')).headers
  }

  test.each([
    [
      'an error, whose answer drops all fields',
      (_: Request, __: Response, next: NextFunction) => next(new Error('x')),
      10,
    ],
    ['a head written at once', (_: Request, res: Response) => res.writeHead(404, { 'X-A': 'b' }).end(), 10],
  ])('the fields of %s exclude tokens that were given back', async (_, handler, remaining) => {
    expect((await fieldsOf(handler)).ratelimit).toMatch(new RegExp(`^"personal-write-1h";r=${remaining};`))
  })
})

test('the middleware’s fields equal rateLimitHeaders() of the core', async () => {
  const quota = syncQuota()
  const app = express()
  app.use(quotaMiddleware({ quota, subject: () => 'u1', operation: () => 'save', standardHeaders: 'draft-10' }))
  app.get('/x', (req, res) => res.json(rateLimitHeaders(req.quota!.decision)))
  const { headers, body } = await (await serve(app)).ask('/x')
  const fields = JSON.parse(body) as Record<string, string>
  expect([headers.ratelimit, headers['ratelimit-policy']]).toEqual([fields.RateLimit, fields['RateLimit-Policy']])
})

describe('a store that is away', () => {
  function away() {
    const store = new LateStore()
    store.takes = Promise.reject(new Error('connection refused'))
    store.takes.catch(() => undefined)
    return store
  }

  test('a request without the store gets 503, and handlers receive the error', async () => {
    const app = express()
    const metered = quotaMiddleware({ quota: lateQuota(away()), subject: () => 'u1' })
    app.get('/x', metered.operation('save'), (_, res) => res.json({}))
    const own = metered.operation('save', {
      onUnavailable: (_, res, __, answer) =>
        res.status(answer.status).json('error' in answer ? answer.error.code : null),
    })
    app.get('/own', own, (_, res) => res.json({}))
    const { ask } = await serve(app)
    const { status, headers, body } = await ask('/x', { headers: { 'Accept-Language': 'zh-CN' } })
    expect(status).toBe(503)
    expect(headers).toMatchObject({ 'retry-after': '5', 'cache-control': 'no-store' })
    expect(JSON.parse(body)).toEqual({
      error: 'quota_unavailable',
      msg: '配额服务暂时不可用，请稍后重试。',
      retryAfterSeconds: 5,
    })
    expect(await ask('/own')).toMatchObject({ status: 503, body: '"quota_unavailable"' })
  })
})

describe.each(MATRIX)('application errors: $title', ({ express, engine }) => {
  test.each<[string, Partial<QuotaMiddlewareOptions>]>([
    ['unknown_operation', { operation: () => 'nonsense' }],
    ['invalid_cost', { cost: () => Number.NaN }],
    ['invalid_cost', { cost: async () => -1 }],
    ['invalid_subject', { subject: () => ({ nobody: 'u1' }) as never }],
    ['mine', { subject: () => thrown() }],
    ['mine', { subject: async () => thrown() }],
    ['mine', { skip: async () => thrown() }],
    ['mine', { cost: async () => thrown() }],
    ['mine', { operation: () => thrown() }],
  ])('the error %s goes to next()', async (code, options) => {
    const app = express()
    const quota = engine()
    const given = { quota, subject: () => 'u1', operation: () => 'save', ...options } as QuotaMiddlewareOptions
    app.use(quotaMiddleware(given as QuotaAppOptions))
    app.get('/x', (_, res) => res.json('reached'))
    app.use(quotaErrorHandler())
    const coded: ErrorRequestHandler = (error, _, res, __) =>
      void res.status(500).json((error as { code: string }).code)
    app.use(coded)
    expect((await (await serve(app)).ask('/x')).body).toBe(JSON.stringify(code))
  })
})

function thrown(): never {
  throw Object.assign(new Error('of the application'), { code: 'mine' })
}
