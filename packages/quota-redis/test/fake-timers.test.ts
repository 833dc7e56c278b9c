import { createQuota } from '@scoregw/quota'
import { startHttpFront } from '@scoregw/redis-server'
import { Redis } from 'ioredis'
import { Redis as Redis5 } from 'ioredis5'
import { createClient } from 'redis'
import { describe, expect, it, vi } from 'vitest'
import { type RedisStore, redisSettings, redisStore } from '../src/index.ts'
import { leasedRedisStore } from '../src/leases.ts'
import { redisRestStore } from '../src/rest.ts'
import { newPrefix } from './store-harness.ts'
import { useCleanups } from './support/cleanups.ts'
import { withShared as policy, request } from './support/one-limit.ts'
import { redisTests } from './support/redis-server.ts'

const { later, server, proxy: startProxy } = useCleanups()

type Open = (port: number, prefix: string) => Promise<RedisStore> | RedisStore

/** node-redis sends commands by `setImmediate`, and so stops where that is replaced. */
const withoutImmediate = () =>
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'] })
const all = () => vi.useFakeTimers()

const STORES: readonly (readonly [name: string, open: Open, fake: () => void])[] = [
  ['ioredis 6', (port, prefix) => redisStore({ client: new Redis({ port, lazyConnect: true }), prefix }), all],
  [
    'ioredis 5',
    (port, prefix) => redisStore({ client: new Redis5({ port, lazyConnect: true }) as unknown as Redis, prefix }),
    all,
  ],
  [
    'node-redis',
    (port, prefix) => redisStore({ client: createClient({ socket: { port, host: '127.0.0.1' } }), prefix }),
    withoutImmediate,
  ],
  [
    'leases',
    (port, prefix) => leasedRedisStore({ client: new Redis({ port, lazyConnect: true }), prefix, logger: false }),
    all,
  ],
  [
    'HTTP',
    async (port, prefix) => {
      const front = await startHttpFront(port)
      later(() => front.stop())
      return redisRestStore({ url: front.url, token: front.token, prefix })
    },
    all,
  ],
]

describe.runIf(redisTests).each(STORES)('a test that replaces the timers, with a store by %s', (_, open, fake) => {
  it('calls settle before, meanwhile and afterwards', async () => {
    const redis = await server()
    const prefix = newPrefix()
    const store = await open(redis.port, prefix)
    const settingsStore = redisSettings({
      client: new Redis({ port: redis.port, lazyConnect: true }),
      prefix,
    })
    const quota = createQuota({ policy, store, settingsStore, failurePolicy: { read: 'closed' }, logger: false })
    later(() => quota.close())
    await quota.ready()
    fake()
    later(() => vi.useRealTimers())
    for (let time = 0; time < 2; time++) {
      const many = await Promise.all(Array.from({ length: 5 }, () => quota.consume(request)))
      expect(many.every(({ allowed }) => allowed)).toBe(true)
      await (await quota.reserve({ ...request, id: `id${time}` })).cancel()
      await quota.settings.update({ mode: 'lenient' })
      expect((await quota.status('u')).subject).toBe('u')
      vi.useRealTimers()
    }
  })

  it('a connection is made meanwhile', async () => {
    const redis = await server()
    const prefix = newPrefix()
    const store = await open(redis.port, prefix)
    fake()
    later(() => vi.useRealTimers())
    later(() => store.close())
    await store.ready()
  })

  it('a server that does not answer meanwhile ends calls at their deadline', async () => {
    const redis = await server()
    const proxy = await startProxy(redis.port)
    const store = await open(proxy.port, newPrefix())
    const quota = createQuota({ policy, store, failurePolicy: { read: 'closed' }, logger: false })
    later(() => quota.close())
    await store.ready()
    proxy.blackHole(true)
    fake()
    later(() => vi.useRealTimers())
    await expect(quota.consume(request)).rejects.toMatchObject({ code: 'quota_unavailable' })
    vi.useRealTimers()
    proxy.blackHole(false)
    await vi.waitFor(() => quota.consume(request), { timeout: 15_000 })
  })
})
