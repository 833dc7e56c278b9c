import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ownTime } from '@scoregw/server-kit'
import { describe, expect, it, vi } from 'vitest'
import { cleanupsOf } from './support/cleanups.ts'
import { engineOn, firstWrite, load, timedWrite, timeToRecover, untilSpared, usedBy } from './support/engines.ts'
import { type RedisServer, redisTests } from './support/redis-server.ts'

const write = { subject: 'u', operation: 'write' } as const

interface Refusal {
  readonly name: string
  begin(redis: RedisServer): Promise<unknown>
  end(redis: RedisServer): Promise<unknown>
}

const refusals: readonly Refusal[] = [
  {
    name: 'READONLY',
    begin: (redis) => redis.cli('REPLICAOF', '127.0.0.1', '1'),
    end: (redis) => redis.cli('REPLICAOF', 'NO', 'ONE'),
  },
  {
    name: 'OOM',
    begin: (redis) => redis.cli('CONFIG', 'SET', 'maxmemory', '1'),
    end: (redis) => redis.cli('CONFIG', 'SET', 'maxmemory', '0'),
  },
  {
    name: 'MISCONF',
    async begin(redis) {
      const [, dir] = (await redis.cli('CONFIG', 'GET', 'dir')) as [string, string]
      // Where the snapshot should go is a folder that is not empty.
      await mkdir(join(dir, 'dump.rdb', 'taken'), { recursive: true })
      await redis.cli('CONFIG', 'SET', 'save', '3600 1')
      await redis.cli('BGSAVE')
      await vi.waitFor(async () => expect(await redis.cli('INFO')).toMatch(/rdb_last_bgsave_status:err/), {
        timeout: 15_000,
        interval: 5,
      })
    },
    end: (redis) => redis.cli('CONFIG', 'SET', 'save', ''),
  },
  {
    name: 'NOREPLICAS',
    begin: (redis) => redis.cli('CONFIG', 'SET', 'min-replicas-to-write', '1'),
    end: (redis) => redis.cli('CONFIG', 'SET', 'min-replicas-to-write', '0'),
  },
  {
    name: 'NOPERM',
    begin: (redis) => redis.cli('ACL', 'SETUSER', 'default', '-evalsha'),
    end: (redis) => redis.cli('ACL', 'SETUSER', 'default', '+evalsha'),
  },
]

describe.runIf(redisTests).concurrent('servers that reject the work', () => {
  it.for(refusals)('$name fails immediately and writes nothing', async ({ name, begin, end }, { onTestFinished }) => {
    const { later, server } = cleanupsOf(onTestFinished)
    const redis = await server()
    const { quota, store } = engineOn(redis.port, later, { deadlineMs: 1_000 })
    await store.ready()
    await firstWrite(quota)
    await begin(redis)
    const began = ownTime()
    const cause = { code: 'store_error', cause: { message: expect.stringMatching(`^${name} `) } }
    await expect(quota.consume(write)).rejects.toMatchObject({ code: 'quota_unavailable', cause })
    expect(ownTime() - began).toBeLessThan(store.deadlineMs)
    await end(redis)
    expect(await timeToRecover(quota)).toBeLessThan(1_000)
    expect(await usedBy(quota, 'u')).toBe(2)
  })

  it('an error reply counts as an answer: the circuit closes and every call gets the error', async ({
    onTestFinished,
  }) => {
    const { later, server } = cleanupsOf(onTestFinished)
    const redis = await server()
    const { quota, store } = engineOn(redis.port, later, { deadlineMs: 150 })
    await store.ready()
    redis.pause()
    const callers = load(quota)
    await untilSpared(quota)
    await callers.stop()
    redis.resume()
    await redis.cli('CONFIG', 'SET', 'maxmemory', '1')
    const why = () => quota.consume(write).catch((error: Error) => String((error.cause as Error).cause))
    await vi.waitFor(async () => expect(await why()).toMatch(/OOM/), { timeout: 15_000 })
    expect(await why()).toMatch(/OOM/)
    expect(await why()).toMatch(/OOM/)
  })

  it('a call waits while the server answers MASTERDOWN', async ({ onTestFinished }) => {
    const { later, server } = cleanupsOf(onTestFinished)
    const redis = await server({ args: ['--replica-serve-stale-data', 'no'] })
    const { quota, store } = engineOn(redis.port, later, { deadlineMs: 1_000 })
    await store.ready()
    await firstWrite(quota)
    await redis.cli('REPLICAOF', '127.0.0.1', '1')
    const call = timedWrite(quota)
    await new Promise((resolve) => setTimeout(resolve, 50))
    await redis.cli('REPLICAOF', 'NO', 'ONE')
    expect(await call).toMatchObject({ ok: true })
  })
})
