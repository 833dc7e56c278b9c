import { createQuota } from '@scoregw/quota'
import { withinOwnTime } from '@scoregw/server-kit'
import { Redis } from 'ioredis'
import { Redis as Redis5 } from 'ioredis5'
import Redis50 from 'ioredis50'
import { createClient } from 'redis'
import { describe, expect, it, vi } from 'vitest'
import { type RedisClient, type RedisStore, redisStore } from '../src/index.ts'
import { leasedRedisStore } from '../src/leases.ts'
import { redisRestStore } from '../src/rest.ts'
import { newPrefix } from './store-harness.ts'
import { cleanupsOf, useCleanups } from './support/cleanups.ts'
import { newestNodeRedis } from './support/clients.ts'
import { withShared as policy, request } from './support/one-limit.ts'
import { redisTests } from './support/redis-server.ts'

const { later, server } = useCleanups()

const CLIENTS: readonly (readonly [name: string, clientOf: (port: number) => RedisClient])[] = [
  ['ioredis 6', (port) => new Redis({ port, lazyConnect: true })],
  ['ioredis 5', (port) => new Redis5({ port, lazyConnect: true }) as unknown as Redis],
  ['ioredis 5.0.0', (port) => new (Redis50 as unknown as typeof Redis)({ port, lazyConnect: true })],
  ['node-redis', (port) => createClient({ socket: { port, host: '127.0.0.1' } })],
  ['node-redis 6', newestNodeRedis],
]

interface Times {
  readonly deadlineMs?: number
}

const STORES: readonly (readonly [name: string, open: (port: number, times: Times) => RedisStore])[] = [
  ...CLIENTS.map(
    ([name, clientOf]) =>
      [
        name,
        (port: number, times: Times) => redisStore({ client: clientOf(port), prefix: newPrefix(), ...times }),
      ] as const,
  ),
  [
    'leases',
    (port, times) =>
      leasedRedisStore({
        client: new Redis({ port, lazyConnect: true }),
        prefix: newPrefix(),
        logger: false,
        ...times,
      }),
  ],
]

function engineOn(store: RedisStore, closeLater = later) {
  const quota = createQuota({ policy, store, failurePolicy: { read: 'closed' }, logger: false })
  closeLater(() => quota.close())
  return quota
}

it('a call waits a second by default, and from 10 milliseconds to a minute', () => {
  const client = new Redis({ lazyConnect: true })
  const opens = [
    (times: Times) => redisStore({ client, ...times }),
    (times: Times) => leasedRedisStore({ client, ...times }),
    (times: Times) => redisRestStore({ url: 'https://redis.example', token: 't', ...times }),
  ]
  for (const open of opens) {
    const stores = [open({}), open({ deadlineMs: 10 }), open({ deadlineMs: 60_000 })]
    for (const store of stores) later(() => store.close())
    expect(stores.map(({ deadlineMs }) => deadlineMs)).toEqual([1_000, 10, 60_000])
    for (const deadlineMs of [9, 60_001]) expect(() => open({ deadlineMs })).toThrow(/deadlineMs.*10 to 60000/)
  }
})

describe.runIf(redisTests).each(STORES)('deadlines of a store by %s', (_, open) => {
  it('a pause of the server shorter than the deadline is waited for', async () => {
    const redis = await server()
    const store = open(redis.port, { deadlineMs: 30_000 })
    const quota = engineOn(store)
    await store.ready()
    await quota.consume(request)
    redis.pause()
    const waiting = quota.consume(request)
    // Longer than a connection may be silent when calls wait for a second.
    await new Promise((resolve) => setTimeout(resolve, 2_500))
    redis.resume()
    expect(await waiting).toMatchObject({ allowed: true })
  })

  it('a server without room for another client says so', async () => {
    const redis = await server({ args: ['--maxclients', '2'] })
    const others = [new Redis({ port: redis.port }), new Redis({ port: redis.port })]
    for (const each of others) {
      later(() => each.disconnect())
      await each.ping()
    }
    const store = open(redis.port, {})
    later(() => store.close())
    for (let time = 0; time < 3; time++) await expect(store.ready()).rejects.toThrow(/maxclients/)
    await others[0]!.config('SET', 'maxclients', '100')
    await vi.waitFor(() => store.ready(), { timeout: 15_000 })
  })
})

describe.runIf(redisTests).concurrent('black holes', () => {
  it.for(STORES)(
    'a black hole ends calls by %s at their deadline, and the silent connection is replaced',
    async ([, open], { onTestFinished }) => {
      const { later, server, proxy: startProxy } = cleanupsOf(onTestFinished)
      const redis = await server()
      const proxy = await startProxy(redis.port)
      const store = open(proxy.port, { deadlineMs: 500 })
      const quota = engineOn(store, later)
      await store.ready()
      // Half a second is little for a machine that is busy with other work.
      const answered = () => vi.waitFor(() => quota.consume(request), { timeout: 15_000 })
      await answered()
      const sockets = proxy.openSockets()
      proxy.blackHole(true)
      const error = await quota.consume(request).catch((reason: unknown) => reason)
      expect(error).toMatchObject({ code: 'quota_unavailable', cause: { code: 'store_error' } })
      // Old connections stay in the hole: only new ones get through.
      proxy.heal()
      // After a second of silence. A connection that is kept would never answer.
      await withinOwnTime(8_000, () => quota.consume(request))
      expect(await answered()).toMatchObject({ allowed: true })
      await vi.waitFor(() => expect(proxy.openSockets()).toBe(sockets), { timeout: 15_000 })
    },
  )
})
