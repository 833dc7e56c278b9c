import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { quotaErrorHandler, quotaMiddleware } from '@scoregw/quota-express'
import express, { type ErrorRequestHandler, type Request, type Response } from 'express'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LateStore, lateQuota, listening, used } from './support/engine.ts'
import { latch, readAll, serve } from './support/server.ts'

/** An app whose store settles when the test lets it. */
async function setUp(handler: (req: Request, res: Response) => unknown) {
  const store = new LateStore()
  const settled = latch()
  store.settles = settled.promise
  const quota = lateQuota(store)
  const logger = listening()
  const app = express()
  const metered = quotaMiddleware({ quota, logger, subject: () => 'u1' })
  app.get('/x', metered.operation('save'), handler)
  return { store, settled, quota, logger, app, ...(await serve(app)) }
}

describe('responses held until the store has settled', () => {
  test('a held response sends nothing before the settle and everything after', async () => {
    const wrote = latch()
    const { ask, settled, quota } = await setUp((_, res) => {
      res.status(400).json({ error: 'bad' })
      wrote.open()
    })
    let arrived = false
    const answer = ask('/x').finally(() => {
      arrived = true
    })
    await wrote.promise
    // A whole other request goes through in the meantime; the held one has sent nothing.
    expect((await ask('/elsewhere')).status).toBe(404)
    expect(arrived).toBe(false)
    settled.open()
    expect(await answer).toMatchObject({ status: 400, body: '{"error":"bad"}' })
    expect(await used(quota)).toBe(0)
  })

  test('a held response waits for a cancel that the route didn’t await, even on success', async () => {
    const wrote = latch()
    const { ask, settled, quota } = await setUp((req, res) => {
      req.quota!.cancel()
      res.json({})
      wrote.open()
    })
    const answer = ask('/x')
    await wrote.promise
    expect(await used(quota)).toBe(5)
    settled.open()
    expect((await answer).status).toBe(200)
    expect(await used(quota)).toBe(0)
  })

  test('a successful response makes no store call', async () => {
    const { ask, store } = await setUp((_, res) => res.json({}))
    expect((await ask('/x')).status).toBe(200)
    expect(store.settleCalls).toBe(0)
  })

  test('a held response is sent when the store fails, and the failure is logged', async () => {
    const { ask, settled, logger, quota } = await setUp((_, res) => res.status(500).send('sorry'))
    const answer = ask('/x')
    settled.fail(new Error('connection lost'))
    expect(await answer).toMatchObject({ status: 500, body: 'sorry' })
    expect(logger.errors).toMatchObject([{ code: 'quota_unavailable' }])
    expect(await used(quota)).toBe(5)
  })

  test('the head of a held response can’t be changed any more', async () => {
    const facts = latch<unknown>()
    const { ask, settled } = await setUp((_, res) => {
      res.status(404).end('gone')
      const late = (): unknown => res.setHeader('X-Late', '1')
      expect(late).toThrow(expect.objectContaining({ code: 'ERR_HTTP_HEADERS_SENT' }))
      res.statusCode = 200
      facts.open(res.headersSent)
    })
    const answer = ask('/x')
    expect(await facts.promise).toBe(true)
    settled.open()
    expect(await answer).toMatchObject({ status: 404, body: 'gone' })
  })

  test('a held response applies backpressure to writers and releases it', async () => {
    const events: string[] = []
    const { ask, settled } = await setUp((_, res) => {
      res.status(500)
      events.push(`write ${res.write('a', () => events.push('written'))}`)
      res.once('drain', () => {
        events.push('drain')
        res.end('b')
      })
    })
    settled.open()
    expect((await ask('/x')).body).toBe('ab')
    expect(events).toEqual(['write false', 'drain', 'written'])
  })

  test('a held response carries a long stream completely', async () => {
    const lines = Array.from({ length: 2_000 }, (_, index) => `${index} ${'x'.repeat(200)}\n`)
    const { ask, settled } = await setUp((_, res) => pipeline(Readable.from(lines), res.status(500)))
    settled.open()
    expect((await ask('/x')).body).toBe(lines.join(''))
  })

  test('held responses keep the order of pipelined requests', async () => {
    const { dial, settled, app } = await setUp((_, res) => res.status(400).send('first'))
    app.get('/y', (_, res) => {
      res.send('second')
      settled.open()
    })
    const socket = await dial()
    socket.write('GET /x HTTP/1.1\r\nHost: a\r\n\r\nGET /y HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    const text = await readAll(socket)
    expect(text.indexOf('first')).toBeGreaterThan(0)
    expect(text.indexOf('second')).toBeGreaterThan(text.indexOf('first'))
  })

  test('the error handler waits for a held response, so a later error doesn’t break it off', async () => {
    const events: string[] = []
    const { ask, settled, app } = await setUp(async (_, res) => {
      res.status(400).send('bad')
      setImmediate(() => {
        events.push('settled')
        settled.open()
      })
      throw new Error('after the answer')
    })
    app.set('env', 'test')
    app.use(quotaErrorHandler())
    app.use(((error, _, __, next) => {
      events.push('error')
      next(error)
    }) satisfies ErrorRequestHandler)
    expect(await ask('/x')).toMatchObject({ status: 400, body: 'bad' })
    expect(events).toEqual(['settled', 'error'])
  })

  test('a held response throws immediately on an argument that isn’t a chunk', async () => {
    const { ask, settled } = await setUp((_, res) => {
      res.status(400)
      expect(() => res.write(42)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARG_TYPE' }))
      expect(() => res.end(42)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARG_TYPE' }))
      if (!res.headersSent) res.send('bad')
      else res.end()
    })
    settled.open()
    expect((await ask('/x')).status).toBe(400)
  })

  test('a held response whose caller disconnected ends without an error', async () => {
    const held = latch<Response>()
    const closed = latch()
    const { dial, settled, logger, quota } = await setUp((_, res) => {
      res.once('close', () => closed.open())
      res.status(400).send('bad')
      held.open(res)
    })
    const socket = await dial()
    socket.write('GET /x HTTP/1.1\r\nHost: a\r\n\r\n')
    await held.promise
    socket.destroy()
    await closed.promise
    settled.open()
    await settled.promise
    expect(await used(quota)).toBe(0)
    expect(logger.errors).toEqual([])
  })
})

/** What a handler may do with a response before it ends it. */
const step = fc.oneof(
  fc.record({ kind: fc.constant('write' as const), text: fc.string({ minLength: 1, maxLength: 40, unit: 'binary' }) }),
  fc.record({ kind: fc.constant('bytes' as const), bytes: fc.uint8Array({ minLength: 1, maxLength: 40 }) }),
  fc.record({ kind: fc.constant('latin1' as const), text: fc.string({ minLength: 1, maxLength: 9 }) }),
  fc.record({ kind: fc.constant('flush' as const) }),
  fc.record({ kind: fc.constant('head' as const) }),
  fc.record({ kind: fc.constant('turn' as const) }),
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

async function play(res: Response, status: number, steps: readonly Step[], last: string | undefined): Promise<void> {
  res.status(status)
  for (const taken of steps) {
    if (taken.kind === 'write') res.write(taken.text)
    if (taken.kind === 'bytes') res.write(taken.bytes)
    if (taken.kind === 'latin1') res.write(taken.text, 'latin1')
    if (taken.kind === 'flush') res.flushHeaders()
    if (taken.kind === 'head' && !res.headersSent) res.writeHead(status, { 'X-Step': 'head' })
    if (taken.kind === 'turn') await new Promise(setImmediate)
  }
  if (last === undefined) res.end()
  else res.end(last)
}

test('any sequence of writes reaches the client as it would without the middleware', async () => {
  let script: [status: number, steps: readonly Step[], last: string | undefined] = [200, [], undefined]
  const store = new LateStore()
  const quota = lateQuota(store, 1_000_000)
  const app = express()
  const metered = quotaMiddleware({ quota, subject: () => 'u1' })
  app.all('/bare', (_, res) => play(res, ...script))
  app.all('/metered', metered.operation('save', { cost: 1 }), (_, res) => play(res, ...script))
  const { ask } = await serve(app)

  const statuses = fc.constantFrom(200, 204, 304, 400, 404, 500)
  const ends = fc.option(fc.string({ maxLength: 40, unit: 'binary' }), { nil: undefined })
  const methods = fc.constantFrom('GET', 'HEAD', 'POST')
  await fc.assert(
    fc.asyncProperty(statuses, fc.array(step, { maxLength: 6 }), ends, methods, async (status, steps, last, method) => {
      script = [status, steps, last]
      const bare = await ask('/bare', { method })
      const same = await ask('/metered', { method })
      expect(same.status).toBe(bare.status)
      expect(same.body).toBe(bare.body)
      expect({ ...same.headers, date: '' }).toEqual({ ...bare.headers, date: '' })
    }),
    { numRuns: process.env.QUOTA_TEST_DEEP === undefined ? 150 : 2_000 },
  )
})
