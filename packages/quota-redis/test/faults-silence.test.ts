import { Redis } from 'ioredis'
import { describe, expect, it, vi } from 'vitest'
import { cleanupsOf } from './support/cleanups.ts'
import {
  engineOn,
  firstWrite,
  load,
  policyOf,
  timedWrite,
  timeToRecover,
  untilSpared,
  usedBy,
} from './support/engines.ts'
import { type RedisServer, redisTests } from './support/redis-server.ts'
import type { TcpProxy } from './support/tcp-proxy.ts'

const DEADLINE_MS = 150
const CALLERS = 10
/** For work that a timer starts and that is done a few turns later. */
const SLACK_MS = 50
/** How often a caller waits for its deadline until the server is not asked any more. */
const MOST_WAITS = 6
const deep = process.env.QUOTA_TEST_DEEP === '1'

interface Silence {
  readonly name: string
  readonly lastsMs: number
  begin(proxy: TcpProxy, redis: RedisServer): void
  end(proxy: TcpProxy, redis: RedisServer): void
}

const silences: readonly Silence[] = [
  {
    name: 'a black hole',
    lastsMs: deep ? 30_000 : 3_500,
    begin: (proxy) => proxy.blackHole(true),
    end: (proxy) => proxy.blackHole(false),
  },
  {
    name: 'a server that stands still',
    lastsMs: deep ? 30_000 : 2_500,
    begin: (_, redis) => redis.pause(),
    end: (_, redis) => redis.resume(),
  },
  {
    name: 'a connection that is 300 ms slow',
    lastsMs: deep ? 30_000 : 2_500,
    begin: (proxy) => proxy.latency(150),
    end: (proxy) => proxy.latency(0),
  },
]

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

describe.runIf(redisTests).concurrent('silent servers', () => {
  it.for(silences)(
    'calls before $name end on time, and later calls are soon rejected without waiting',
    async (silence, { onTestFinished }) => {
      const { later, server, proxy: startProxy } = cleanupsOf(onTestFinished)
      const redis = await server()
      const proxy = await startProxy(redis.port)
      const client = new Redis({ port: proxy.port, lazyConnect: true })
      const { quota, store } = engineOn(proxy.port, later, { client, deadlineMs: DEADLINE_MS })
      await store.ready()
      await firstWrite(quota)

      silence.begin(proxy, redis)
      const callers = load(quota, CALLERS)
      await pause(silence.lastsMs)
      const results = await callers.stop()

      expect(results.filter(({ ok }) => ok)).toEqual([])
      expect(results.length).toBeGreaterThan(100)
      expect(Math.max(...results.map(({ ms }) => ms))).toBeLessThanOrEqual(DEADLINE_MS + SLACK_MS)
      // After half a second without answers, which no caller can wait through more often than this.
      const opened = results.find(({ isSpared }) => isSpared)
      const before = results.filter(({ from }) => from < opened!.from)
      expect(before.length).toBeLessThanOrEqual(MOST_WAITS * CALLERS)
      // From then on only the probes wait: 5 a second, each for at most all callers together.
      const waited = results.filter(({ from, isSpared }) => from > opened!.at && !isSpared)
      const probes = (results.at(-1)!.at - opened!.at) / 200 + 1
      expect(waited.length).toBeLessThanOrEqual(probes * CALLERS)
      expect(proxy.openSockets()).toBeLessThanOrEqual(1)

      // Everything still in flight on the slow connection arrives before anything overtakes it.
      await pause(700)
      silence.end(proxy, redis)
      expect(await timeToRecover(quota)).toBeLessThan(1_000)
      expect(proxy.openSockets()).toBe(1)
      // Ours, and the one that asks.
      expect(
        String(await redis.cli('CLIENT', 'LIST', 'TYPE', 'normal'))
          .trim()
          .split('\n'),
      ).toHaveLength(2)
    },
  )

  it('answers that come too late leave no charge for a request that wasn’t admitted', async ({ onTestFinished }) => {
    const { later, server, proxy: startProxy } = cleanupsOf(onTestFinished)
    const redis = await server()
    const proxy = await startProxy(redis.port)
    const { quota, store } = engineOn(proxy.port, later, { deadlineMs: DEADLINE_MS })
    const witness = engineOn(redis.port, later).quota
    await store.ready()
    await firstWrite(quota)
    proxy.replyLatency(300)
    const callers = load(quota, CALLERS)
    // Until the circuit is open, so that late answers come when nothing but probes is sent.
    let isSpared = false
    const sparing = untilSpared(quota).finally(() => {
      isSpared = true
    })
    let most = 0
    while (!isSpared) most = Math.max(most, await usedBy(witness, 'u'))
    await sparing
    // Else this shows nothing.
    expect(most).toBeGreaterThan(1)
    expect((await callers.stop()).filter(({ ok }) => ok)).toEqual([])
    await vi.waitFor(async () => expect(await usedBy(witness, 'u')).toBe(1), { timeout: 15_000 })
  })
})

describe.runIf(redisTests)('servers that stood still', () => {
  it.for([400, 2_000, 5_000])(
    'for %i ms carry out nothing whose caller was answered meanwhile',
    { timeout: 60_000 },
    async (ms, { onTestFinished }) => {
      const { later, server } = cleanupsOf(onTestFinished)
      const redis = await server()
      const { quota, store } = engineOn(redis.port, later, { deadlineMs: DEADLINE_MS })
      const witness = engineOn(redis.port, later).quota
      await store.ready()
      await firstWrite(quota)
      const before = await usedBy(witness, 'u')
      redis.pause()
      const callers = load(quota, CALLERS)
      await pause(ms)
      const unanswered = await callers.stop()
      expect(unanswered.filter(({ ok }) => ok)).toEqual([])
      expect(unanswered.length).toBeGreaterThan(CALLERS)
      redis.resume()
      // Behind everything that the server had not read yet.
      expect(await usedBy(witness, 'u')).toBe(before)
      expect(await timeToRecover(quota)).toBeLessThan(5_000)
      // What was decided in time and answered late goes back.
      const recovered = await usedBy(witness, 'u')
      expect(recovered).toBeGreaterThan(before)
      expect(recovered).toBeLessThanOrEqual(before + 2)
    },
  )

  it('for 2 s have counted what was admitted in the process, and nothing else', { timeout: 60_000 }, async ({
    onTestFinished,
  }) => {
    const { later, server } = cleanupsOf(onTestFinished)
    const redis = await server()
    const failurePolicy = { reads: { local: { expectedProcesses: 1 } }, writes: 'closed' } as const
    const { quota, store } = engineOn(redis.port, later, {
      deadlineMs: DEADLINE_MS,
      failurePolicy,
      policy: policyOf(200),
    })
    const witness = engineOn(redis.port, later, { policy: policyOf(200) }).quota
    const read = () => quota.consume({ subject: 'u', operation: 'read' })
    await store.ready()
    let admitted = 0
    const count = async () => {
      const { allowed, source } = await read()
      if (allowed) admitted++
      return source
    }
    await vi.waitFor(async () => expect(await count()).toBe('store'), { timeout: 10_000 })
    redis.pause()
    for (let round = 0; round < 6; round++) await Promise.all(Array.from({ length: CALLERS }, count))
    await pause(2_000)
    redis.resume()
    // The next decision by the store posts what was admitted meanwhile.
    await vi.waitFor(async () => expect(await count()).toBe('store'), { timeout: 10_000 })
    await vi.waitFor(
      async () => {
        const { limits } = await witness.status('u')
        expect(limits['personal-reads-hour']?.used).toBe(admitted)
      },
      { timeout: 10_000 },
    )
  })
})

describe.runIf(redisTests)('busy processes', () => {
  it('calls beyond 10,000 unanswered ones are rejected immediately', async ({ onTestFinished }) => {
    const { later, server } = cleanupsOf(onTestFinished)
    const redis = await server()
    const { quota, store } = engineOn(redis.port, later, { deadlineMs: 500 })
    await store.ready()
    await firstWrite(quota)
    redis.pause()
    const calls = Array.from({ length: 10_100 }, () => quota.consume({ subject: 'u', operation: 'write' }))
    const results = await Promise.allSettled(calls)
    const why = results.map((result) => (result.status === 'rejected' ? String(result.reason.cause) : 'answered'))
    expect(why.filter((each) => each.includes('no more are taken on'))).toHaveLength(100)
    expect(why.filter((each) => each.includes('no answer within 500 ms'))).toHaveLength(10_000)
    redis.resume()
    // Half a second by itself; ten thousand late answers are given back meanwhile, beside other tests.
    expect(await timeToRecover(quota)).toBeLessThan(2_000)
  })

  it('a call whose deadline has passed isn’t sent', async ({ onTestFinished }) => {
    const { later, server, proxy: startProxy } = cleanupsOf(onTestFinished)
    const redis = await server()
    const proxy = await startProxy(redis.port)
    const client = new Redis({ port: proxy.port, lazyConnect: true })
    // Without timers that ask for holds.
    const { quota, store } = engineOn(proxy.port, later, { client, deadlineMs: 500, testClock: { now: Date.now } })
    await store.ready()
    // Connected again after two round trips, 400 ms, and usable after a third.
    proxy.latency(100)
    proxy.cutAll()
    await vi.waitFor(() => expect(proxy.openSockets()).toBe(1), { timeout: 15_000 })
    expect(await timedWrite(quota)).toMatchObject({ ok: false })
    await store.ready()
    await store.close()
    expect(await redis.cli('KEYS', '*')).toEqual([])
  })

  it('a reply that arrived in time counts, even if the process was too busy to read it', async ({ onTestFinished }) => {
    const { later, server } = cleanupsOf(onTestFinished)
    const redis = await server()
    const { quota, store } = engineOn(redis.port, later, { deadlineMs: 50 })
    await store.ready()
    await firstWrite(quota)
    const call = timedWrite(quota)
    // Behind the turn in which the call goes out, so that the deadline's timer is due before the socket is checked.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    const until = performance.now() + 200
    while (performance.now() < until);
    expect(await call).toMatchObject({ ok: true })
  })
})
