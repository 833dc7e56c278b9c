import { createQuota } from '@scoregw/quota'
import {
  adaptiveTicker,
  type FactorState,
  initialFactor,
  type MinuteOutcomes,
  memoryFactor,
  memoryOutcomes,
  type OutcomeStore,
} from '@scoregw/quota/adaptive'
import { scoreGatewayPolicy } from '@scoregw/quota/score-gateway'
import { describeFactorStore, describeOutcomeStore, manualClock } from '@scoregw/quota-testkit'
import { Redis } from 'ioredis'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type RedisFactor, redisFactor, redisOutcomes } from '../src/index.ts'
import { newPrefix } from './store-harness.ts'
import { useCleanups, useRedis } from './support/cleanups.ts'
import { redisTests } from './support/redis-server.ts'

const { later, server, proxy: startProxy } = useCleanups()

const MINUTE_MS = 60_000
const MINUTE = Date.UTC(2026, 7, 6, 14) / MINUTE_MS

const stateOf = (factorHundredths: number): FactorState => ({ ...initialFactor(), factorHundredths })

function open(port: number, prefix?: string): RedisFactor {
  const opened = redisFactor({ client: new Redis({ port, lazyConnect: true }), prefix })
  later(() => opened.close())
  return opened
}

function closeAll(...stores: readonly { close(): void }[]): void {
  for (const store of stores) store.close()
}

/** A tenth of 100 calls in each minute fails. */
function failing(minutes: number): MinuteOutcomes[] {
  const outcomes = { calls: 100, codeZero: 4, clientError: 0, serverError: 6, businessFail: 0 }
  return Array.from({ length: minutes }, (_, at) => ({
    minute: MINUTE - 30 + at,
    ...outcomes,
    refused: 0,
    quotaUnavailable: 0,
  }))
}

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

describe.runIf(redisTests)('the conformance suites of factor and outcomes', () => {
  const redis = useRedis()

  const client = () => new Redis({ port: redis.port, lazyConnect: true })
  const registered = [
    describeFactorStore(
      { describe, it },
      async () => {
        const prefix = newPrefix()
        const [store, peer] = [redisFactor({ client: client(), prefix }), redisFactor({ client: client(), prefix })]
        await Promise.all([store.read(), peer.read()])
        return { store, peer, stop: () => closeAll(store, peer) }
      },
      'Redis factor',
    ),
    describeOutcomeStore(
      { describe, it },
      () => {
        const prefix = newPrefix()
        const [store, peer] = [redisOutcomes({ client: client(), prefix }), redisOutcomes({ client: client(), prefix })]
        return { store, peer, stop: () => closeAll(store, peer) }
      },
      'Redis outcomes',
    ),
  ]

  it('the Redis factor and outcomes pass their conformance suites', () => expect(registered).toEqual([12, 8]))
})

describe.runIf(redisTests)('two tickers on one Redis', () => {
  it('two tickers that tick together, late and twice move the factor as one does', async () => {
    const redis = await server()
    const outcomes = redisOutcomes({ client: new Redis({ port: redis.port, lazyConnect: true }) })
    later(() => outcomes.close())
    await outcomes.add(failing(60))

    const alone = manualClock(MINUTE * MINUTE_MS)
    const factorStore = memoryFactor()
    const single = adaptiveTicker({ outcomes, factorStore, clock: alone })

    const clocks = [0, 2_000, 15_000].map((skewMs) => manualClock(MINUTE * MINUTE_MS + skewMs))
    const stores = [open(redis.port), open(redis.port), open(redis.port)]
    const tickers = stores.map((store, index) =>
      adaptiveTicker({ outcomes, factorStore: store, clock: clocks[index]! }),
    )
    const tickAll = () => Promise.all(tickers.map((ticker) => ticker.tick()))
    for (let minute = 1; minute <= 20; minute++) {
      await single.tick()
      // The clocks come to the minute together but for their skew; all tick at once, twice, and again when it is late.
      const done = [...(await tickAll()), ...(await tickAll())]
      for (const clock of clocks) clock.advance(40_000)
      done.push(...(await tickAll()))
      for (const clock of clocks) clock.advance(20_000)
      alone.advance(MINUTE_MS)
      expect(done.filter(({ status }) => status === 'ticked')).toHaveLength(1)
      expect(await stores[0]!.read()).toEqual(factorStore.read())
    }
    expect(factorStore.read()).toMatchObject({ version: 20, state: { factorHundredths: 75 } })
  })

  it('a ticker that writes an outdated result late undoes no newer move', async () => {
    const redis = await server()
    const clock = manualClock(MINUTE * MINUTE_MS)
    const outcomes = memoryOutcomes()
    outcomes.add(failing(60))
    const [reached, released] = [deferred(), deferred()]
    const slow: OutcomeStore = {
      add: outcomes.add,
      async read(from, to) {
        reached.resolve()
        await released.promise
        return outcomes.read(from, to)
      },
    }
    const [one, two] = [open(redis.port), open(redis.port)]
    const late = adaptiveTicker({ outcomes: slow, factorStore: two, clock: manualClock(clock.now()) })
    const tick = late.tick()
    await reached.promise
    const ticker = adaptiveTicker({ outcomes, factorStore: one, clock })
    for (let minute = 0; minute < 6; minute++) {
      expect(await ticker.tick()).toMatchObject({ status: 'ticked' })
      clock.advance(MINUTE_MS)
    }
    const before = await one.read()
    expect(before).toMatchObject({ version: 6, state: { factorHundredths: 80 } })
    released.resolve()
    expect(await tick).toEqual({ status: 'done' })
    expect(await one.read()).toEqual(before)
  })
})

describe.runIf(redisTests)('the factor in Redis', () => {
  afterEach(() => void vi.useRealTimers())

  /** An engine of a process of its own, in mode adaptive; its limits show the factor in force. */
  async function engineOn(factor: RedisFactor) {
    const quota = createQuota({ policy: scoreGatewayPolicy(), adaptive: { factor } })
    later(() => quota.close())
    await quota.settings.update({ mode: 'adaptive' })
    const limit = async () => (await quota.status('u')).limits['personal-write-1h']?.limit
    return { quota, limit }
  }

  it('the factor is one hash that no settings, subject or other prefix touches', async () => {
    const redis = await server()
    await open(redis.port).compareAndSet(0, MINUTE, stateOf(90))
    expect(((await redis.cli('KEYS', '*')) as string[]).sort()).toEqual(['{quota}:factor', '{quota}:factor:changes'])
    expect(await redis.cli('HGET', '{quota}:factor', 'version')).toBe('1')
    expect(await open(redis.port, 'other').read()).toBeUndefined()
  })

  it('a move of the factor reaches every process within a second', async () => {
    const redis = await server()
    const [one, two] = [await engineOn(open(redis.port)), await engineOn(open(redis.port))]
    const mover = open(redis.port)
    for (const [version, hundredths] of [90, 75, 150].entries()) {
      expect(await mover.compareAndSet(version, MINUTE + version, stateOf(hundredths))).toBe(true)
      const expected = Math.floor((60 * hundredths) / 100)
      await vi.waitFor(async () => expect([await one.limit(), await two.limit()]).toEqual([expected, expected]), {
        timeout: 15_000,
        interval: 5,
      })
    }
    const third = await engineOn(open(redis.port))
    await third.quota.ready()
    expect(await third.limit()).toBe(90)
  })

  it('a move of the factor reaches every process within a second without working messages', async () => {
    const redis = await server()
    await redis.cli('ACL', 'SETUSER', 'deaf', 'on', 'nopass', '~*', '+@all', '-subscribe')
    const client = new Redis({ port: redis.port, username: 'deaf', password: 'any', lazyConnect: true })
    const deaf = await engineOn(redisFactor({ client }))
    const proxy = await startProxy(redis.port)
    const cut = await engineOn(open(proxy.port))
    await Promise.all([deaf.quota.ready(), cut.quota.ready()])
    proxy.refuse(true)
    proxy.cutAll()
    await open(redis.port).compareAndSet(0, MINUTE, stateOf(80))
    await vi.waitFor(async () => expect(await deaf.limit()).toBe(48), { timeout: 15_000, interval: 5 })
    expect(await cut.limit()).toBe(60)
    proxy.refuse(false)
    await vi.waitFor(async () => expect(await cut.limit()).toBe(48), { timeout: 15_000, interval: 5 })
  })

  it('the factor is 1 in every process within a second after the server was emptied', async () => {
    const redis = await server()
    const engine = await engineOn(open(redis.port))
    const store = open(redis.port)
    await store.compareAndSet(0, MINUTE, stateOf(80))
    await vi.waitFor(async () => expect(await engine.limit()).toBe(48), { timeout: 15_000, interval: 5 })
    await redis.cli('FLUSHALL')
    await vi.waitFor(async () => expect(await engine.limit()).toBe(60), { timeout: 15_000, interval: 5 })
    expect(await store.read()).toBeUndefined()
    expect(await store.compareAndSet(1, MINUTE + 1, stateOf(70))).toBe(false)
    expect(await store.compareAndSet(0, MINUTE, stateOf(90))).toBe(true)
    await vi.waitFor(async () => expect(await engine.limit()).toBe(54), { timeout: 15_000, interval: 5 })
  })

  it('engines keep the last factor while Redis is away, and the ticker reports errors and continues', async () => {
    const redis = await server({ aof: true })
    const store = open(redis.port)
    const engine = await engineOn(open(redis.port))
    await store.compareAndSet(0, MINUTE, stateOf(80))
    await vi.waitFor(async () => expect(await engine.limit()).toBe(48), { timeout: 15_000, interval: 5 })

    const errors: unknown[] = []
    const clock = manualClock((MINUTE + 1) * MINUTE_MS)
    const onError = (error: unknown) => errors.push(error)
    const ticker = adaptiveTicker({ outcomes: memoryOutcomes(), factorStore: store, clock, onError })
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    ticker.start()
    await redis.kill()
    vi.advanceTimersByTime(MINUTE_MS)
    await vi.waitFor(() => expect(errors).toHaveLength(1), { timeout: 15_000 })
    expect(await engine.limit()).toBe(48)
    await expect(store.compareAndSet(1, MINUTE + 1, stateOf(90))).rejects.toMatchObject({ code: 'store_error' })

    await redis.restart()
    await vi.waitFor(async () => expect(await store.read()).toMatchObject({ version: 1 }), { timeout: 15_000 })
    vi.advanceTimersByTime(MINUTE_MS)
    await vi.waitFor(async () => expect(await store.read()).toMatchObject({ version: 2, minute: MINUTE + 1 }), {
      timeout: 15_000,
    })
    expect(errors).toHaveLength(1)
    await ticker.stop()
  })

  it('a factor whose write got no answer is written once', async () => {
    const redis = await server()
    const proxy = await startProxy(redis.port)
    const store = open(proxy.port)
    await store.read()
    const cut = proxy.cutAfterNextRequest()
    await expect(store.compareAndSet(0, MINUTE, stateOf(90))).rejects.toThrow()
    await cut
    await vi.waitFor(async () => expect(await store.read()).toMatchObject({ version: 1, minute: MINUTE }), {
      timeout: 15_000,
    })
    expect(await redis.cli('GET', '{quota}:factor:changes')).toMatch(/^[\w-]{22}$/)
  })

  it('the factor isn’t written when the server is out of memory', async () => {
    const redis = await server()
    const store = open(redis.port)
    await store.compareAndSet(0, MINUTE, stateOf(90))
    const change = await redis.cli('GET', '{quota}:factor:changes')
    await redis.cli('CONFIG', 'SET', 'maxmemory', '1')
    await expect(store.compareAndSet(1, MINUTE + 1, stateOf(80))).rejects.toThrow(/OOM/)
    expect(await store.read()).toEqual({ version: 1, minute: MINUTE, state: stateOf(90) })
    expect(await redis.cli('GET', '{quota}:factor:changes')).toBe(change)
  })

  it('invalid options and a stored state that isn’t JSON give clear errors', async () => {
    const wrong = { client: {}, prefix: 'a{b}', unknown: 1 } as unknown as Parameters<typeof redisFactor>[0]
    expect(() => redisFactor(wrong)).toThrow(
      expect.objectContaining({
        code: 'invalid_options',
        message: expect.stringMatching(/redisFactor\(\).*client: .*prefix: .*unknown/s) as string,
      }),
    )
    const redis = await server()
    await redis.cli('HSET', '{quota}:factor', 'version', '1', 'minute', '1', 'state', '{')
    await expect(open(redis.port).read()).rejects.toMatchObject({ code: 'store_error' })
  })

  it('a closed factor store rejects calls and has no connections', async () => {
    const redis = await server()
    const proxy = await startProxy(redis.port)
    const store = open(proxy.port)
    store.watch(() => undefined)
    await vi.waitFor(() => expect(proxy.openSockets()).toBe(2), { timeout: 15_000 })
    await store.read()
    store.close()
    await vi.waitFor(() => expect(proxy.openSockets()).toBe(0), { timeout: 15_000 })
    await expect(store.read()).rejects.toMatchObject({ code: 'store_error' })
  })
})
