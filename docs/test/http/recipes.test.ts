import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { NestFactory } from '@nestjs/core'
import { createQuota } from '@scoregw/quota'
import type { GraphQLObjectType } from 'graphql'
import { createSchema, createYoga } from 'graphql-yoga'
import { createApp, toNodeListener } from 'h3'
import Koa from 'koa'
import { describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { app as elysia } from '../../code/elysia.ts'
import { useQuota } from '../../code/graphql-yoga.ts'
import { quotaKoa } from '../../code/koa.ts'
import { AppModule as NestModule, quota as quotaOfNest } from '../../code/nestjs.ts'
import nuxtHandler from '../../code/nuxt.ts'
import { handleJob } from '../../code/queue-worker.ts'
import { handle, quota as quotaOfSvelteKit } from '../../code/sveltekit.ts'
import { createCallerFactory, metered, router } from '../../code/trpc.ts'
import { meterMessages } from '../../code/websocket.ts'

function engine() {
  return createQuota({
    limits: {
      reads: { by: 'user', limit: 4, per: '1h', for: 'read' },
      writes: { by: 'user', limit: 4, per: '1h', for: 'write' },
    },
    operations: { read: {}, write: {} },
  })
}

async function used(
  quota: Pick<ReturnType<typeof engine>, 'status'>,
  limit: 'reads' | 'writes' = 'writes',
  subject = 'u1',
): Promise<number | undefined> {
  return (await quota.status(subject)).limits[limit]?.used
}

async function listen(server: Server): Promise<string> {
  onTestFinished(async () => {
    server.closeAllConnections()
    await once(server.close(), 'close')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const headers = { 'x-user': 'u1' }

test('the Koa recipe charges successes, gives failures back, and refuses the rest', async () => {
  const quota = engine()
  const app = new Koa()
  app.silent = true
  app.use(
    quotaKoa({
      quota,
      subject: (ctx) => ctx.get('x-user'),
      operation: () => 'write',
      cost: 2,
      standardHeaders: 'draft-10',
    }),
  )
  app.use((ctx) => {
    if (ctx.path === '/throws') throw new Error('failed')
    if (ctx.path === '/works') ctx.body = { done: true }
  })
  const url = await listen(createServer(app.callback() as RequestListener))
  const ask = async (path: string) => fetch(url + path, { headers })
  expect([(await ask('/throws')).status, (await ask('/gone')).status, await used(quota)]).toEqual([500, 404, 0])
  const answer = await ask('/works')
  expect([answer.status, answer.headers.get('ratelimit')?.split(';')[1]]).toEqual([200, 'r=2'])
  await ask('/works')
  const refused = await ask('/works')
  expect([refused.status, (await refused.json()) as unknown, await used(quota)]).toMatchObject([
    429,
    { error: 'quota_exceeded' },
    4,
  ])
})

test('the NestJS recipe meters routes by operation, with one free route', async () => {
  const app = await NestFactory.create(NestModule, { logger: false })
  await app.listen(0, '127.0.0.1')
  onTestFinished(() => app.close())
  const url = `${await app.getUrl()}/scores`
  const statuses: number[] = []
  for (const path of ['', '/health']) statuses.push((await fetch(url + path, { headers })).status)
  const asJson = { ...headers, 'content-type': 'application/json' }
  const imported = await fetch(url, { method: 'POST', headers: asJson, body: '[1, 2, 3]' })
  expect([...statuses, await imported.json()]).toEqual([200, 200, { imported: 3 }])
  expect([await used(quotaOfNest, 'reads'), await used(quotaOfNest)]).toEqual([1, 3])
})

test('the tRPC recipe charges a procedure and gives failures back', async () => {
  const quota = engine()
  const app = router({
    save: metered(quota, 'write').mutation(() => 'saved'),
    fails: metered(quota, 'write').mutation(() => {
      throw new Error('failed')
    }),
  })
  const caller = createCallerFactory(app)({ user: 'u1' })
  await expect(caller.fails()).rejects.toThrow('failed')
  expect(await used(quota)).toBe(0)
  for (let i = 0; i < 4; i++) expect(await caller.save()).toBe('saved')
  await expect(caller.save()).rejects.toMatchObject({
    code: 'TOO_MANY_REQUESTS',
    message: expect.stringMatching(/^Limit reached: 4 requests per hour/),
  })
  expect(await used(quota)).toBe(4)
})

describe('the GraphQL recipe', () => {
  const typeDefs = `
    type Query { player: Player players(first: Int, last: Int): [Player!]! fails: Player! page(first: Int): Page! }
    type Page { edges: [Edge!]! total: Int }
    type Edge { node: Player! }
    type Player { name: String rating: Int friends: [Player!]! }
    type Subscription { ticks: Int }
  `
  function started(limit: number) {
    const quota = createQuota({ limits: { reads: { by: 'user', limit, per: '1h' } } })
    const player = { name: 'A', rating: 1, friends: [] }
    const schema = createSchema({
      typeDefs,
      resolvers: {
        Query: {
          player: () => player,
          players: () => [player],
          fails: () => null,
          page: () => ({ total: 1, edges: [{ node: player }] }),
        },
        Subscription: {
          ticks: {
            subscribe: async function* () {
              yield { ticks: 1 }
            },
          },
        },
      },
    })
    const { rating } = (schema.getType('Player') as GraphQLObjectType).getFields()
    rating!.extensions = { cost: 2 }
    const plugin = useQuota({ quota, operation: 'request', subject: (request) => request.headers.get('x-user') })
    const yoga = createYoga({ schema, logging: false, maskedErrors: false, plugins: [plugin] })
    const ask = (query: string, { user = 'u1', accept = 'application/json', variables = {} } = {}) =>
      yoga.fetch('http://localhost/graphql', {
        method: 'POST',
        headers: { ...(user !== '' && { 'x-user': user }), accept, 'content-type': 'application/json' },
        body: JSON.stringify({ query, variables }),
      })
    const charged = async (): Promise<number | undefined> => (await quota.status('u1')).limits.reads?.used
    return { ask, charged }
  }

  test('a query is charged its fields, a failed one is given back, and one above the limit is a 429', async () => {
    const { ask, charged } = started(4)
    await (await ask('{ fails { name } }')).json()
    expect(await charged()).toBe(0)
    expect(await (await ask('{ player { name rating __typename } }')).json()).toEqual({
      data: { player: { name: 'A', rating: 1, __typename: 'Player' } },
    })
    expect(await charged()).toBe(4)
    const refused = await ask('{ player { name } }')
    expect([refused.status, refused.headers.get('retry-after') !== null]).toEqual([429, true])
    expect(await refused.json()).toMatchObject({ errors: [{ extensions: { code: 'QUOTA_EXCEEDED' } }] })
  })

  test.each([
    [
      'a fragment counts as often as it is used',
      '{ a: player { ...P } b: player { ...P } } fragment P on Player { name }',
      4,
    ],
    [
      'fragments in fragments multiply',
      '{ player { ...A ...A } } fragment A on Player { ...B ...B } fragment B on Player { name }',
      5,
    ],
    ['an inline fragment counts', '{ player { ... on Player { name rating } } }', 4],
    ['a list counts as its argument says', '{ players(first: 50) { name } }', 51],
    ['a list counts as a variable says', 'query ($n: Int) { players(first: $n) { name } }', 31],
    ['a list counts as a variable’s default says', 'query ($m: Int = 20) { players(first: $m) { name } }', 21],
    ['a list without one counts as ten', '{ player { friends { name friends { name } } } }', 1 + 1 + 10 * (1 + 1 + 10)],
    ['a negative one counts as none', '{ players(first: -5) { name } }', 11],
    ['a list counts as the larger of two arguments', '{ players(first: 2, last: 500) { name } }', 501],
    ['a connection is as long as the list in it', '{ page(first: 20) { total edges { node { name } } } }', 43],
    [
      'a fragment in two connections counts by the size of each',
      'fragment P on Page { edges { node { name } } } { page(first: 2) { ...P } other: page(first: 3) { ...P } }',
      1 + 1 + 4 + 1 + 1 + 6,
    ],
  ])('%s', async (_, query, cost) => {
    const { ask, charged } = started(100_000_000)
    expect((await ask(query, { variables: { n: 30 } })).status).toBe(200)
    expect(await charged()).toBe(cost)
  })

  test('fragments that double sixty times are bounded, and refused at once', async () => {
    const { ask, charged } = started(1_000)
    const doubled = Array.from({ length: 60 }, (_, n) => `fragment F${n} on Player { ...F${n + 1} ...F${n + 1} }`)
    const query = `{ player { ...F0 } } ${doubled.join(' ')} fragment F60 on Player { name }`
    const refused = await ask(query)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, null])
    expect(await charged()).toBe(0)
  })

  test('a subscription is charged when it starts, and a caller without a name gets a 401', async () => {
    const { ask, charged } = started(1)
    const stream = await ask('subscription { ticks }', { accept: 'text/event-stream' })
    expect([stream.status, await stream.text()]).toEqual([200, expect.stringContaining('"ticks":1')])
    expect(await charged()).toBe(1)
    const refused = await ask('subscription { ticks }', { accept: 'text/event-stream' })
    expect(await refused.text()).toContain('QUOTA_EXCEEDED')
    const anonymous = await ask('{ player { name } }', { user: '' })
    expect(anonymous.status).toBe(401)
  })
})

test('the SvelteKit recipe wraps a handle', async () => {
  const ask = (method: string, locals: { user?: string } = {}) => {
    const event = {
      request: new Request('http://localhost/', { method }),
      locals,
      getClientAddress: () => '203.0.113.7',
    }
    return handle({ event, resolve: ({ request }) => new Response(request.method) })
  }
  expect(await (await ask('GET', { user: 'u1' })).text()).toBe('GET')
  await ask('POST')
  const byAddress = await used(quotaOfSvelteKit, 'writes', 'ip:203.0.113.7')
  expect([await used(quotaOfSvelteKit, 'reads'), byAddress]).toEqual([1, 1])
})

test('the WebSocket recipe charges each message', async () => {
  const quota = engine()
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  onTestFinished(async () => {
    for (const client of server.clients) client.terminate()
    server.close()
    await once(server, 'close')
  })
  server.on('connection', (socket) =>
    meterMessages(socket, { quota, subject: 'u1', operation: 'write' }, async (message) => {
      if (message === 'fail') throw new Error('failed')
      return `echo ${message}`
    }),
  )
  await once(server, 'listening')
  const socket = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`)
  await once(socket, 'open')
  const ask = async (message: string): Promise<string> => {
    const answer = once(socket, 'message')
    socket.send(message)
    return String((await answer)[0])
  }
  expect(JSON.parse(await ask('fail'))).toEqual({ error: 'failed' })
  for (let i = 0; i < 4; i++) expect(await ask(`${i}`)).toBe(`echo ${i}`)
  expect(JSON.parse(await ask('5'))).toMatchObject({ error: 'quota_exceeded' })
  expect(await used(quota)).toBe(4)
})

test('the queue worker recipe runs a twice delivered job once and charges nothing for a failed one', async () => {
  const quota = engine()
  let worked = 0
  const job = { id: 'j1', attempt: 1, user: 'u1' }
  const work = async (): Promise<void> => void worked++
  expect(await Promise.all([handleJob(quota, 'write', job, work), handleJob(quota, 'write', job, work)])).toEqual([
    'done',
    'drop',
  ])
  expect([worked, await used(quota)]).toEqual([1, 1])
  const failing = { id: 'j2', attempt: 1, user: 'u1' }
  const fail = (): Promise<void> => Promise.reject(new Error('failed'))
  await expect(handleJob(quota, 'write', failing, fail)).rejects.toThrow('failed')
  expect(await handleJob(quota, 'write', failing, work)).toBe('drop')
  expect(await handleJob(quota, 'write', { ...failing, attempt: 2 }, work)).toBe('done')
  expect([worked, await used(quota)]).toEqual([2, 2])
  await quota.consume({ subject: 'u1', operation: 'write', cost: 2 })
  expect(await handleJob(quota, 'write', { id: 'j3', attempt: 1, user: 'u1' }, work)).toMatchObject({
    retryAfterMs: expect.any(Number),
  })
  await quota.subjects.set('u1', { limits: { writes: 0 } })
  expect(await handleJob(quota, 'write', { id: 'j4', attempt: 1, user: 'u1' }, work)).toBe('never')
})

test('the Elysia recipe meters a mounted app', async () => {
  const statuses: number[] = []
  for (let request = 1; request <= 3; request++) {
    statuses.push((await elysia.handle(new Request('http://localhost/api/scores', { headers }))).status)
  }
  expect(statuses).toEqual([200, 200, 429])
})

test('the Nuxt recipe meters an event handler of h3', async () => {
  const url = await listen(createServer(toNodeListener(createApp().use('/api/scores', nuxtHandler)) as RequestListener))
  const statuses: number[] = []
  for (let request = 1; request <= 3; request++) {
    statuses.push((await fetch(`${url}/api/scores`, { headers })).status)
  }
  expect(statuses).toEqual([200, 200, 429])
})
