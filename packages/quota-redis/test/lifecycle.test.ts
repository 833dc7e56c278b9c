import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createQuota } from '@scoregw/quota'
import { scoreGatewayPolicy } from '@scoregw/quota/score-gateway'
import { ownTime } from '@scoregw/server-kit'
import { Redis } from 'ioredis'
import { describe, expect, it, vi } from 'vitest'
import { Gathered } from '../src/counters/delivery.ts'
import { type RedisStoreOptions, redisStore } from '../src/index.ts'
import { useCleanups } from './support/cleanups.ts'
import { engineOn, usedBy } from './support/engines.ts'
import { runProgram } from './support/program.ts'
import { redisTests } from './support/redis-server.ts'

const { later, server, proxy: startProxy } = useCleanups()

const write = { subject: 'u', operation: 'write' } as const

/** A program that decides once, prints what came of it, closes its engine and has nothing else to do. */
function programThatDecides(port: number): ChildProcess {
  const code = `
    import { createQuota } from '@scoregw/quota'
    import { redisStore } from '@scoregw/quota-redis'
    import { Redis } from 'ioredis'
    const client = new Redis({ port: ${port}, lazyConnect: true })
    const quota = createQuota({
      limits: { perHour: { by: 'user', limit: 9, per: '1h' } },
      store: redisStore({ client, deadlineMs: 1_000 }),
    })
    const decide = () => quota.consume({ subject: 'u' }).then(() => 'admitted', ({ code }) => code)
    console.log(await decide(), await decide(), await decide())
    await quota.close()
    console.log('closed')`
  const child = runProgram(code)
  later(() => child.kill('SIGKILL'))
  return child
}

async function outputAndExit(
  child: ChildProcess,
): Promise<{ output: string; code: number | null; closedToExitMs: number }> {
  let output = ''
  let closedAt: number | undefined
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (data: Buffer) => {
      output += data.toString()
      if (output.includes('closed\n')) closedAt ??= ownTime()
    })
  }
  const [code] = (await once(child, 'exit')) as [number | null]
  return { output, code, closedToExitMs: ownTime() - (closedAt ?? 0) }
}

describe('options of redisStore', () => {
  const client = new Redis({ lazyConnect: true })

  it.each<[string, object]>([
    ['client', {}],
    ['client', { client: { host: 'localhost' } }],
    ['prefix', { client, prefix: 'a{b}' }],
    ['prefix', { client, prefix: '' }],
    ['deadlineMs', { client, deadlineMs: 0 }],
    ['deadlineMs', { client, deadlineMs: 60_001 }],
    ['evictionPolicy', { client, evictionPolicy: 'ignore' }],
    ['logger', { client, logger: console.log }],
    ['testClock', { client, testClock: {} }],
    ['deadline', { client, deadline: 150 }],
  ])('redisStore() names the fault of %s', (name, options) => {
    const faulty = () => redisStore(options as RedisStoreOptions)
    expect(faulty).toThrow(expect.objectContaining({ code: 'invalid_options', message: expect.stringContaining(name) }))
  })
})

describe.runIf(redisTests)('the lifecycle of a Redis store', () => {
  it.each(['there', 'away'])('a program ends by itself after close(), with the server %s', async (server_) => {
    const redis = await server()
    if (server_ === 'away') await redis.kill()
    const { output, code, closedToExitMs } = await outputAndExit(programThatDecides(redis.port))
    const word = server_ === 'there' ? 'admitted' : 'quota_unavailable'
    // What the engine logs of an outage stands before it.
    expect(output.slice(output.indexOf(word))).toBe(`${word} ${word} ${word}\nclosed\n`)
    expect(output.includes('quota: store_error: ')).toBe(server_ === 'away')
    expect(code).toBe(0)
    expect(closedToExitMs).toBeLessThan(1_000)
  })

  it('close() waits for calls in flight, and later calls reject', async () => {
    const redis = await server()
    const proxy = await startProxy(redis.port)
    const { quota, store } = engineOn(proxy.port, later)
    await store.ready()
    await quota.consume(write)
    proxy.latency(30)
    const underWay = [quota.consume(write), quota.status('u')]
    // The engine looks at its settings before it asks the store.
    await new Promise((resolve) => setImmediate(resolve))
    await store.close()
    await Promise.all(underWay)
    await store.close()
    const began = ownTime()
    const cause = { code: 'store_error', message: expect.stringMatching(/was closed/) }
    await expect(quota.consume(write)).rejects.toMatchObject({ cause })
    expect(ownTime() - began).toBeLessThan(100)
    await expect(store.ready()).rejects.toMatchObject({ code: 'store_error' })
    expect(await usedBy(engineOn(redis.port, later).quota, 'u')).toBe(2)
  })

  it('close() waits until the deadline at most, and then calls in flight reject', async () => {
    const redis = await server()
    const { quota, store } = engineOn(redis.port, later, { deadlineMs: 150 })
    await store.ready()
    await quota.consume(write)
    redis.pause()
    const underWay = quota.consume(write).catch((error: unknown) => error)
    const began = ownTime()
    await store.close()
    expect(ownTime() - began).toBeLessThan(150 + 50)
    expect(await underWay).toMatchObject({ code: 'quota_unavailable' })
  })

  it('close() leaves the caller’s client open', async () => {
    const redis = await server()
    const { quota, client } = engineOn(redis.port, later)
    await quota.consume(write)
    await quota.close()
    expect(await client.ping()).toBe('PONG')
  })

  it('a store serves engines with different policies and closes them all', async () => {
    const redis = await server()
    const { store, quota } = engineOn(redis.port, later)
    const other = createQuota({ policy: scoreGatewayPolicy(), store })
    await Promise.all([quota.consume(write), other.consume({ subject: 'u', operation: 'write' })])
    await store.close()
    const cause = { code: 'store_error', message: expect.stringMatching(/was closed/) as string }
    for (const engine of [quota, other, createQuota({ policy: scoreGatewayPolicy(), store })]) {
      await expect(engine.consume({ subject: 'u', operation: 'write' } as never)).rejects.toMatchObject({ cause })
    }
  })

  it('a store rejects a server that may evict counters until it is reconfigured', async () => {
    const redis = await server({ args: ['--maxmemory-policy', 'allkeys-lru'] })
    const { quota, store } = engineOn(redis.port, later)
    await expect(store.ready()).rejects.toMatchObject({ code: 'unsafe_eviction' })
    for (let i = 0; i < 10; i++) {
      const cause = { code: 'unsafe_eviction', message: expect.stringMatching(/allkeys-lru/) }
      await expect(quota.consume(write)).rejects.toMatchObject({ code: 'quota_unavailable', cause })
    }
    await redis.cli('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
    expect(await quota.consume(write)).toMatchObject({ allowed: true })
  })

  it('a call with an unreadable reply fails, and later calls succeed', async () => {
    const redis = await server()
    const { quota, store } = engineOn(redis.port, later)
    await store.ready()
    const spy = vi.spyOn(Gathered.prototype, 'answer').mockImplementationOnce(() => {
      throw new RangeError('some bytes')
    })
    later(() => spy.mockRestore())
    await expect(quota.consume(write)).rejects.toMatchObject({
      cause: { code: 'store_error', message: expect.stringMatching(/read/) },
    })
    expect(await quota.consume(write)).toMatchObject({ allowed: true })
  })
})
