import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  type AdaptiveTickerOptions,
  adaptiveLaw,
  adaptiveTicker,
  type FactorState,
  type FactorStore,
  initialFactor,
  memoryFactor,
  memoryOutcomes,
  resetFactor,
} from '../src/adaptive.ts'
import { createQuota } from '../src/index.ts'
import { noOutcomes } from '../src/store/outcomes.ts'
import { gatewayPolicy, START, type TestClock, testClock } from './support.ts'

const MINUTE_MS = 60_000
const MINUTE = Math.floor(START / MINUTE_MS)

function setUp(options: Partial<AdaptiveTickerOptions> = {}) {
  const clock = testClock()
  const outcomes = memoryOutcomes()
  const factorStore = memoryFactor()
  const make = (own: TestClock = clock) => adaptiveTicker({ outcomes, factorStore, clock: own, ...options })
  return { clock, outcomes, factorStore, make, ticker: make() }
}

type SetUp = ReturnType<typeof setUp>

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

/** A tenth of 100 calls in every minute fails. */
function failing({ outcomes }: SetUp, fromMinute: number, minutes: number): void {
  for (let at = 0; at < minutes; at++)
    outcomes.add([{ ...noOutcomes(fromMinute + at), calls: 100, serverError: 6, codeZero: 4 }])
}

const factorOf = ({ factorStore }: SetUp): number | undefined => factorStore.read()?.state.factorHundredths

describe('ticks of the ticker', () => {
  it('a tick applies the law to the closed minutes and stores the result under its minute', async () => {
    const setup = setUp()
    failing(setup, MINUTE - 40, 45)
    const done = await setup.ticker.tick()
    const counts = { calls: 3_000, errors: 300, recentCalls: 500, recentErrors: 50 }
    const state = adaptiveLaw(initialFactor(), counts, MINUTE * MINUTE_MS)
    expect(state.factorHundredths).toBe(90)
    expect(done).toEqual({ status: 'ticked', state })
    expect(setup.factorStore.read()).toEqual({ version: 1, minute: MINUTE, state })
  })

  it('a tick doesn’t count a minute that is still open', async () => {
    const setup = setUp()
    failing(setup, MINUTE, 1)
    expect(await setup.ticker.tick()).toMatchObject({ state: { reason: { counts: { calls: 0 } } } })
  })

  it('a tick counts 30 minutes, and the last 5 of them', async () => {
    const setup = setUp()
    failing(setup, MINUTE - 40, 40)
    expect(await setup.ticker.tick()).toMatchObject({
      state: { reason: { counts: { calls: 3_000, recentCalls: 500 } } },
    })
  })

  it('a second tick in a minute moves nothing', async () => {
    const setup = setUp()
    failing(setup, MINUTE - 40, 45)
    await setup.ticker.tick()
    setup.clock.at += 30_000
    expect(await setup.ticker.tick()).toEqual({ status: 'done' })
    expect(await setup.make().tick()).toEqual({ status: 'done' })
    expect(setup.factorStore.read()?.version).toBe(1)
    setup.clock.at += 30_000
    expect(await setup.ticker.tick()).toMatchObject({ status: 'ticked', state: { factorHundredths: 90 } })
    expect(setup.factorStore.read()?.version).toBe(2)
  })

  it('a tick of a process with a slow clock moves nothing', async () => {
    const setup = setUp()
    failing(setup, MINUTE - 40, 45)
    await setup.ticker.tick()
    for (const minutesBehind of [1, 5])
      expect(await setup.make(testClock(START - minutesBehind * MINUTE_MS)).tick()).toEqual({ status: 'done' })
    expect(factorOf(setup)).toBe(90)
    expect(setup.factorStore.read()?.version).toBe(1)
  })

  it('ticks continue after a clock that ran far ahead is corrected', async () => {
    const setup = setUp()
    await setup.make(testClock(START + 24 * 60 * MINUTE_MS)).tick()
    failing(setup, MINUTE - 40, 60)
    await setup.ticker.tick()
    expect(setup.factorStore.read()?.minute).toBe(MINUTE)
    expect(factorOf(setup)).toBe(90)
  })

  it('concurrent ticks of many processes move the factor once', async () => {
    const setup = setUp()
    failing(setup, MINUTE - 40, 45)
    // All read before any writes.
    let reading = 8
    const gate = deferred()
    const read = setup.factorStore.read
    const slow: FactorStore = {
      ...setup.factorStore,
      async read() {
        const stored = read()
        if (--reading === 0) gate.resolve()
        await gate.promise
        return stored
      },
    }
    const { clock, outcomes } = setup
    const tickers = Array.from({ length: 8 }, () => adaptiveTicker({ outcomes, clock, factorStore: slow }))
    const done = await Promise.all(tickers.map((ticker) => ticker.tick()))
    expect(done.filter(({ status }) => status === 'ticked')).toHaveLength(1)
    expect(setup.factorStore.read()?.version).toBe(1)
  })

  it('concurrent ticks of one ticker share one result', async () => {
    const { ticker, factorStore } = setUp()
    const [one, other] = await Promise.all([ticker.tick(), ticker.tick()])
    expect(one).toBe(other)
    expect(factorStore.read()?.version).toBe(1)
  })

  it('a tick doesn’t overwrite a state that was written meanwhile', async () => {
    const setup = setUp()
    failing(setup, MINUTE - 40, 45)
    const { outcomes, factorStore, clock } = setup
    const administrator = { ...initialFactor(), factorHundredths: 120 }
    const overtaken = adaptiveTicker({
      factorStore,
      clock,
      outcomes: {
        add: outcomes.add,
        read(from, to) {
          factorStore.compareAndSet(0, 0, administrator)
          return outcomes.read(from, to)
        },
      },
    })
    expect(await overtaken.tick()).toEqual({ status: 'done' })
    expect(factorStore.read()).toEqual({ version: 1, minute: 0, state: administrator })
  })

  it('a tick does nothing in another mode', async () => {
    const factorStore = memoryFactor()
    const quota = createQuota({ policy: gatewayPolicy(), adaptive: { factor: factorStore } })
    const clock = testClock()
    const ticker = adaptiveTicker({ outcomes: memoryOutcomes(), factorStore, clock, settings: quota.settings })
    expect(await ticker.tick()).toEqual({ status: 'idle' })
    expect(factorStore.read()).toBeUndefined()
    await quota.settings.update({ mode: 'adaptive' })
    expect(await ticker.tick()).toMatchObject({ status: 'ticked' })
  })

  it('a dry run writes nothing in any mode and continues from its own last state', async () => {
    const setup = setUp({ dryRun: true, settings: { get: () => ({ mode: 'normal' }) } })
    failing(setup, MINUTE - 40, 60)
    setup.factorStore.compareAndSet(0, MINUTE, { ...initialFactor(), factorHundredths: 120 })
    const factors: unknown[] = []
    for (let minute = 0; minute <= 10; minute++) {
      const done = await setup.ticker.tick()
      if (done.status === 'ticked') factors.push(done.state.factorHundredths)
      setup.clock.at += MINUTE_MS
    }
    expect(factors).toEqual([110, 110, 110, 110, 110, 100, 100, 100, 100, 100, 90])
    expect(setup.factorStore.read()).toMatchObject({ version: 1, state: { factorHundredths: 120 } })
  })

  it('a tick rejects with the store’s error, and the next tick continues', async () => {
    const setup = setUp()
    const read = vi.spyOn(setup.outcomes, 'read').mockImplementationOnce(() => {
      throw new Error('gone')
    })
    await expect(setup.ticker.tick()).rejects.toThrowError('gone')
    expect(await setup.ticker.tick()).toMatchObject({ status: 'ticked' })
    expect(read).toHaveBeenCalledTimes(2)
  })

  it('a stored factor of another version is reported and not overwritten', async () => {
    const setup = setUp()
    const other = { ...initialFactor(), factorHundredths: 140, format: 2 } as unknown as FactorState
    setup.factorStore.compareAndSet(0, MINUTE - 1, other)
    const error = { code: 'other_version', message: expect.stringMatching(/factor has version 2 .* reads version 1/) }
    await expect(setup.ticker.tick()).rejects.toMatchObject(error)
    await expect(resetFactor(setup.factorStore)).rejects.toMatchObject(error)
    expect(setup.factorStore.read()).toEqual({ version: 1, minute: MINUTE - 1, state: other })
  })

  it('adaptiveTicker() throws on invalid constants', () => {
    expect(() => setUp({ constants: { minCalls: -1 } })).toThrowError(/minCalls/)
  })
})

describe('many processes that tick late, early and twice', () => {
  it('many processes that tick late, early and twice move the factor as one that ticks every minute', async () => {
    const [one, many] = [setUp(), setUp()]
    const clocks = [0, 3_000, 17_000, -4_000, 59_000].map((skew) => ({ skew, clock: testClock() }))
    const tickers = clocks.map(({ clock }) => many.make(clock))
    for (const setup of [one, many]) {
      failing(setup, MINUTE - 30, 60)
      for (let at = 30; at < 300; at++) setup.outcomes.add([{ ...noOutcomes(MINUTE + at), calls: 100 }])
    }
    const [expected, seen]: (number | undefined)[][] = [[], []]
    for (let minute = 0; minute < 300; minute++) {
      one.clock.at = MINUTE * MINUTE_MS + minute * MINUTE_MS
      await one.ticker.tick()
      expected!.push(factorOf(one))
      for (const [index, { skew, clock }] of clocks.entries()) {
        clock.at = one.clock.at + skew
        if ((minute + index) % 3 > 0) await tickers[index]!.tick()
        if (index === minute % 5) await tickers[index]!.tick()
      }
      seen!.push(factorOf(many))
    }
    expect(seen).toEqual(expected)
    expect(new Set(seen)).toEqual(new Set([90, 80, 75, 85, 95, 100, 105, 110, 115, 120]))
  })
})

describe('the ticker’s timer', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => {
    // In this order: a spy on a fake timer outlives the fakes, and its restoring would bring them back.
    vi.restoreAllMocks()
    vi.useRealTimers()
  })

  it('a started ticker ticks every minute until stop() and doesn’t keep the process alive', async () => {
    const setup = setUp()
    const made = vi.spyOn(globalThis, 'setInterval')
    setup.ticker.start()
    setup.ticker.start()
    expect(made.mock.results.map(({ value }) => (value as NodeJS.Timeout).hasRef())).toEqual([false])
    for (let minute = 1; minute <= 3; minute++) {
      setup.clock.at += MINUTE_MS
      await vi.advanceTimersByTimeAsync(MINUTE_MS)
      expect(setup.factorStore.read()).toMatchObject({ version: minute, minute: MINUTE + minute })
    }
    await setup.ticker.stop()
    setup.clock.at += MINUTE_MS
    await vi.advanceTimersByTimeAsync(MINUTE_MS)
    expect(setup.factorStore.read()?.version).toBe(3)
  })

  it('a failed tick is reported, and the timer ticks again', async () => {
    const errors: unknown[] = []
    const setup = setUp({ onError: (error) => errors.push(error) })
    vi.spyOn(setup.outcomes, 'read').mockImplementationOnce(() => {
      throw new Error('gone')
    })
    setup.ticker.start()
    await vi.advanceTimersByTimeAsync(2 * MINUTE_MS)
    await setup.ticker.stop()
    expect(errors).toEqual([new Error('gone')])
    expect(setup.factorStore.read()?.version).toBe(1)
  })

  it('stop() resolves when the running tick has ended', async () => {
    const { clock, outcomes, factorStore } = setUp()
    const gate = deferred()
    const slow = adaptiveTicker({
      clock,
      factorStore,
      outcomes: { add: outcomes.add, read: () => gate.promise.then(() => []) },
    })
    const tick = slow.tick()
    let stopped = false
    const stop = slow.stop().then(() => {
      stopped = true
    })
    await vi.advanceTimersByTimeAsync(0)
    expect(stopped).toBe(false)
    gate.resolve()
    await stop
    expect(await tick).toMatchObject({ status: 'ticked' })
  })
})

describe('the factor in memory', () => {
  const state = initialFactor()

  it('the memory factor is written by compare-and-set on its version, once a minute at most', () => {
    const store = memoryFactor()
    expect(store.read()).toBeUndefined()
    expect(store.compareAndSet(1, 5, state)).toBe(false)
    expect(store.compareAndSet(0, 5, state)).toBe(true)
    expect(store.compareAndSet(0, 6, state)).toBe(false)
    expect(store.compareAndSet(1, 5, state)).toBe(false)
    expect(store.compareAndSet(1, 6, state)).toBe(true)
    expect(store.read()).toEqual({ version: 2, minute: 6, state })
  })

  it('the memory factor notifies watchers of writes and of nothing else', () => {
    const store = memoryFactor()
    const heard = vi.fn()
    const unwatch = store.watch(heard)
    store.compareAndSet(0, 5, state)
    store.compareAndSet(0, 6, state)
    expect(heard).toHaveBeenCalledTimes(1)
    unwatch()
    store.compareAndSet(1, 6, state)
    expect(heard).toHaveBeenCalledTimes(1)
  })
})
