import 'reflect-metadata'
import type { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type HttpBindings, serve } from '@hono/node-server'
import { Controller, Module, Post } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { createQuota, definePolicy, memoryStore, type Quota } from '@scoregw/quota'
import { quotaErrorHandler, quotaMiddleware } from '@scoregw/quota-express'
import { charge, quotaFastify, quotaOf } from '@scoregw/quota-fastify'
import { quotaFetch } from '@scoregw/quota-fetch'
import { quotaMiddleware as honoMiddleware } from '@scoregw/quota-fetch/hono'
import { Charge, Quota as Metered, type NestRequest, QuotaModule } from '@scoregw/quota-nest'
import { migrateQuota, sqliteStore } from '@scoregw/quota-sql'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { Kysely, type SqliteDatabase, SqliteDialect, type Transaction } from 'kysely'
import Database from 'libsql'
import { describe, expect, it, onTestFinished } from 'vitest'

interface Tables {
  works: { subject: string }
}
type Work = (charge: (transaction: Transaction<Tables>) => Promise<unknown>) => Promise<void>

const policy = definePolicy({ limits: { perHour: { by: 'user', limit: 2, per: '1h' } }, operations: { work: {} } })

/** Options of each adapter. */
const FIELDS = { standardHeaders: 'draft-11', logger: { warn: () => undefined, error: () => undefined } } as const

/** An app with `/work`, which charges in the transaction of its work, and `/before`, which charges before it. */
type App = (quota: Quota<'work'>, work: Work) => Promise<string>

const user = ({ headers }: { readonly headers: NestRequest['headers'] }): string => String(headers['x-user'])

const onExpress: App = async (quota, work) => {
  const metered = quotaMiddleware({ quota, subject: user, ...FIELDS })
  const app = express()
  app.post('/work', metered.inTransaction('work'), async (req, res) => {
    await work((transaction) => metered.charge(req, transaction))
    res.json({ charged: metered.of(req)?.charged })
  })
  app.post('/before', metered.operation('work'), (_req, res) => void res.json({}))
  app.use(quotaErrorHandler())
  app.use(((_error, _req, res, _next) => void res.status(500).json({ error: 'ours' })) as express.ErrorRequestHandler)
  const server = app.listen(0)
  onTestFinished(() => void server.close())
  return urlOf(server.address())
}

/** @param own whether the route has an error handler of its own */
const onFastify =
  (own: boolean): App =>
  async (quota, work) => {
    const app = fastify({ forceCloseConnections: true })
    await app.register(quotaFastify, { quota, subject: user, ...FIELDS })
    const route = own
      ? {
          errorHandler: (
            _error: unknown,
            _request: unknown,
            reply: { status(code: number): { send(body: object): unknown } },
          ) => void reply.status(500).send({ error: 'ours' }),
        }
      : {}
    app.post('/work', { config: { quota: { operation: 'work', inTransaction: true } }, ...route }, async (request) => {
      await work((transaction) => charge(request, transaction))
      return { charged: quotaOf(request)?.charged }
    })
    app.post('/before', { config: { quota: 'work' } }, async () => ({}))
    onTestFinished(() => app.close())
    await app.listen({ port: 0 })
    return urlOf(app.server.address())
  }

/** @param hasOwn whether the app has an error handler of its own */
const onHono =
  (hasOwn: boolean, isOnNode: boolean): App =>
  async (quota, work) => {
    const metered = honoMiddleware({ quota, subject: (c) => c.req.header('x-user'), ...FIELDS })
    const app = new Hono<{ Bindings: HttpBindings }>()
    if (hasOwn) app.onError((_error, c) => c.json({ error: 'ours' }, 500))
    app.post('/work', metered.inTransaction('work'), async (c) => {
      await work((transaction) => metered.charge(c, transaction))
      return c.json({ charged: metered.of(c)?.charged })
    })
    app.post('/before', metered.operation('work'), (c) => c.json({}))
    // Without the bindings, the app is as on other runtimes.
    const server = serve({ fetch: isOnNode ? app.fetch : (request) => app.fetch(request), port: 0 })
    onTestFinished(() => void server.close())
    return urlOf(server.address())
  }

const onFetch: App = async (quota, work) => {
  const metered = quotaFetch({ quota, subject: (request) => request.headers.get('x-user'), ...FIELDS })
  const routes: Readonly<Record<string, (request: Request) => Promise<Response>>> = {
    '/work': metered.inTransaction('work')(async (request) => {
      await work((transaction) => metered.charge(request, transaction))
      return Response.json({ charged: 1 })
    }),
    '/before': metered.operation('work')(() => Response.json({})),
  }
  const answer = (request: Request): Promise<Response> =>
    routes[new URL(request.url).pathname]!(request).catch(() => Response.json({ error: 'ours' }, { status: 500 }))
  const server = serve({ fetch: answer, port: 0 })
  onTestFinished(() => void server.close())
  return urlOf(server.address())
}

const onNest: App = async (quota, work) => {
  class Works {
    async work(charge: Charge): Promise<object> {
      await work((transaction) => charge(transaction))
      return { charged: 1 }
    }
    before(): object {
      return {}
    }
  }
  // Decorators in plain calls: the tests' compiler need not know them.
  const inTransaction: QuotaOptions = { inTransaction: true }
  for (const [name, decorator] of [
    ['work', Metered('work', inTransaction)],
    ['before', Metered('work')],
  ] as const) {
    const method = Object.getOwnPropertyDescriptor(Works.prototype, name)!
    for (const decorate of [Post(name), decorator]) decorate(Works.prototype, name, method)
  }
  Charge()(Works.prototype, 'work', 0)
  Controller()(Works)
  class AppModule {}
  const module = QuotaModule.forRoot({ quota, subject: user, ...FIELDS })
  Module({ imports: [module], controllers: [Works] })(AppModule)
  const app = await NestFactory.create(AppModule, { logger: false })
  onTestFinished(() => app.close())
  await app.listen(0)
  return urlOf(app.getHttpServer().address())
}
type QuotaOptions = NonNullable<Parameters<typeof Metered>[1]>

function urlOf(address: ReturnType<ReturnType<typeof createServer>['address']>): string {
  return `http://127.0.0.1:${(address as AddressInfo).port}`
}

/** @param after the rest of the work, in each attempt */
async function started(app: App, after: (attempt: number) => void = () => undefined, attempts = 1) {
  const database = new Database(':memory:')
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: database as unknown as SqliteDatabase }) })
  await migrateQuota(db, { dialect: 'sqlite' })
  database.exec('create table works (subject text not null)')
  const quota = createQuota({ policy, store: sqliteStore({ database }), logger: false }) as Quota<'work'>
  onTestFinished(async () => {
    await quota.close()
    await db.destroy()
  })
  const url = await app(quota, async (charge) => {
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const done = db.transaction().execute(async (transaction) => {
        await transaction.insertInto('works').values({ subject: 'ann' }).execute()
        await charge(transaction)
        after(attempt)
      })
      if (attempt === attempts) await done
      else await done.catch(() => undefined)
    }
  })
  const send = async (path: string) => {
    const response = await fetch(url + path, { method: 'POST', headers: { 'x-user': 'ann', connection: 'close' } })
    return { status: response.status, text: await response.text(), headers: response.headers }
  }
  const charged = async () => {
    const works = await db.selectFrom('works').select('subject').execute()
    return [(await quota.status('ann')).limits.perHour?.used, works.length]
  }
  return { send, charged }
}

const FAILS = (): never => {
  throw new Error('of the work')
}

describe.each<[string, App]>([
  ['Express', onExpress],
  ['Fastify', onFastify(false)],
  ['Fastify with an error handler', onFastify(true)],
  ['Hono on Node', onHono(false, true)],
  ['Hono with an error handler', onHono(true, true)],
  ['Hono elsewhere', onHono(true, false)],
  ['fetch', onFetch],
  ['Nest', onNest],
])('a request that is charged in the transaction of its work, on %s', (_, app) => {
  it('the charge is committed with the work, and the response has its fields', async () => {
    const { send, charged } = await started(app)
    const { status, text, headers } = await send('/work')
    expect([status < 300, text]).toEqual([true, '{"charged":1}'])
    expect(headers.get('ratelimit')).toMatch(/^"perHour";r=1;t=\d+$/)
    expect(await charged()).toEqual([1, 1])
  })

  it('a refusal rolls the work back and is the same 429 as without a transaction', async () => {
    const { send, charged } = await started(app)
    for (let n = 0; n < 2; n++) expect((await send('/work')).status).toBeLessThan(300)
    const [refused, before] = [await send('/work'), await send('/before')]
    expect([refused.status, before.status]).toEqual([429, 429])
    expect(Object.keys(JSON.parse(refused.text))).toEqual(Object.keys(JSON.parse(before.text)))
    for (const name of ['retry-after', 'ratelimit', 'ratelimit-policy', 'content-type'])
      expect([name, refused.headers.get(name)?.replaceAll(/\d+/g, '')]).toEqual([
        name,
        before.headers.get(name)?.replaceAll(/\d+/g, ''),
      ])
    expect(refused.headers.get('ratelimit')).toMatch(/^"perHour";r=0;t=\d+$/)
    expect(await charged()).toEqual([2, 2])
  })

  it('work that fails after its charge charges nothing', async () => {
    const { send, charged } = await started(app, FAILS)
    expect((await send('/work')).status).toBe(500)
    expect(await charged()).toEqual([0, 0])
  })

  it('a transaction that was rolled back and is run again is charged again, once', async () => {
    const { send, charged } = await started(app, (attempt) => (attempt === 1 ? FAILS() : undefined), 2)
    const { status, headers } = await send('/work')
    expect(status).toBeLessThan(300)
    expect(headers.get('ratelimit')).toMatch(/^"perHour";r=1;t=\d+$/)
    expect(await charged()).toEqual([1, 1])
  })

  it('five requests at once are admitted up to the limit', async () => {
    const { send, charged } = await started(app)
    const statuses = (await Promise.all(Array.from({ length: 5 }, () => send('/work')))).map(({ status }) => status)
    expect(statuses.filter((status) => status === 429)).toHaveLength(3)
    expect(await charged()).toEqual([2, 2])
  })

  it('a store without transactions is an error at the start', async () => {
    const quota = createQuota({ policy, store: memoryStore() })
    await expect(app(quota as Quota<'work'>, async () => undefined)).rejects.toMatchObject({
      code: 'store_unsupported',
    })
  })
})

it('charge() of a request whose handler charges in no transaction is an error', () => {
  const metered = quotaFetch({ quota: createQuota({ policy }), subject: () => 'ann' })
  expect(() => metered.charge(new Request('http://localhost/'), {})).toThrowError(
    expect.objectContaining({ code: 'invalid_options' }),
  )
})
