import { setImmediate } from 'node:timers/promises'
import { cellsIn, windowCell } from '@scoregw/quota/internal'
import { isNotDone } from '@scoregw/quota/store'
import { uniform } from '@scoregw/quota-histories'
import { Redis } from 'ioredis'
import { describe, expect, it, vi } from 'vitest'
import { ServerConnection } from '../src/connection/server-connection.ts'
import { type RedisCounters, type RedisStore, redisStore } from '../src/index.ts'
import { Keys } from '../src/keys/keys.ts'
import { useCleanups } from './support/cleanups.ts'
import { redisTests } from './support/redis-server.ts'

const { later, server, proxy: startProxy } = useCleanups()

const SCHEMA = uniform(['tokens'], cellsIn(['tokens'], [windowCell({ label: '1h', lengthMs: 3_600_000 })]), [
  { name: 'personal', shared: false },
])
/** So short that it ends while a call waits to be made again. */
const HASTY_MS = 100
const ID = { id: 'i', nonce: 'n', fingerprint: 'f', ttlMs: 60_000 }

function storeOn(port: number, deadlineMs = 1_000): RedisStore {
  const client = new Redis({ port, lazyConnect: true })
  client.on('error', () => undefined)
  const store = redisStore({ client, deadlineMs })
  later(() => store.close())
  return store
}

const take = (counters: RedisCounters, id?: typeof ID) =>
  counters.take({ subject: 'u', set: 0, quotas: { layers: [0], limits: [9] }, costs: [3, 0], id })

async function cancel(counters: RedisCounters, states: readonly number[], id?: typeof ID): Promise<unknown> {
  const settled = { subject: 'u', set: 0, layers: [0], states, refunds: [3], as: 'cancelled', id } as const
  return counters.settle(settled).then(
    () => 'done',
    (error: unknown) => (isNotDone(error) ? 'not done' : 'in doubt'),
  )
}

describe.runIf(redisTests)('failed settles', () => {
  it.each([undefined, ID])(
    'a settle that certainly wasn’t done rejects with that fact and can be repeated (id %o)',
    async (id) => {
      const redis = await server()
      const proxy = await startProxy(redis.port)
      const store = storeOn(proxy.port)
      const counters = store.open(SCHEMA)
      const keys = new Keys('quota', SCHEMA)
      await store.ready()
      const { states } = await take(counters, id)
      const used = async () => (await counters.read({ subject: 'u', set: 0, layers: [0] })).states[1]

      await redis.cli('CONFIG', 'SET', 'maxmemory', '1')
      expect(await cancel(counters, states, id)).toBe('not done')
      await redis.cli('CONFIG', 'SET', 'maxmemory', '0')

      await redis.cli('RENAME', keys.row(0, 'u'), '{quota}kept')
      await redis.cli('SET', keys.row(0, 'u'), 'x')
      expect(await cancel(counters, states, id)).toBe('not done')
      await redis.cli('RENAME', '{quota}kept', keys.row(0, 'u'))

      proxy.refuse(true)
      proxy.cutAll()
      await vi.waitFor(() => expect(store.ready()).rejects.toThrow(), { timeout: 15_000 })
      // Nothing is written where there is no connection.
      expect(await cancel(counters, states, id)).toBe('not done')
      proxy.refuse(false)
      await vi.waitFor(() => store.ready(), { timeout: 15_000, interval: 20 })
      expect(await used()).toBe(3)

      expect(await cancel(counters, states, id)).toBe('done')
      expect(await used()).toBe(0)
    },
  )

  it('a settle that was reported as not done isn’t sent later', async () => {
    const redis = await server()
    const [store, witness] = [storeOn(redis.port, HASTY_MS), storeOn(redis.port)]
    const [counters, others] = [store.open(SCHEMA), witness.open(SCHEMA)]
    await Promise.all([store.ready(), witness.ready()])
    const { states } = await take(others)
    const send = ServerConnection.prototype.send
    let isLoading = true
    const spy = vi.spyOn(ServerConnection.prototype, 'send').mockImplementation(function (
      this: ServerConnection,
      command,
      ...words
    ) {
      // Stores look for ended holds by themselves.
      if (!isLoading || !['EVAL', 'EVALSHA'].includes(command) || words.includes('ended'))
        return send.call(this, command, ...words)
      return Promise.reject(Object.assign(new Error('LOADING the dataset'), { name: 'ReplyError' }))
    })
    later(() => spy.mockRestore())
    // The deadline comes while the call waits to be made again.
    expect(await cancel(counters, states)).toBe('not done')
    isLoading = false
    await store.close()
    const { states: now } = await others.read({ subject: 'u', set: 0, layers: [0] })
    expect(now[1]).toBe(3)
  })

  it('a settle with an unknown result doesn’t claim that it wasn’t done', async () => {
    const redis = await server()
    const proxy = await startProxy(redis.port)
    const store = storeOn(proxy.port, 500)
    const counters = store.open(SCHEMA)
    await store.ready()
    // A busy machine may answer after the deadline.
    const { states } = await vi.waitFor(() => take(counters), { timeout: 15_000 })
    proxy.dropReplies(true)
    expect(await cancel(counters, states)).toBe('in doubt')
    expect(await cancel(counters, states, ID)).toBe('in doubt')
    proxy.dropReplies(false)
    await vi.waitFor(() => counters.read({ subject: 'u', set: 0, layers: [0] }), { timeout: 15_000 })
    const cut = proxy.cutAfterNextRequest()
    expect(await cancel(counters, states)).toBe('in doubt')
    await cut
    await store.close()
    expect(await cancel(counters, states)).toBe('not done')
  })

  it('a settle with an unknown result doesn’t claim that it wasn’t done when its repetition is refused', async () => {
    const redis = await server()
    const proxy = await startProxy(redis.port)
    const store = storeOn(proxy.port, 15_000)
    const counters = store.open(SCHEMA)
    await store.ready()
    const { states } = await take(counters, ID)
    proxy.blackHole(true)
    const cancelled = cancel(counters, states, ID)
    await redis.cli('CONFIG', 'SET', 'maxmemory', '1')
    // What was sent before is in the hole, whichever socket was read first.
    await setImmediate()
    // The connection is cut, and the call is made again on a new one.
    proxy.blackHole(false)
    expect(await cancelled).toBe('in doubt')
  })
})
