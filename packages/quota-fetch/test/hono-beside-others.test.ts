import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { createQuota, memoryStore } from '@scoregw/quota'
import { scoreGatewayPolicy } from '@scoregw/quota/score-gateway'
import { quotaMiddleware } from '@scoregw/quota-fetch/hono'
import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { compress } from 'hono/compress'
import { expect, onTestFinished, test } from 'vitest'

const LONG = 'a'.repeat(5_000)

function engine() {
  const clock = { now: () => Date.UTC(2026, 7, 6, 14, 6, 26) }
  return createQuota({ policy: scoreGatewayPolicy(), clock, store: memoryStore({ clock }) })
}

function asAsked(c: Context): Response {
  const status = c.req.query('status')
  if (status === 'throws') throw new Error('of the application')
  return c.text(LONG, Number(status) as 200)
}

async function asking(hono: Hono, overrideGlobalObjects = false): Promise<(path: string) => Promise<Response>> {
  const globals = { Request, Response }
  const server = createAdaptorServer({ fetch: hono.fetch, overrideGlobalObjects })
  onTestFinished(() => void Object.assign(globalThis, globals))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(async () => {
    if ('closeAllConnections' in server) server.closeAllConnections()
    await once(server.close(), 'close')
  })
  const { port } = server.address() as AddressInfo
  return (path) => fetch(`http://127.0.0.1:${port}${path}`, { headers: { 'x-user': 'u1', 'accept-encoding': 'gzip' } })
}

const subject = (c: Context) => c.req.header('x-user')

test.each([
  ['before the middleware', (metered: MiddlewareHandler) => [compress({ threshold: 0 }), metered]],
  ['behind it', (metered: MiddlewareHandler) => [metered, compress({ threshold: 0 })]],
])('compression %s changes no bytes, fields or tokens in Hono', async (_where, chainOf) => {
  const quota = engine()
  const metered = quotaMiddleware({ quota, subject, standardHeaders: 'draft-10' }).operation('read')
  const hono = new Hono()
  hono.onError((_error, c) => c.text(LONG, 500))
  for (const middleware of chainOf(metered)) hono.use('/', middleware)
  const ask = await asking(hono.get('/', asAsked))
  const seen: unknown[] = []
  for (const status of ['200', '404', 'throws', '201']) {
    const answer = await ask(`/?status=${status}`)
    const isWhole = (await answer.text()) === LONG
    const left = answer.headers.get('ratelimit')?.split(';')[1]
    const used = (await quota.status('u1')).limits['personal-read-1h']?.used
    seen.push([answer.status, answer.headers.get('content-encoding'), isWhole, left, used])
  }
  expect(seen).toEqual([
    [200, 'gzip', true, 'r=119', 1],
    [404, 'gzip', true, 'r=119', 1],
    [500, 'gzip', true, 'r=119', 1],
    [201, 'gzip', true, 'r=118', 2],
  ])
})

test.each([
  ['a plain object', { 'content-type': 'text/plain', 'RateLimit-Policy': '"other";q=3', RateLimit: '"other";r=2' }],
  ['Headers', new Headers({ ratelimit: '"other";r=2', 'ratelimit-policy': '"other";q=3' })],
])('existing RateLimit fields as %s come first and the application’s object isn’t changed', async (_as, headers) => {
  const metered = quotaMiddleware({ quota: engine(), subject, standardHeaders: 'draft-10' }).operation('read')
  const before = JSON.stringify([...new Headers(headers)])
  const hono = new Hono().get('/', metered, () => new Response('x', { headers }))
  const answers = [
    await (await asking(hono))('/'),
    // As the server by default: it replaces the global Response by one that keeps the headers it is given.
    await (await asking(hono, true))('/'),
    // Without a server.
    await hono.request('/', { headers: { 'x-user': 'u1' } }),
  ]
  for (const answer of answers) {
    expect(answer.headers.get('ratelimit')).toMatch(/^"other";r=2, "personal-read-1h";r=11\d;/)
    expect(answer.headers.get('ratelimit-policy')).toMatch(/^"other";q=3, "personal-read-1h";q=120;/)
  }
  expect(JSON.stringify([...new Headers(headers)])).toBe(before)
})

test('a head that Node sends immediately has the RateLimit fields', async () => {
  const metered = quotaMiddleware({ quota: engine(), subject, standardHeaders: 'draft-10' }).operation('read')
  const ask = await asking(new Hono().get('/', metered, () => new Response('x', { headers: { Expect: 'nothing' } })))
  const { headers } = await ask('/')
  expect(headers.get('expect')).toBe('nothing')
  expect(headers.get('ratelimit')).toMatch(/^"personal-read-1h";r=119;/)
})

test('nested Hono apps meter their own requests', async () => {
  const quota = engine()
  const metered = quotaMiddleware({ quota, subject, standardHeaders: 'draft-10' })
  const innermost = new Hono().get('/deep', metered.operation('read'), asAsked)
  const hono = new Hono().route('/a', new Hono().route('/b', innermost).get('/plain', asAsked))
  const ask = await asking(hono)
  const seen: unknown[] = []
  for (const path of ['/a/b/deep?status=200', '/a/b/deep?status=409', '/a/plain?status=200', '/a/b/nothing']) {
    const { status, headers } = await ask(path)
    seen.push([
      status,
      headers.get('ratelimit')?.split(';')[1],
      (await quota.status('u1')).limits['personal-read-1h']?.used,
    ])
  }
  expect(seen).toEqual([
    [200, 'r=119', 1],
    [409, 'r=119', 1],
    [200, undefined, 1],
    [404, undefined, 1],
  ])
})
