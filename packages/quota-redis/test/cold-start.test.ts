import { inspect } from 'node:util'
import { createQuota, type QuotaError } from '@scoregw/quota'
import { freePort, ownTime } from '@scoregw/server-kit'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { describe, expect, it } from 'vitest'
import { type RedisClient, redisSettings, redisStore } from '../src/index.ts'
import { useCleanups } from './support/cleanups.ts'
import { policyOf } from './support/engines.ts'
import { redisTests } from './support/redis-server.ts'

const { later, server, proxy: startProxy } = useCleanups()

/** Each way: two round trips fit into the deadline with room, and connecting takes two at least. */
const ONE_WAY_MS = 150
const FAR_DEADLINE_MS = 800
/** Longer than any test waits. */
const FOR_EVER_MS = 60_000
const PASSWORD = 'hunter2'

const CLIENTS: readonly (readonly [string, (port: number, password?: string) => RedisClient])[] = [
  ['ioredis', (port, password) => new Redis({ port, password, lazyConnect: true })],
  [
    'node-redis',
    (port, password) => createClient({ socket: { port, host: '127.0.0.1' }, ...(password && { password }) }),
  ],
]

const write = { subject: 'u', operation: 'write' } as const

describe.runIf(redisTests).each(CLIENTS)('the first connection with %s', (_, clientOf) => {
  function quotaOn(port: number, { password = '', connectTimeoutMs = FOR_EVER_MS, deadlineMs = 150 } = {}) {
    const store = redisStore({
      client: clientOf(port, password === '' ? undefined : password),
      deadlineMs,
      connectTimeoutMs,
    })
    const quota = createQuota({ policy: policyOf(), store })
    quota.on('degraded', () => undefined)
    later(() => quota.close())
    return quota
  }

  /** Why a call was not answered: the error of the store. */
  async function causeOf(call: Promise<unknown>): Promise<Error> {
    const error = await call.then(
      () => undefined,
      (caught: unknown) => caught,
    )
    expect(error).toMatchObject({ code: 'quota_unavailable' })
    return (error as QuotaError).cause as Error
  }

  it('the first calls wait for a connection to a distant server and get its answers', async () => {
    const redis = await server()
    const proxy = await startProxy(redis.port)
    proxy.latency(ONE_WAY_MS)
    const quota = quotaOn(proxy.port, { deadlineMs: FAR_DEADLINE_MS })
    const began = performance.now()
    const decisions = await Promise.all([quota.consume(write), quota.consume({ ...write, subject: 'v' })])
    expect(decisions.map(({ allowed, source }) => [allowed, source])).toEqual([
      [true, 'store'],
      [true, 'store'],
    ])
    // Else this shows nothing.
    expect(performance.now() - began).toBeGreaterThan(FAR_DEADLINE_MS)
    // The script came with the call: to be requested it costs a round trip.
    expect(await redis.cli('INFO', 'errorstats')).not.toContain('NOSCRIPT')
  })

  it('the first calls wait for distant settings and fail if that connection is refused', async () => {
    const redis = await server()
    const far = await startProxy(redis.port)
    far.latency(ONE_WAY_MS)
    const quotaBy = (settingsPort: number) => {
      const settingsStore = redisSettings({ client: clientOf(settingsPort) })
      const store = redisStore({ client: clientOf(redis.port), deadlineMs: FAR_DEADLINE_MS })
      const quota = createQuota({ policy: policyOf(), store, settingsStore })
      quota.on('degraded', () => undefined)
      later(() => quota.close())
      return quota
    }
    const began = performance.now()
    // A busy machine may need more than the two seconds that settings have for a connection.
    const late = { cause: { message: expect.stringContaining('no connection within 2000 ms') } }
    const first = async () => quotaBy(far.port).consume(write)
    const answer = () => first().catch((error) => expect(error).toMatchObject(late))
    await expect.poll(answer).toMatchObject({ allowed: true, source: 'store' })
    // Else this shows nothing.
    expect(performance.now() - began).toBeGreaterThan(FAR_DEADLINE_MS)
    const { message } = await causeOf(quotaBy(await freePort()).consume(write))
    expect(message).toContain('ECONNREFUSED')
  })

  it('the first calls don’t wait for a refused connection, and every call gets the reason', async () => {
    const port = await freePort()
    const quota = quotaOn(port)
    const began = ownTime()
    for (let call = 0; call < 3; call++) {
      const { message } = await causeOf(quota.consume(write))
      expect(message).toContain(`connect ECONNREFUSED 127.0.0.1:${port}. Start Redis there`)
    }
    expect(ownTime() - began).toBeLessThan(FOR_EVER_MS / 10)
  })

  it('the first calls stop waiting when the connection isn’t made in time', async () => {
    const redis = await server()
    const proxy = await startProxy(redis.port)
    proxy.blackHole(true)
    const quota = quotaOn(proxy.port, { connectTimeoutMs: 300 })
    expect((await causeOf(quota.consume(write))).message).toMatch(/no connection within 300 ms.*raise connectTimeoutMs/)
  })

  it('a limited number of calls wait for a server that never answers', async () => {
    const redis = await server()
    const proxy = await startProxy(redis.port)
    proxy.blackHole(true)
    const quota = quotaOn(proxy.port)
    const inOrder: string[] = []
    const calls = Array.from({ length: 10_100 }, async () => {
      inOrder.push((await causeOf(quota.consume(write))).message)
    })
    await Promise.all(calls)
    expect(inOrder.map((message) => message.includes('no more are taken on')).lastIndexOf(true)).toBe(99)
    expect(inOrder[100]).toMatch(/was silent for 1000 ms/)
  })

  it('the first connection ends when the store is closed', async () => {
    const redis = await server()
    const proxy = await startProxy(redis.port)
    proxy.blackHole(true)
    const quota = quotaOn(proxy.port)
    const call = causeOf(quota.consume(write))
    await quota.close()
    expect((await call).message).toContain('closed')
  })

  it.each([
    ['a wrong password', PASSWORD, /WRONGPASS .*Correct the username and password of your client/],
    ['no password', '', /NOAUTH .*Correct the username and password of your client/],
  ])('the error for %s says so and hides the password', async (_name, password, says) => {
    const redis = await server({ args: ['--requirepass', 'secret'] })
    const quota = quotaOn(redis.port, { password })
    for (let call = 0; call < 3; call++) {
      const cause = await causeOf(quota.consume(write))
      expect(cause).toMatchObject({ code: 'store_error', message: expect.stringMatching(says) })
      expect(inspect(cause, { depth: 20 })).not.toContain(PASSWORD)
    }
  })

  it('the error for a server that may evict counters says what to set', async () => {
    const redis = await server({ args: ['--maxmemory-policy', 'allkeys-lru'] })
    const quota = quotaOn(redis.port)
    expect(await causeOf(quota.consume(write))).toMatchObject({
      code: 'unsafe_eviction',
      message: expect.stringMatching(/maxmemory-policy is allkeys-lru.*Set noeviction/),
    })
  })
})
