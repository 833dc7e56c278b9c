import { quotaErrorHandler, quotaMiddleware } from '@scoregw/quota-express'
import compression from 'compression'
import { type ErrorRequestHandler, json, type Request, type RequestHandler, type Response } from 'express'
import { describe, expect, test } from 'vitest'
import { used } from './support/engine.ts'
import { MATRIX } from './support/matrix.ts'
import { serve } from './support/server.ts'

const subject = (req: Request) => req.get('x-user')
const headers = { 'x-user': 'u1', 'accept-encoding': 'gzip' }
const LONG = 'a'.repeat(5_000)

const answered: ErrorRequestHandler = (_error, _req, res, _next) => void res.status(500).send(LONG)

/** Answers with the status that its query names, or fails. */
function asAsked(req: Request, res: Response): void {
  if (req.query.status === 'throws') throw new Error('of the application')
  res.status(Number(req.query.status)).send(LONG)
}

/** Waits a moment, as a middleware does that looks something up. */
const later: RequestHandler = (_req, _res, next) => void setImmediate(next)

/** Changes `writeHead` of the response, as many do. */
const wrapping: RequestHandler = (_req, res, next) => {
  const { writeHead } = res
  res.writeHead = ((...args: Parameters<typeof writeHead>) => {
    res.setHeader('x-wrapped', 'yes')
    return writeHead.apply(res, args)
  }) as typeof writeHead
  next()
}

describe.each(MATRIX)('the middleware next to others: $title', ({ express, engine }) => {
  const packing = compression({ threshold: 0 }) as unknown as RequestHandler

  test.each([
    ['before the middleware', (metered: RequestHandler) => [packing, metered]],
    ['behind it', (metered: RequestHandler) => [metered, packing]],
    ['on either side of another that wraps the head', (metered: RequestHandler) => [packing, wrapping, metered]],
    ['after some time', (metered: RequestHandler) => [packing, later, wrapping, metered, later]],
  ])('compression %s changes no bytes, fields or tokens', async (_where, chainOf) => {
    const quota = engine()
    const metered = quotaMiddleware({ quota, subject, standardHeaders: 'draft-10' }).operation('save', { cost: 1 })
    const app = express()
      .get('/', ...chainOf(metered), asAsked)
      .use(quotaErrorHandler(), answered)
    const { ask } = await serve(app)
    const statuses: number[] = []
    for (const [status, charged] of [
      ['200', 1],
      ['404', 1],
      ['throws', 1],
      ['201', 2],
    ] as const) {
      const asked = await ask(`/?status=${status}`, { headers })
      statuses.push(asked.status)
      expect(asked.headers['content-encoding']).toBe('gzip')
      expect(asked.headers.ratelimit).toContain(`"personal-write-1h";r=${10 - charged};`)
      expect(await used(quota)).toBe(charged)
    }
    expect(statuses).toEqual([200, 404, 500, 201])
  })

  test('nested routers and apps meter their own requests', async () => {
    const quota = engine()
    const metered = quotaMiddleware({ quota, subject, standardHeaders: 'draft-10' })
    const save = metered.operation('save', { cost: 1 })
    const innermost = express.Router().get('/deep', save, asAsked).get('/passes', save, later)
    const router = express.Router().use('/inner', express.Router().use(innermost)).get('/plain', asAsked)
    const within = express()
      .get('/app', save, asAsked)
      .get('/goes-on', save, (_req, _res, next) => next())
    const app = express()
      .use('/router', router)
      .use('/within', express().use('/further', within))
      // What nobody below answered is answered up here, under the prototype of another app.
      .use((req, res) => void res.status(req.path.includes('goes-on') ? 202 : 404).send(req.quota?.decision.operation))
    const { ask } = await serve(app)
    const seen: [string, number, string | undefined, number][] = []
    for (const path of [
      '/router/inner/deep?status=200',
      '/router/inner/deep?status=409',
      '/router/plain?status=200',
      '/router/inner/passes',
      '/within/further/app?status=200',
      '/within/further/app?status=404',
      '/within/further/goes-on',
    ]) {
      const answer = await ask(path, { headers: { 'x-user': 'u1' } })
      seen.push([path, answer.status, answer.headers.ratelimit?.split(';')[1], await used(quota)])
    }
    expect(seen).toEqual([
      ['/router/inner/deep?status=200', 200, 'r=9', 1],
      ['/router/inner/deep?status=409', 409, 'r=9', 1],
      ['/router/plain?status=200', 200, undefined, 1],
      ['/router/inner/passes', 404, 'r=9', 1],
      ['/within/further/app?status=200', 200, 'r=8', 2],
      ['/within/further/app?status=404', 404, 'r=8', 2],
      ['/within/further/goes-on', 202, 'r=7', 3],
    ])
  })

  test('every later handler finds the quota on the request under each middleware’s property name', async () => {
    const [first, second] = [engine(), engine()]
    const warnings: string[] = []
    const logger = { warn: ({ code }: { code: string }) => void warnings.push(code), error: () => undefined }
    const app = express()
    app.use(json())
    app.get(
      '/unmetered',
      (req, res) => void res.json([req.quota === undefined, 'quota' in req && req.quota !== undefined]),
    )
    app.get(
      '/two',
      quotaMiddleware({ quota: first, subject, logger }).operation('save'),
      quotaMiddleware({ quota: second, subject, logger, requestPropertyName: 'other' }).operation('look'),
      (req, res) => {
        const { other } = req as unknown as { other: Request['quota'] }
        res.json([req.quota?.decision.operation, other?.decision.operation])
      },
    )
    app.get(
      '/same-name',
      quotaMiddleware({ quota: first, subject, logger }).operation('look'),
      quotaMiddleware({ quota: second, subject, logger }).operation('save'),
      (req, res) => void res.json(req.quota?.decision.operation),
    )
    app.get(
      '/taken',
      (req, _res, next) => {
        Object.assign(req, { quota: 'mine' })
        next()
      },
      quotaMiddleware({ quota: first, subject, logger }).operation('look'),
      (req, res) => void res.json(req.quota?.decision.operation),
    )
    const { ask } = await serve(app)
    const bodies: unknown[] = []
    for (const path of ['/unmetered', '/two', '/same-name', '/taken', '/unmetered']) {
      bodies.push(JSON.parse((await ask(path, { headers })).body))
    }
    expect(bodies).toEqual([[true, false], ['save', 'look'], 'save', 'look', [true, false]])
    expect(warnings).toEqual(['property_taken', 'property_taken'])
  })
})

test('a compressed response has the body that its handler sent', async () => {
  const { express, engine } = MATRIX[0]!
  const metered = quotaMiddleware({ quota: engine(), subject }).operation('save')
  const app = express().get('/', metered, compression({ threshold: 0 }) as unknown as RequestHandler, asAsked)
  const { port } = await serve(app)
  const answer = await fetch(`http://127.0.0.1:${port}/?status=200`, { headers })
  expect([answer.headers.get('content-encoding'), await answer.text()]).toEqual(['gzip', LONG])
})
