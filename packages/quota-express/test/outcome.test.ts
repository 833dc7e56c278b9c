import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { quotaErrorHandler, quotaMiddleware } from '@scoregw/quota-express'
import type { NextFunction, Request, Response } from 'express'
import { describe, expect, onTestFinished, test } from 'vitest'
import { listening, used } from './support/engine.ts'
import { MATRIX } from './support/matrix.ts'
import { serve } from './support/server.ts'

describe.each(MATRIX)('settling by the outcome: $title', ({ express, engine }) => {
  async function setUp(handler: (req: Request, res: Response, next: NextFunction) => unknown) {
    const quota = engine()
    const logger = listening()
    const app = express()
    app.set('env', 'test')
    const metered = quotaMiddleware({ quota, logger, subject: () => 'u1' })
    app.all('/x', metered.operation('save'), handler)
    return { quota, app, logger, ...(await serve(app)) }
  }

  test.each([
    ['json', 200, (_: Request, res: Response) => res.json({ done: true })],
    ['an empty 204', 204, (_: Request, res: Response) => res.status(204).end()],
    ['a redirect', 302, (_: Request, res: Response) => res.redirect('/elsewhere')],
    ['a 304', 304, (_: Request, res: Response) => res.status(304).end()],
    ['a status below 400', 399, (_: Request, res: Response) => res.status(399).send('x')],
    ['an explicit head', 201, (_: Request, res: Response) => res.writeHead(201, { 'X-A': '1' }).end('made')],
    ['a stream', 200, (_: Request, res: Response) => streamed(res)],
    ['flushed headers', 200, (_: Request, res: Response) => flushed(res)],
  ])('a success (%s) stays charged', async (_, status, handler) => {
    const { ask, quota } = await setUp(handler)
    expect((await ask('/x')).status).toBe(status)
    expect(await used(quota)).toBe(5)
  })

  test.each([
    ['json', 400, (_: Request, res: Response) => res.status(400).json({ error: 'bad' })],
    ['a bare end', 404, (_: Request, res: Response) => res.writeHead(404).end()],
    ['sendStatus', 418, (_: Request, res: Response) => res.sendStatus(418)],
    ['a stream', 500, (_: Request, res: Response) => streamed(res.status(500))],
    ['flushed headers', 503, (_: Request, res: Response) => flushed(res.status(503))],
    ['an error thrown at once', 500, () => fail('sync')],
    ['an error handed on', 500, (_: Request, __: Response, next: NextFunction) => next(new Error('handed on'))],
    ['an error with a status', 422, (_: Request, __: Response, next: NextFunction) => next({ status: 422 })],
    ['no answer by any route', 404, (_: Request, __: Response, next: NextFunction) => next()],
  ])('a failure (%s) gets its tokens back before the response arrives', async (_, status, handler) => {
    const { ask, quota } = await setUp(handler)
    expect((await ask('/x')).status).toBe(status)
    expect(await used(quota)).toBe(0)
  })

  test('a served file stays charged, and a missing one is given back', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'quota-express-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    writeFileSync(join(folder, 'here.txt'), 'here')
    const { ask, quota } = await setUp((req, res) => res.sendFile(String(req.query.name), { root: folder }))
    expect((await ask('/x?name=here.txt')).body).toBe('here')
    expect(await used(quota)).toBe(5)
    expect((await ask('/x?name=gone.txt')).status).toBe(404)
    expect(await used(quota)).toBe(5)
  })

  test('a conditional request that is answered with 304 stays charged', async () => {
    const { ask, quota } = await setUp((_, res) => res.json({ same: true }))
    const { etag } = (await ask('/x')).headers
    expect((await ask('/x', { headers: { 'If-None-Match': etag } })).status).toBe(304)
    expect(await used(quota)).toBe(10)
  })

  test('a status that Node rejects doesn’t settle, and the response after it does', async () => {
    const { ask, quota } = await setUp((_, res, next) => {
      try {
        res.writeHead(42)
      } catch (error) {
        next(error)
      }
    })
    expect((await ask('/x')).status).toBe(500)
    expect(await used(quota)).toBe(0)
  })

  test('an error after the head of a success stays charged', async () => {
    const { ask, quota, app } = await setUp((_, res, next) => {
      res.write('half')
      next(new Error('after the head'))
    })
    app.use(quotaErrorHandler())
    await expect(ask('/x')).rejects.toThrow()
    expect(await used(quota)).toBe(5)
  })

  test('a route commits less than it reserved, and the outcome changes nothing', async () => {
    const { ask, quota } = await setUp(async (req, res) => {
      await req.quota!.commit(2)
      await req.quota!.cancel()
      res.status(500).json({})
    })
    expect((await ask('/x')).status).toBe(500)
    expect(await used(quota)).toBe(2)
  })

  test('a route’s own unawaited cancel is done before the response arrives', async () => {
    const { ask, quota } = await setUp((req, res) => {
      req.quota!.cancel()
      res.json({})
    })
    expect((await ask('/x')).status).toBe(200)
    expect(await used(quota)).toBe(0)
  })

  test('a commit above the reservation rejects and is logged, and the outcome settles', async () => {
    const { ask, quota, logger } = await setUp(async (req, res) => {
      const error = await req.quota!.commit(6).catch((reason: { code: string }) => reason)
      res.status(400).json(error)
    })
    expect(JSON.parse((await ask('/x')).body)).toMatchObject({ code: 'commit_above_reservation' })
    expect(logger.errors).toMatchObject([{ code: 'commit_above_reservation' }])
    expect(await used(quota)).toBe(0)
  })

  test('charge-first charges immediately and gives nothing back', async () => {
    const quota = engine()
    const app = express()
    const metered = quotaMiddleware({ quota, subject: () => 'u1', settle: 'charge-first' })
    app.get('/x', metered.operation('save'), async (req, res) => {
      await req.quota!.cancel()
      res.status(500).json(req.quota!.decision.allowed)
    })
    const { ask } = await serve(app)
    expect((await ask('/x')).body).toBe('true')
    expect(await used(quota)).toBe(5)
  })

  test('200 concurrent requests never exceed the limit, and failures don’t use it up', async () => {
    const quota = engine()
    const app = express()
    const metered = quotaMiddleware({ quota, subject: () => 'u1' })
    app.get('/fail', metered.operation('save', { cost: 1 }), (_, res) => res.status(500).end())
    app.get('/work', metered.operation('save', { cost: 1 }), (_, res) => res.end('ok'))
    const { ask } = await serve(app)
    await Promise.all(Array.from({ length: 100 }, () => ask('/fail')))
    expect(await used(quota)).toBe(0)
    const answers = await Promise.all(Array.from({ length: 200 }, () => ask('/work')))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(190)
    expect(await used(quota)).toBe(10)
  })

  test('the middleware adds no listeners to request, response or connection', async () => {
    const counts = (req: Request, res: Response) =>
      [req, res, req.socket].map((emitter) => emitter.eventNames().map((name) => emitter.listenerCount(name)))
    const app = express()
    const quota = engine()
    const metered = quotaMiddleware({ quota, subject: () => 'u1', standardHeaders: 'draft-10' })
    app.use((req, res, next) => {
      res.locals.before = counts(req, res)
      next()
    })
    app.get('/x', metered.operation('look'), (req, res) => {
      res.json([res.locals.before, counts(req, res)])
    })
    const { ask } = await serve(app)
    for (let i = 0; i < 3; i++) {
      const [before, after] = JSON.parse((await ask('/x')).body) as [unknown, unknown]
      expect(after).toEqual(before)
    }
  })
})

function fail(message: string): never {
  throw new Error(message)
}

function streamed(res: Response): void {
  res.write('a')
  res.write('b')
  res.end('c')
}

function flushed(res: Response): void {
  res.flushHeaders()
  res.end('x')
}
