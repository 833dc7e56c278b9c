import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { wilsonBounds } from '../src/adaptive/law.ts'
import {
  ADAPTIVE_DEFAULTS,
  type AdaptiveConstants,
  adaptiveConstants,
  adaptiveCounts,
  adaptiveLaw,
  initialFactor,
} from '../src/adaptive.ts'
import { noOutcomes } from '../src/store/outcome-store.ts'
import type { AdaptiveCounts, FactorState } from '../src/store.ts'
import { START } from './support.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const NOW = START

function counts(calls: number, errors: number, recentCalls: number, recentErrors: number): AdaptiveCounts {
  return { calls, errors, recentCalls, recentErrors }
}

const GOOD = counts(3_000, 0, 500, 0)
const MIDDLING = counts(3_000, 30, 500, 5)
const BAD = counts(3_000, 300, 500, 50)
const NONE = counts(0, 0, 0, 0)

/** A state whose last move was long ago. */
function state(some: Partial<FactorState> = {}): FactorState {
  return { ...initialFactor(), lastMoveAt: NOW - 48 * HOUR, tickedAt: NOW - MINUTE, ...some }
}

function tick(before: Partial<FactorState>, counted: AdaptiveCounts, now = NOW): FactorState {
  return adaptiveLaw(state(before), counted, now)
}

/** Code of the tick and the factor after it. */
function verdict(before: Partial<FactorState>, counted: AdaptiveCounts, now = NOW): [string, number] {
  const after = tick(before, counted, now)
  return [after.reason!.code, after.factorHundredths]
}

/** Ticks every minute for so long, on the same counts. */
function ticked(from: FactorState, counted: AdaptiveCounts, fromAt: number, forMs: number): FactorState {
  let after = from
  for (let at = fromAt; at <= fromAt + forMs; at += MINUTE) after = adaptiveLaw(after, counted, at)
  return after
}

describe('the counts', () => {
  it('leave out refusals and the service’s own 503s about quotas', () => {
    const minute = (at: number) => ({
      ...noOutcomes(at),
      calls: 100,
      codeZero: 3,
      clientError: 20,
      serverError: 9,
      businessFail: 7,
      refused: 15,
      quotaUnavailable: 4,
    })
    expect(adaptiveCounts([minute(10), minute(34), minute(35), minute(39)], 35)).toEqual(counts(324, 32, 162, 16))
  })
})

describe('Wilson bounds', () => {
  it.each([
    [0, 0, 0, 1],
    [0, 765, 0, 0.004997],
    [1, 300, 0.000589, 0.018637],
    [50, 500, 0.076677, 0.129423],
    [10, 10, 0.72246, 1],
  ])('of %d in %d', (events, trials, low, high) => {
    expect(wilsonBounds(events, trials, 1.96).low).toBeCloseTo(low, 5)
    expect(wilsonBounds(events, trials, 1.96).high).toBeCloseTo(high, 5)
  })
})

describe('the factor falls', () => {
  it('by 0.10 when errors are surely above 2 %, not below 0.75', () => {
    expect(verdict({ factorHundredths: 100 }, BAD)).toEqual(['errors_high', 90])
    expect(verdict({ factorHundredths: 80 }, BAD)).toEqual(['errors_high', 75])
    expect(verdict({ factorHundredths: 75 }, BAD)).toEqual(['at_limit', 75])
  })

  it('only when the lower bound of the window is above 2 %', () => {
    // 77 of 3,000 are 2.57 %, surely above 2.06 %; 75 are 2.5 %, surely above 2.0 % less a little.
    expect(verdict({}, counts(3_000, 77, 500, 50))[0]).toBe('errors_high')
    expect(verdict({}, counts(3_000, 75, 500, 50))[0]).toBe('steady')
  })

  it('only when the lower bound of the last minutes is, too: what is over is over', () => {
    expect(verdict({}, counts(3_000, 300, 500, 18))[0]).toBe('errors_high')
    expect(verdict({}, counts(3_000, 300, 500, 16))[0]).toBe('steady')
  })

  it('only with 20 recent calls', () => {
    expect(verdict({}, counts(3_000, 300, 20, 20))[0]).toBe('errors_high')
    expect(verdict({}, counts(3_000, 300, 19, 19))[0]).toBe('steady')
  })

  it('also with less than 200 calls', () => {
    expect(verdict({}, counts(100, 30, 20, 8))).toEqual(['errors_high', 90])
  })

  it('5 minutes after the last move at the earliest', () => {
    expect(verdict({ lastMoveAt: NOW - 5 * MINUTE + 1 }, BAD)).toEqual(['waiting', 100])
    expect(verdict({ lastMoveAt: NOW - 5 * MINUTE }, BAD)).toEqual(['errors_high', 90])
  })
})

describe('the factor rises', () => {
  it('by 0.05, not above 1.5', () => {
    expect(verdict({ factorHundredths: 100 }, GOOD)).toEqual(['errors_low', 105])
    expect(verdict({ factorHundredths: 148 }, GOOD)).toEqual(['errors_low', 150])
    expect(verdict({ factorHundredths: 150 }, GOOD)).toEqual(['at_limit', 150])
  })

  it('30 minutes after the last move at the earliest', () => {
    expect(verdict({ lastMoveAt: NOW - 30 * MINUTE + 1 }, GOOD)).toEqual(['waiting', 100])
    expect(verdict({ lastMoveAt: NOW - 30 * MINUTE }, GOOD)).toEqual(['errors_low', 105])
  })

  it('from 1 on only when errors are surely below 0.5 %: 765 calls without one', () => {
    expect(verdict({ factorHundredths: 100 }, counts(765, 0, 100, 0))[0]).toBe('errors_low')
    expect(verdict({ factorHundredths: 100 }, counts(764, 0, 100, 0))[0]).toBe('steady')
    expect(verdict({ factorHundredths: 95 }, counts(764, 0, 100, 0))[0]).toBe('errors_low')
  })

  it('from 1 on only when the last minutes are below 0.5 %, and not when nobody called', () => {
    expect(verdict({ factorHundredths: 100 }, counts(10_000, 5, 1_000, 4))[0]).toBe('errors_low')
    expect(verdict({ factorHundredths: 100 }, counts(10_000, 5, 1_000, 5))[0]).toBe('steady')
    expect(verdict({ factorHundredths: 100 }, counts(10_000, 5, 0, 0))[0]).toBe('steady')
  })

  it('below 1 when the rate is below 0.5 % and surely below 2 %', () => {
    expect(verdict({ factorHundredths: 95 }, counts(3_000, 14, 500, 0))[0]).toBe('errors_low')
    expect(verdict({ factorHundredths: 95 }, counts(3_000, 15, 500, 0))[0]).toBe('steady')
    expect(verdict({ factorHundredths: 95 }, counts(300, 1, 50, 0))[0]).toBe('errors_low')
    expect(verdict({ factorHundredths: 95 }, counts(205, 1, 50, 0))[0]).toBe('steady')
  })

  it('below 1 unless the last minutes are surely above 0.5 %', () => {
    expect(verdict({ factorHundredths: 95 }, counts(3_000, 5, 100, 1))[0]).toBe('errors_low')
    expect(verdict({ factorHundredths: 95 }, counts(3_000, 5, 100, 2))[0]).toBe('steady')
    expect(verdict({ factorHundredths: 95 }, counts(30_000, 60, 10_000, 49))[0]).toBe('errors_low')
  })

  it('never while errors lie between: a steady 1 % keeps it where it is', () => {
    expect(verdict({ factorHundredths: 75 }, MIDDLING)).toEqual(['steady', 75])
    expect(verdict({ factorHundredths: 120 }, MIDDLING)).toEqual(['steady', 120])
  })
})

describe('the cap', () => {
  it('is set 0.05 below the factor that fell, if it had risen in the last 90 minutes', () => {
    const rose = (minutesAgo: number): Partial<FactorState> => ({
      factorHundredths: 120,
      lastRiseAt: NOW - minutesAgo * MINUTE,
    })
    expect(tick(rose(90), BAD).cap).toEqual({ hundredths: 115, since: NOW })
    expect(tick(rose(90), BAD).reason).toMatchObject({ code: 'errors_high', capHundredths: 115 })
    expect(tick(rose(91), BAD).cap).toBeNull()
    expect(tick({ factorHundredths: 120 }, BAD).cap).toBeNull()
  })

  it('is not set below 0.75', () => {
    expect(tick({ factorHundredths: 78, lastRiseAt: NOW - HOUR }, BAD).cap?.hundredths).toBe(75)
  })

  it('is what no rise goes above', () => {
    const capped = { factorHundredths: 110, cap: { hundredths: 113, since: NOW } }
    expect(verdict(capped, GOOD)).toEqual(['errors_low', 113])
    expect(verdict({ ...capped, factorHundredths: 113 }, GOOD)).toEqual(['capped', 113])
  })

  it('at or above 1 recovers 0.05 every 4 hours, and is gone at 1.5', () => {
    const cap = { hundredths: 140, since: NOW }
    expect(tick({ cap }, MIDDLING, NOW + 4 * HOUR - 1).cap).toEqual(cap)
    expect(tick({ cap }, MIDDLING, NOW + 4 * HOUR).cap).toEqual({ hundredths: 145, since: NOW + 4 * HOUR })
    expect(tick({ cap }, MIDDLING, NOW + 8 * HOUR).cap).toBeNull()
  })

  it('below 1 recovers faster: by its own time, 30 minutes at first', () => {
    const cap = { hundredths: 90, since: NOW }
    expect(tick({ cap }, MIDDLING, NOW + 30 * MINUTE - 1).cap).toEqual(cap)
    expect(tick({ cap }, MIDDLING, NOW + 59 * MINUTE).cap).toEqual({ hundredths: 95, since: NOW + 30 * MINUTE })
    expect(tick({ cap }, MIDDLING, NOW + 5 * HOUR).cap).toEqual({ hundredths: 105, since: NOW + 5 * HOUR })
    expect(tick({ cap, capRecoveryMs: 2 * HOUR }, MIDDLING, NOW + HOUR).cap).toEqual(cap)
  })

  it('takes twice as long with every relapse within 24 hours, 4 hours at most', () => {
    const relapse = (capRecoveryMs: number): number =>
      tick({ capRecoveryMs, lastFallAt: NOW - 24 * HOUR, lastRiseAt: NOW - HOUR }, BAD).capRecoveryMs
    expect([30, 60, 120, 240].map((each) => relapse(each * MINUTE) / MINUTE)).toEqual([60, 120, 240, 240])
  })

  it('takes as long as before when the fall follows a fall, or is the first', () => {
    const before = { capRecoveryMs: HOUR, lastMoveAt: NOW - HOUR }
    expect(tick({ ...before, lastFallAt: NOW - HOUR, lastRiseAt: NOW - 2 * HOUR }, BAD).capRecoveryMs).toBe(HOUR)
    expect(tick({ ...before, lastFallAt: NOW - HOUR }, BAD).capRecoveryMs).toBe(HOUR)
    expect(tick({ ...before, lastRiseAt: NOW - HOUR }, BAD).capRecoveryMs).toBe(HOUR)
  })

  it('knows of the moves before: fall, rise, fall again', () => {
    const fell = adaptiveLaw(state(), BAD, NOW)
    const rose = adaptiveLaw(fell, GOOD, NOW + 30 * MINUTE)
    const again = adaptiveLaw(rose, BAD, NOW + 60 * MINUTE)
    expect([fell, rose, again].map(({ factorHundredths }) => factorHundredths)).toEqual([90, 95, 85])
    expect(again).toMatchObject({ cap: { hundredths: 90, since: NOW + HOUR }, capRecoveryMs: HOUR })
    expect(again).toMatchObject({ lastRiseAt: NOW + 30 * MINUTE, lastFallAt: NOW + HOUR, lastMoveAt: NOW + HOUR })
  })

  it('takes 30 minutes again after 24 hours without a fall', () => {
    const before = { capRecoveryMs: 4 * HOUR, lastFallAt: NOW - 24 * HOUR - 1, lastRiseAt: NOW - HOUR }
    expect(tick(before, BAD).capRecoveryMs).toBe(30 * MINUTE)
  })
})

describe('with less than 200 calls', () => {
  const quietFor = (ms: number, factorHundredths: number): Partial<FactorState> => ({
    factorHundredths,
    quietSince: NOW - ms,
  })

  it('the factor holds for 30 minutes, then drifts to 1 by 0.05', () => {
    expect(verdict(quietFor(30 * MINUTE - 1, 120), NONE)).toEqual(['quiet', 120])
    expect(verdict(quietFor(30 * MINUTE, 120), NONE)).toEqual(['quiet_fall', 115])
    expect(verdict(quietFor(30 * MINUTE, 80), NONE)).toEqual(['quiet_rise', 85])
    expect(verdict(quietFor(30 * MINUTE, 100), NONE)).toEqual(['quiet', 100])
  })

  it('it does not drift beyond 1', () => {
    expect(verdict(quietFor(HOUR, 98), NONE)).toEqual(['quiet_rise', 100])
    expect(verdict(quietFor(HOUR, 102), NONE)).toEqual(['quiet_fall', 100])
  })

  it('steps of the drift are 30 minutes apart', () => {
    const after = (ms: number): number => ticked({ ...state(), factorHundredths: 120 }, NONE, NOW, ms).factorHundredths
    expect([29, 30, 59, 60, 240].map((minutes) => after(minutes * MINUTE))).toEqual([120, 115, 115, 110, 100])
  })

  it('200 calls are enough traffic, and begin the hold again', () => {
    const enough = tick(quietFor(HOUR, 120), counts(200, 2, 30, 0))
    expect([enough.reason?.code, enough.quietSince]).toEqual(['steady', null])
    const again = adaptiveLaw(enough, counts(199, 2, 30, 0), NOW + MINUTE)
    expect([again.reason?.code, again.quietSince]).toEqual(['quiet', NOW + MINUTE])
  })

  it('a time without ticks is no hold', () => {
    expect(tick({ ...quietFor(9 * HOUR, 120), tickedAt: NOW - 31 * MINUTE }, NONE).quietSince).toBe(NOW)
    expect(tick({ ...quietFor(9 * HOUR, 120), tickedAt: NOW - 30 * MINUTE }, NONE).quietSince).toBe(NOW - 9 * HOUR)
  })

  it('it drifts up only while errors are not surely above 0.5 %', () => {
    expect(verdict(quietFor(HOUR, 80), counts(100, 1, 10, 0))).toEqual(['quiet_rise', 85])
    expect(verdict(quietFor(HOUR, 80), counts(100, 2, 10, 0))).toEqual(['quiet', 80])
    expect(verdict(quietFor(HOUR, 120), counts(100, 2, 10, 0))).toEqual(['quiet_fall', 115])
  })

  it('it does not drift above the cap', () => {
    const capped = { ...quietFor(HOUR, 80), cap: { hundredths: 80, since: NOW } }
    expect(verdict(capped, NONE)).toEqual(['capped', 80])
  })

  it('a drift down is no fall: it sets no cap and counts as no relapse', () => {
    const before = { ...quietFor(HOUR, 120), lastRiseAt: NOW - HOUR, lastFallAt: NOW - 2 * HOUR }
    expect(tick(before, NONE)).toMatchObject({ cap: null, lastFallAt: NOW - 2 * HOUR, capRecoveryMs: 30 * MINUTE })
  })
})

describe('a tick', () => {
  it('reports the numbers that its reason came from', () => {
    const { reason } = tick({ factorHundredths: 120, lastRiseAt: NOW - HOUR }, counts(1_000, 100, 200, 20))
    expect(reason).toEqual({
      code: 'errors_high',
      at: NOW,
      fromHundredths: 120,
      toHundredths: 110,
      counts: counts(1_000, 100, 200, 20),
      bounds: {
        low: wilsonBounds(100, 1_000, 1.96).low,
        high: wilsonBounds(100, 1_000, 1.96).high,
        recentLow: wilsonBounds(20, 200, 1.96).low,
      },
      capHundredths: 115,
      nextFallAt: NOW + 5 * MINUTE,
      nextRiseAt: NOW + 30 * MINUTE,
    })
  })

  it('reports when the next move is possible: waits, the cap, the bounds', () => {
    const next = (before: Partial<FactorState>): unknown[] => {
      const { nextFallAt, nextRiseAt } = tick(before, MIDDLING).reason!
      return [nextFallAt, nextRiseAt]
    }
    expect(next({})).toEqual([NOW, NOW])
    expect(next({ lastMoveAt: null })).toEqual([NOW, NOW])
    expect(next({ lastMoveAt: NOW - MINUTE })).toEqual([NOW + 4 * MINUTE, NOW + 29 * MINUTE])
    expect(next({ factorHundredths: 75 })).toEqual([null, NOW])
    expect(next({ factorHundredths: 150 })).toEqual([NOW, null])
    expect(next({ cap: { hundredths: 100, since: NOW - HOUR } })).toEqual([NOW, NOW + 3 * HOUR])
    expect(next({ factorHundredths: 80, cap: { hundredths: 75, since: NOW } })).toEqual([NOW, NOW + HOUR])
  })

  it('remembers the last moves, newest first, and no more than its limit', () => {
    const constants = adaptiveConstants({ historyLength: 2 })
    let after = state()
    for (let at = 0; at < 3; at++) after = adaptiveLaw(after, BAD, NOW + at * 5 * MINUTE, constants)
    after = adaptiveLaw(after, BAD, NOW + 16 * MINUTE, constants)
    expect(after.reason?.code).toBe('at_limit')
    expect(after.history.map(({ toHundredths }) => toHundredths)).toEqual([75, 80])
  })

  it('after the clock stepped back waits from then on, and not until the old time comes', () => {
    const ahead = NOW + 24 * HOUR
    const before = state({
      lastMoveAt: ahead,
      lastRiseAt: ahead,
      tickedAt: ahead,
      cap: { hundredths: 100, since: ahead },
    })
    expect(adaptiveLaw(before, BAD, NOW)).toMatchObject({ factorHundredths: 100, lastMoveAt: NOW, cap: { since: NOW } })
    expect(ticked(before, BAD, NOW, 5 * MINUTE).factorHundredths).toBe(90)
    const quiet = state({ factorHundredths: 120, lastMoveAt: null, quietSince: ahead, tickedAt: ahead })
    expect(ticked(quiet, NONE, NOW, 30 * MINUTE).factorHundredths).toBe(115)
  })

  it('whatever is counted, and whenever: bounds, steps, plain JSON, and the state before untouched', () => {
    const some = fc
      .tuple(
        fc.nat(5_000),
        fc.nat(1_000),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.constantFrom(0, 0.003, 0.5, 1),
      )
      .map(([older, recentCalls, share, recentShare]) => {
        const recentErrors = Math.floor(recentCalls * recentShare)
        return counts(older + recentCalls, recentErrors + Math.floor(older * share * share), recentCalls, recentErrors)
      })
    const step = fc.tuple(some, fc.constantFrom(1, 5, 30, 300, -60))
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let [before, now] = [initialFactor(), NOW]
        for (const [counted, minutes] of steps) {
          now += minutes * MINUTE
          const after = adaptiveLaw(deepFrozen(before), counted, now)
          expect(after.factorHundredths).toBeGreaterThanOrEqual(75)
          expect(after.factorHundredths).toBeLessThanOrEqual(150)
          expect(Math.abs(after.factorHundredths - before.factorHundredths)).toBeLessThanOrEqual(10)
          expect(after.factorHundredths).toBeLessThanOrEqual(after.cap?.hundredths ?? 150)
          expect(JSON.parse(JSON.stringify(after))).toEqual(after)
          before = after
        }
      }),
      { numRuns: 100 },
    )
  })
})

describe('the constants', () => {
  it('are 30 minutes, 0.5 % and 2 %, 0.75 to 1.5 by default', () => {
    expect(ADAPTIVE_DEFAULTS).toMatchObject({ windowMinutes: 30, lowRate: 0.005, highRate: 0.02, minHundredths: 75 })
    expect(adaptiveConstants({ maxHundredths: 120 })).toEqual({ ...ADAPTIVE_DEFAULTS, maxHundredths: 120 })
  })

  it('reach the law', () => {
    const constants = adaptiveConstants({ fallStepHundredths: 20, highRate: 0.05, maxHundredths: 102, z: 0 })
    expect(adaptiveLaw(state(), BAD, NOW, constants).factorHundredths).toBe(80)
    expect(adaptiveLaw(state(), counts(1_000, 40, 200, 8), NOW, constants).factorHundredths).toBe(100)
    expect(adaptiveLaw(state(), GOOD, NOW, constants).factorHundredths).toBe(102)
  })

  it.each([
    [{ minHundredths: 74 }, 'minHundredths'],
    [{ maxHundredths: 151 }, 'maxHundredths'],
    [{ fallStepHundredths: 0.5 }, 'fallStepHundredths'],
    [{ lowRate: 0.02 }, 'lowRate'],
    [{ recentMinutes: 31 }, 'recentMinutes'],
    [{ capRecoveryMinMs: 5 * HOUR }, 'capRecoveryMinMs'],
    [{ z: Number.NaN }, 'z'],
    [{ historyLength: 0 }, 'historyLength'],
    [{ windowMinuets: 30 }, 'windowMinuets'],
  ])('refuse %j', (given, path) => {
    expect(() => adaptiveConstants(given as Partial<AdaptiveConstants>)).toThrowError(
      expect.objectContaining({ code: 'invalid_options', faults: [expect.objectContaining({ path })] }),
    )
  })
})

function deepFrozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const each of Object.values(value)) deepFrozen(each)
    Object.freeze(value)
  }
  return value
}
