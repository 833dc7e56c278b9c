import { Redis } from 'ioredis'
import { describe, expect, it, vi } from 'vitest'
import { useCleanups } from './support/cleanups.ts'
import { engineOn, firstWrite, load, timedWrite, timeToRecover, untilSpared, usedBy } from './support/engines.ts'
import { type RedisServer, redisTests } from './support/redis-server.ts'

const { later, server } = useCleanups()

const write = { subject: 'u', operation: 'write' } as const

/** A client that connected in good times, for what no new client can do. */
async function oldHand(port: number): Promise<Redis> {
  const client = new Redis({ port, maxRetriesPerRequest: 0 })
  client.on('error', () => undefined)
  later(() => client.disconnect())
  await client.ping()
  return client
}

/** Keeps the server busy until a `SCRIPT KILL`; resolves when it says so. */
async function keepBusy(redis: RedisServer, witness: Redis): Promise<void> {
  redis.cli('EVAL', 'while true do end', '0').catch(() => undefined)
  await vi.waitFor(() => expect(witness.get('k')).rejects.toThrow(/^BUSY/), { timeout: 15_000, interval: 5 })
}

describe.runIf(redisTests)('faults of the server', () => {
  it('kill -9 with an append-only file loses no acknowledged charge', async () => {
    const redis = await server({ aof: true })
    const { quota, store } = engineOn(redis.port, later)
    await store.ready()
    await firstWrite(quota)
    for (const _ of [1, 2]) {
      const before = await usedBy(quota, 'u')
      const callers = load(quota)
      await vi.waitFor(async () => expect(await usedBy(quota, 'u')).toBeGreaterThan(before + 100), { timeout: 15_000 })
      await redis.kill()
      const results = await callers.stop()
      await redis.restart()
      expect(await timeToRecover(quota)).toBeLessThan(1_000)
      const acknowledged = before + results.filter(({ ok }) => ok).length + 1
      const used = await usedBy(quota, 'u')
      expect(used).toBeGreaterThanOrEqual(acknowledged)
      const doubtful = results.filter(({ ok, isSpared }) => !ok && !isSpared).length
      expect(used).toBeLessThanOrEqual(acknowledged + doubtful)
    }
  })

  it('a store starts to work when the server appears, even if it was missing at first', async () => {
    const redis = await server()
    await redis.kill()
    const { quota, store } = engineOn(redis.port, later)
    expect(await timedWrite(quota)).toMatchObject({ ok: false })
    await expect(store.ready()).rejects.toMatchObject({
      code: 'store_error',
      message: expect.stringMatching(/ECONNREFUSED/),
    })
    await expect(quota.consume(write)).rejects.toMatchObject({
      code: 'quota_unavailable',
      cause: { message: expect.stringMatching(/Redis/) },
    })
    await redis.restart()
    expect(await timeToRecover(quota)).toBeLessThan(1_000)
    await store.ready()
  })

  it('a short server restart fails no call', async () => {
    const redis = await server()
    const { quota, store } = engineOn(redis.port, later, { deadlineMs: 1_000 })
    await store.ready()
    await redis.kill()
    await expect(store.ready()).rejects.toMatchObject({ code: 'store_error' })
    const call = timedWrite(quota)
    await redis.restart()
    expect(await call).toMatchObject({ ok: true })
  })

  it('calls fail while the server loads its data and succeed afterwards', async () => {
    const redis = await server({ args: ['--key-load-delay', '300', '--loading-process-events-interval-bytes', '1024'] })
    const { quota, store } = engineOn(redis.port, later, { deadlineMs: 150 })
    await store.ready()
    await firstWrite(quota)
    await redis.cli('EVAL', "for i = 1, 3000 do redis.call('SET', 'k' .. i, string.rep('x', 100)) end", '0')
    await redis.cli('SAVE')
    await redis.kill()
    const loaded = redis.restart()
    const witness = new Redis({ port: redis.port, maxRetriesPerRequest: 0, enableReadyCheck: false })
    witness.on('error', () => undefined)
    later(() => witness.disconnect())
    await vi.waitFor(() => expect(witness.get('k')).rejects.toThrow(/^LOADING/), { timeout: 15_000, interval: 5 })
    const { ok, ms } = await timedWrite(quota)
    expect(ok).toBe(false)
    expect(ms).toBeLessThan(150 + 50)
    await loaded
    expect(await timeToRecover(quota)).toBeLessThan(1_000)
    expect(await usedBy(quota, 'u')).toBe(2)
  })

  it('calls fail while a script keeps the server busy and succeed afterwards', async () => {
    const redis = await server({ args: ['--lua-time-limit', '20'] })
    const { quota, store } = engineOn(redis.port, later, { deadlineMs: 150 })
    await store.ready()
    await firstWrite(quota)
    const witness = await oldHand(redis.port)
    await keepBusy(redis, witness)
    const callers = load(quota)
    await untilSpared(quota)
    const results = await callers.stop()
    expect(results.filter(({ ok }) => ok)).toEqual([])
    await witness.script('KILL')
    expect(await timeToRecover(quota)).toBeLessThan(1_000)
  })

  it('a request that wasn’t executed is sent again while there is time', async () => {
    const redis = await server({ args: ['--lua-time-limit', '20'] })
    const { quota, store } = engineOn(redis.port, later, { deadlineMs: 1_000 })
    await store.ready()
    await firstWrite(quota)
    const witness = await oldHand(redis.port)
    await keepBusy(redis, witness)
    const call = timedWrite(quota)
    await vi.waitFor(() => expect(witness.get('k')).rejects.toThrow(/^BUSY/), { timeout: 15_000 })
    await witness.script('KILL')
    expect(await call).toMatchObject({ ok: true })
    expect(await usedBy(quota, 'u')).toBe(2)
  })

  it('killed connections fail no call', async () => {
    const redis = await server()
    const { quota, store } = engineOn(redis.port, later)
    await store.ready()
    await firstWrite(quota)
    for (let i = 0; i < 5; i++) {
      expect(await redis.cli('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')).toBeGreaterThan(0)
      expect(await timedWrite(quota)).toMatchObject({ ok: true })
      await store.ready()
    }
    expect(await usedBy(quota, 'u')).toBe(6)
  })

  it('a flushed script cache fails no call', async () => {
    const redis = await server()
    const { quota, store } = engineOn(redis.port, later)
    await store.ready()
    const callers = load(quota)
    for (let i = 0; i < 10; i++) {
      await redis.cli('SCRIPT', 'FLUSH')
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    const results = await callers.stop()
    expect(results.filter(({ ok }) => !ok)).toEqual([])
    expect(await usedBy(quota, 'u')).toBe(results.length)
  })
})
