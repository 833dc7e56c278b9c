import { createQuota } from '@scoregw/quota'
import { waitingQueue } from '@scoregw/quota/waiting'
import { redisStore } from '@scoregw/quota-redis'
import { postgresStore, quotaSchemaSql } from '@scoregw/quota-sql'
import { syncSqliteStore } from '@scoregw/quota-sql/sqlite'
import { redisTests, startRedis } from '@scoregw/redis-server'
import { Redis } from 'ioredis'
import Database from 'libsql'
import { expect } from 'vitest'
import { one, rowsOf, testClock } from './rows.ts'

const HOUR = 3_600_000

rowsOf('rate-limiter-flexible', {
  'points, duration: 900 (seconds)'() {
    const clock = testClock()
    const limits = { api: { by: 'user', limit: 2, per: '15m' }, day: { by: 'user', limit: 3, per: '1d' } } as const
    const quota = createQuota({ limits, clock })
    const ask = () => quota.consumeSync({ subject: 'u' }).allowed
    expect([ask(), ask(), ask()]).toEqual([true, true, false])
    clock.advance(15 * 60_000)
    expect([ask(), ask()]).toEqual([true, false])
  },
  'consume(key, points)'() {
    const quota = one(5)
    expect(quota.consumeSync({ subject: 'u', cost: 4 }).allowed).toBe(true)
    expect(quota.consumeSync({ subject: 'u', cost: 2 }).allowed).toBe(false)
  },
  'a rejection with RateLimiterRes'() {
    expect(one(0).consumeSync({ subject: 'u' })).toMatchObject({ allowed: false, refusedBy: { name: 'api' } })
  },
  'remainingPoints, consumedPoints'() {
    expect(one(5).consumeSync({ subject: 'u', cost: 2 }).limits.api).toMatchObject({ remaining: 3, used: 2 })
  },
  msBeforeNext() {
    const quota = one(1)
    quota.consumeSync({ subject: 'u' })
    expect(quota.consumeSync({ subject: 'u' })).toMatchObject({ retryAfterMs: 900_000 })
  },
  async 'penalty(key, points)'() {
    const operations = { work: { overrun: 'charge', maxOverrun: 10 } } as const
    const quota = createQuota({ limits: { api: { by: 'user', limit: 3, per: '1h' } }, operations })
    const held = quota.reserveSync({ subject: 'u', operation: 'work', ttlMs: 1_000 })
    if (!held.allowed) throw new Error('refused')
    held.commit(5)
    expect(quota.statusSync('u').limits.api).toMatchObject({ used: 5, remaining: 0 })
  },
  'reward(key, points)'() {
    const quota = one(3)
    const held = quota.reserveSync({ subject: 'u', cost: 3 })
    if (!held.allowed) throw new Error('refused')
    held.commit(1)
    expect(quota.statusSync('u').limits.api?.used).toBe(1)
  },
  async 'block(key, seconds)'() {
    const clock = testClock()
    const quota = createQuota({ limits: { api: { by: 'user', limit: 3, per: '1h' } }, clock })
    await quota.subjects.set('u', { blocked: true, until: { blocked: clock.now() + 30_000 } })
    expect(quota.consumeSync({ subject: 'u' })).toMatchObject({ allowed: false, retryAfterMs: 30_000 })
    clock.advance(30_000)
    expect(quota.consumeSync({ subject: 'u' }).allowed).toBe(true)
  },
  async 'delete(key), get(key)'() {
    const quota = one(1)
    quota.consumeSync({ subject: 'u' })
    expect(quota.statusSync('u').limits.api?.used).toBe(1)
    await quota.reset('u')
    expect(quota.statusSync('u').limits.api?.used).toBe(0)
  },
  blockDuration() {
    const limits = { minute: { by: 'user', limit: 5, per: '1m' }, hour: { by: 'user', limit: 5, per: '1h' } } as const
    const quota = createQuota({ limits, clock: testClock() })
    quota.consumeSync({ subject: 'u', cost: 5 })
    expect(quota.consumeSync({ subject: 'u' })).toMatchObject({ retryAfterMs: HOUR, refusedBy: { name: 'hour' } })
  },
  BurstyRateLimiter() {
    const clock = testClock()
    const quota = createQuota({ limits: { api: { by: 'user', limit: 60, per: '1m', burst: 5 } }, clock })
    for (let i = 0; i < 5; i++) expect(quota.consumeSync({ subject: 'u' }).allowed).toBe(true)
    expect(quota.consumeSync({ subject: 'u' })).toMatchObject({ allowed: false, retryAfterMs: 1_000 })
  },
  async execEvenly() {
    const queue = waitingQueue(createQuota({ limits: { api: { by: 'user', limit: 100, per: '1s', burst: 1 } } }))
    const order: number[] = []
    await Promise.all([1, 2, 3].map((n) => queue.run({ subject: 'u' }, () => order.push(n))))
    expect(order).toEqual([1, 2, 3])
    queue.close()
  },
  RateLimiterUnion() {
    const limits = {
      user: { by: 'user', limit: 9, per: '1m' },
      all: { shared: 'service', limit: 2, per: '1h' },
    } as const
    const quota = createQuota({ limits, clock: testClock() })
    for (const subject of ['a', 'b', 'c']) quota.consumeSync({ subject })
    // What the shared limit refused is charged in neither.
    expect(quota.statusSync('c').limits).toMatchObject({ user: { used: 0 }, all: { used: 2 } })
  },
  async insuranceLimiter() {
    if (!redisTests) return
    const server = await startRedis()
    const client = new Redis(server.url, { retryStrategy: () => null, maxRetriesPerRequest: 0 })
    client.on('error', () => undefined)
    const quota = createQuota({
      limits: { api: { by: 'user', limit: 3, per: '15m' } },
      store: redisStore({ client, deadlineMs: 2_000, logger: false }),
      failurePolicy: { request: { local: { expectedProcesses: 1 } } },
      logger: false,
    })
    expect(await quota.consume({ subject: 'u' })).toMatchObject({ allowed: true, source: 'store' })
    await server.stop()
    expect(await quota.consume({ subject: 'u' })).toMatchObject({ allowed: true, source: 'fallback' })
    await quota.close()
    client.disconnect()
  },
  inMemoryBlockOnConsumed() {
    const quota = one(1)
    for (let i = 0; i < 100; i++) quota.consumeSync({ subject: 'u' })
    expect(quota.statusSync('u').limits.api?.used).toBe(1)
  },
  keyPrefix() {
    const limits = { api: { by: 'user', limit: 1, per: '1h' }, export: { by: 'tenant', limit: 1, per: '1h' } } as const
    const quota = createQuota({ limits })
    expect(quota.consumeSync({ subject: { user: 'x', tenant: null } }).allowed).toBe(true)
    expect(quota.consumeSync({ subject: { user: null, tenant: 'x' } }).allowed).toBe(true)
  },
  'RateLimiterRedis, RateLimiterPostgres, SQLite'() {
    const database = new Database(':memory:')
    database.exec(quotaSchemaSql({ dialect: 'sqlite' }))
    const limits = { api: { by: 'user', limit: 1, per: '15m' } } as const
    const ask = () => createQuota({ limits, store: syncSqliteStore({ database }) }).consumeSync({ subject: 'u' })
    // Two engines on one file.
    expect([ask().allowed, ask().allowed]).toEqual([true, false])
    for (const make of [redisStore, postgresStore]) expect(make).toBeTypeOf('function')
  },
  async RateLimiterQueue() {
    const quota = createQuota({ limits: { api: { by: 'user', limit: 1, per: '250ms' } } })
    const queue = waitingQueue(quota)
    expect(await Promise.all([1, 2].map((n) => queue.run({ subject: 'u' }, () => n)))).toMatchObject([
      { allowed: true, value: 1 },
      { allowed: true, value: 2 },
    ])
    queue.close()
  },
})
