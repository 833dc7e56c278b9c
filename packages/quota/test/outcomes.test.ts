import { openTimers } from '@scoregw/server-kit'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  type CallOutcome,
  type MinuteOutcomes,
  memoryOutcomes,
  OUTCOME_COLUMNS,
  OUTCOMES_KEPT_MINUTES,
  type OutcomeStore,
  outcomeRecorder,
} from '../src/adaptive.ts'
import { START, testClock } from './support.ts'

const MINUTE = Math.floor(START / 60_000)

function counts(minute: number, some: Partial<MinuteOutcomes>): MinuteOutcomes {
  const none = Object.fromEntries(OUTCOME_COLUMNS.map((column) => [column, 0]))
  return { ...(none as unknown as MinuteOutcomes), minute, ...some }
}

/** A memory store that can be made to fail, before or after it added. */
function faulty() {
  const inner = memoryOutcomes()
  const store: OutcomeStore & { failing: boolean; adds: number } = {
    failing: false,
    adds: 0,
    async add(added) {
      store.adds++
      if (store.failing) throw new Error('store is away')
      inner.add(added)
    },
    read: (from, to) => inner.read(from, to),
  }
  return store
}

describe('outcomes in memory', () => {
  it('outcomes add up per minute and are read as an ordered range of minutes', () => {
    const store = memoryOutcomes()
    store.add([counts(12, { calls: 1 }), counts(10, { calls: 2, serverError: 1 })])
    store.add([counts(10, { calls: 3, refused: 1, clientError: 1 }), counts(13, { calls: 1 })])
    const ten = counts(10, { calls: 5, serverError: 1, refused: 1, clientError: 1 })
    expect(store.read(10, 13)).toEqual([ten, counts(12, { calls: 1 })])
    expect(store.read(11, 12)).toEqual([])
  })

  it('outcomes are kept for 8 days', () => {
    const store = memoryOutcomes()
    for (let minute = 0; minute <= OUTCOMES_KEPT_MINUTES; minute++) store.add([counts(minute, { calls: 1 })])
    const kept = store.read(0, OUTCOMES_KEPT_MINUTES + 1)
    expect(kept).toHaveLength(OUTCOMES_KEPT_MINUTES)
    expect(kept[0]?.minute).toBe(1)
  })
})

describe('the outcome recorder', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  const cases: [CallOutcome, Partial<MinuteOutcomes>][] = [
    [{ httpStatus: 200 }, {}],
    [{ httpStatus: 200, businessFail: true }, { businessFail: 1 }],
    [{ httpStatus: 304 }, {}],
    [{ httpStatus: 0 }, { codeZero: 1 }],
    [{ httpStatus: 0, businessFail: true }, { codeZero: 1 }],
    [{ httpStatus: 400 }, { clientError: 1 }],
    [{ httpStatus: 404, businessFail: true }, { clientError: 1 }],
    [{ httpStatus: 429 }, { clientError: 1, refused: 1 }],
    [{ httpStatus: 499 }, { clientError: 1 }],
    [{ httpStatus: 500 }, { serverError: 1 }],
    [{ httpStatus: 503 }, { serverError: 1 }],
    [
      { httpStatus: 503, quotaUnavailable: true },
      { serverError: 1, quotaUnavailable: 1 },
    ],
    [{ httpStatus: 200, quotaUnavailable: true }, {}],
  ]

  it.each(cases)('the recorder counts %j as %j', async (outcome, expected) => {
    const store = memoryOutcomes()
    const recorder = outcomeRecorder({ store, clock: testClock() })
    recorder.record(outcome)
    await recorder.flush()
    expect(store.read(MINUTE, MINUTE + 1)).toEqual([counts(MINUTE, { calls: 1, ...expected })])
  })

  it('the recorder writes once per second, and writes nothing without outcomes', async () => {
    const store = faulty()
    const clock = testClock()
    const recorder = outcomeRecorder({ store, clock })
    for (let i = 0; i < 100; i++) recorder.record({ httpStatus: 200 })
    clock.at += 60_000
    recorder.record({ httpStatus: 500 })
    await vi.advanceTimersByTimeAsync(999)
    expect(store.adds).toBe(0)
    await vi.advanceTimersByTimeAsync(1)
    expect(store.read(0, Number.MAX_SAFE_INTEGER)).toEqual([
      counts(MINUTE, { calls: 100 }),
      counts(MINUTE + 1, { calls: 1, serverError: 1 }),
    ])
    await vi.advanceTimersByTimeAsync(60_000)
    expect(store.adds).toBe(1)
  })

  it('the recorder neither loses nor doubles counts when the store fails at times', async () => {
    vi.useRealTimers()
    const step = fc.constantFrom('record', 'minute', 'flush', 'fail', 'mend')
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const store = faulty()
        const clock = testClock()
        const recorder = outcomeRecorder({ store, clock })
        const recorded = new Map<number, number>()
        const flushes: Promise<void>[] = []
        for (const each of steps) {
          const minute = Math.floor(clock.at / 60_000)
          if (each === 'minute') clock.at += 60_000
          if (each === 'fail' || each === 'mend') store.failing = each === 'fail'
          if (each === 'flush') flushes.push(recorder.flush())
          if (each !== 'record') continue
          recorder.record({ httpStatus: 200 })
          recorded.set(minute, (recorded.get(minute) ?? 0) + 1)
        }
        await Promise.allSettled(flushes)
        store.failing = false
        await recorder.close()
        const stored = await store.read(0, Number.MAX_SAFE_INTEGER)
        expect(stored.map(({ minute, calls }) => [minute, calls])).toEqual([...recorded])
      }),
      { numRuns: 300 },
    )
  })

  it('the recorder retries by itself after a failure', async () => {
    const store = faulty()
    store.failing = true
    const onError = vi.fn()
    const recorder = outcomeRecorder({ store, clock: testClock(), onError })
    recorder.record({ httpStatus: 200 })
    await vi.advanceTimersByTimeAsync(1_000)
    expect(store.adds).toBe(1)
    expect(onError.mock.calls).toEqual([[new Error('store is away')]])
    store.failing = false
    await vi.advanceTimersByTimeAsync(1_000)
    expect(onError).toHaveBeenCalledTimes(1)
    expect(store.read(MINUTE, MINUTE + 1)).toEqual([counts(MINUTE, { calls: 1 })])
  })

  it('close() writes what a running flush couldn’t', async () => {
    const inner = memoryOutcomes()
    const away: ((error: Error) => void)[] = []
    let isAway = true
    const add = (added: readonly MinuteOutcomes[]) =>
      isAway ? new Promise<void>((_, reject) => away.push(reject)) : inner.add(added)
    const recorder = outcomeRecorder({ store: { add, read: inner.read }, clock: testClock() })
    recorder.record({ httpStatus: 200 })
    const flushed = recorder.flush()
    await Promise.resolve()
    isAway = false
    const closed = recorder.close()
    for (const reject of away) reject(new Error('store is away'))
    await expect(flushed).rejects.toThrow('away')
    await closed
    expect(inner.read(MINUTE, MINUTE + 1)).toEqual([counts(MINUTE, { calls: 1 })])
  })

  it('the recorder keeps at most 8 days of minutes while the store is away', async () => {
    const store = faulty()
    store.failing = true
    const clock = testClock()
    const recorder = outcomeRecorder({ store, clock })
    for (let minute = 0; minute <= OUTCOMES_KEPT_MINUTES; minute++) {
      recorder.record({ httpStatus: 200 })
      clock.at += 60_000
    }
    await expect(recorder.flush()).rejects.toThrow('away')
    store.failing = false
    await recorder.flush()
    expect(store.read(0, Number.MAX_SAFE_INTEGER)).toHaveLength(OUTCOMES_KEPT_MINUTES)
  })

  it('close() flushes once more, then stops the timer and records nothing', async () => {
    const store = faulty()
    const timers = openTimers(['store/outcomes.ts'])
    const recorder = outcomeRecorder({ store, clock: testClock() })
    recorder.record({ httpStatus: 200 })
    expect(timers()).toBe(1)
    await recorder.close()
    recorder.record({ httpStatus: 200 })
    expect(timers()).toBe(0)
    await recorder.flush()
    expect(store.read(MINUTE, MINUTE + 1)).toEqual([counts(MINUTE, { calls: 1 })])
  })
})
