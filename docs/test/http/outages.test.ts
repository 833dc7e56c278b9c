import 'reflect-metadata'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { Controller, Get, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { createQuota } from '@scoregw/quota'
import type { QuotaStore } from '@scoregw/quota/store'
import { quotaMiddleware } from '@scoregw/quota-express'
import { quotaFastify } from '@scoregw/quota-fastify'
import { quotaMiddleware as honoQuota } from '@scoregw/quota-fetch/hono'
import { QuotaGuard, QuotaModule } from '@scoregw/quota-nest'
import { type RedisClient, redisStore } from '@scoregw/quota-redis'
import { redisTests, startRedis } from '@scoregw/redis-server'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { describe, expect, onTestFinished, test, vi } from 'vitest'

const PASSWORD = 'hunter2'

const engineOn = (store: QuotaStore) =>
  createQuota({ limits: { api: { by: 'user', limit: 1_000, per: '15m' } }, store })
type Engine = ReturnType<typeof engineOn>
const subject = (): string => 'ann'

/** The shortest application of each framework, as its page begins: without a logger, without a listener. */
const APPS: Readonly<Record<string, (quota: Engine) => Promise<string>>> = {
  async Express(quota) {
    const app = express()
    app.use(quotaMiddleware({ quota, subject }))
    app.get('/', (_req, res) => void res.send('ok'))
    return listening(createServer(app))
  },
  async Fastify(quota) {
    const app = fastify()
    await app.register(quotaFastify, { quota, subject })
    app.get('/', () => 'ok')
    onTestFinished(() => app.close())
    return app.listen({ port: 0, host: '127.0.0.1' })
  },
  async Hono(quota) {
    const app = new Hono()
    app.use(honoQuota({ quota, subject }))
    app.get('/', (c) => c.text('ok'))
    return listening(createServer(getRequestListener(app.fetch)))
  },
  async Nest(quota) {
    // Decorators in plain calls: the tests' compiler need not know them.
    class Root {
      read(): string {
        return 'ok'
      }
    }
    Get()(Root.prototype, 'read', Object.getOwnPropertyDescriptor(Root.prototype, 'read')!)
    Controller()(Root)
    class AppModule {}
    Module({ imports: [QuotaModule.forRoot({ quota, subject })], controllers: [Root] })(AppModule)
    const app = await NestFactory.create(AppModule, { logger: false, abortOnError: false })
    app.useGlobalGuards(app.get(QuotaGuard))
    onTestFinished(() => app.close())
    await app.listen(0, '127.0.0.1')
    return app.getUrl()
  },
}

async function listening(server: ReturnType<typeof createServer>): Promise<string> {
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

const CLIENTS: Readonly<Record<string, (url: string) => RedisClient>> = {
  ioredis: (url) => new Redis(url, { lazyConnect: true }),
  'node-redis': (url) => createClient({ url }),
}

const EVERY = Object.keys(APPS).flatMap((app) => Object.keys(CLIENTS).map((client) => [app, client] as const))

/** The lines that the application writes on the console, and the statuses of its answers. */
async function running(app: string, client: string, port: number, login = '') {
  const lines: string[] = []
  for (const level of ['error', 'warn'] as const) {
    const spy = vi.spyOn(console, level).mockImplementation((line) => void lines.push(`${level} ${String(line)}`))
    onTestFinished(() => spy.mockRestore())
  }
  const store = redisStore({ client: CLIENTS[client]!(`redis://${login}127.0.0.1:${port}`), deadlineMs: 300 })
  const quota = engineOn(store)
  onTestFinished(() => quota.close())
  const url = await APPS[app]!(quota)
  return { lines, call: async () => (await fetch(url)).status }
}

describe.runIf(redisTests).each(EVERY)('outages of %s on a Redis by %s', (app, client) => {
  test('a Redis that may evict counters is logged in one line, and so is its correction', async () => {
    const redis = await startRedis({ args: ['--maxmemory-policy', 'allkeys-lru'] })
    onTestFinished(() => redis.stop())
    const { lines, call } = await running(app, client, redis.port)
    expect([await call(), await call(), await call()]).toEqual([503, 503, 503])
    expect(lines).toEqual([
      expect.stringMatching(
        /^error quota: unsafe_eviction: .*maxmemory-policy is allkeys-lru.* Set noeviction.* Requests get 503 .*#unsafe_eviction$/,
      ),
    ])
    await redis.cli('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
    await vi.waitFor(async () => expect(await call()).toBe(200), { timeout: 30_000 })
    expect(lines.slice(1)).toEqual([
      expect.stringMatching(/^warn quota: recovered after \d+ s, \d+ requests answered 503\.$/),
    ])
  })

  test('a dead port is logged in one line with the port', async () => {
    const redis = await startRedis()
    const { port } = redis
    await redis.stop()
    const { lines, call } = await running(app, client, port)
    expect([await call(), await call(), await call()]).toEqual([503, 503, 503])
    expect(lines).toEqual([
      expect.stringMatching(
        new RegExp(
          `^error quota: store_error: .*connect ECONNREFUSED 127.0.0.1:${port}\\. Start Redis there.* Requests get 503`,
        ),
      ),
    ])
  })

  test('a wrong password is logged in one line without the password', async () => {
    const redis = await startRedis({ args: ['--requirepass', 'another'] })
    onTestFinished(() => redis.stop())
    const { lines, call } = await running(app, client, redis.port, `:${PASSWORD}@`)
    expect([await call(), await call(), await call()]).toEqual([503, 503, 503])
    expect(lines).toEqual([
      expect.stringMatching(
        /^error quota: store_error: .*WRONGPASS .*Correct the username and password.* Requests get 503/,
      ),
    ])
    expect(lines.join('')).not.toContain(PASSWORD)
  })
})
