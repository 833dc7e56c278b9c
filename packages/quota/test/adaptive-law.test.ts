import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { wilsonBounds } from '../src/adaptive/rates.ts'
import type { AdaptiveCounts, FactorState, Learned } from '../src/adaptive.ts'
import {
  ADAPTIVE_DEFAULTS,
  type AdaptiveConstants,
  adaptiveConstants,
  adaptiveCounts,
  adaptiveLaw,
  initialFactor,
  memoryFactor,
  resetFactor,
} from '../src/adaptive.ts'
import { noOutcomes } from '../src/store/outcome-store.ts'
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

/** The same, with something learned. */
function learned(some: Partial<Learned>, more: Partial<FactorState> = {}): FactorState {
  return state({ ...more, learned: { ...initialFactor().learned, lowSince: NOW - HOUR, ...some } })
}

/** A rise of so long ago, from the level a step below. */
function roseFrom(fromHundredths: number, minutesAgo: number): Learned['rises'][number] {
  return { at: NOW - minutesAgo * MINUTE, fromHundredths }
}

/** A wall from 1.15 to so much, which may be probed. */
function wallTo(highHundredths: number, some: Partial<NonNullable<Learned['wall']>> = {}): Learned['wall'] {
  return { lowHundredths: 115, highHundredths, retryAt: NOW - HOUR, probed: 'never', ...some }
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

describe('adaptive counts', () => {
  it('the counts exclude refusals and the service’s own 503 responses about quotas', () => {
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
  ])('the Wilson bounds of %d events in %d trials match known values', (events, trials, low, high) => {
    expect(wilsonBounds(events, trials, 1.96).low).toBeCloseTo(low, 5)
    expect(wilsonBounds(events, trials, 1.96).high).toBeCloseTo(high, 5)
  })
})

describe('falling factor', () => {
  it('the factor falls by 0.10, to 0.75 at least, when errors are certainly above 2 %', () => {
    expect(verdict({ factorHundredths: 100 }, BAD)).toEqual(['errors_high', 90])
    expect(verdict({ factorHundredths: 80 }, BAD)).toEqual(['errors_high', 75])
    expect(verdict({ factorHundredths: 75 }, BAD)).toEqual(['at_limit', 75])
  })

  it('the factor falls only when the lower bound over the window is above 2 %', () => {
    // 77 of 3,000 are 2.57 %, surely above 2.06 %; 75 are 2.5 %, surely above 2.0 % less a little.
    expect(verdict({}, counts(3_000, 77, 500, 50))[0]).toBe('errors_high')
    expect(verdict({}, counts(3_000, 75, 500, 50))[0]).toBe('steady')
  })

  it('the factor doesn’t fall when the last minutes aren’t certainly above 2 % any more', () => {
    expect(verdict({}, counts(3_000, 300, 500, 18))[0]).toBe('errors_high')
    expect(verdict({}, counts(3_000, 300, 500, 16))[0]).toBe('steady')
  })

  it('the factor falls only with at least 20 recent calls', () => {
    expect(verdict({}, counts(3_000, 300, 20, 20))[0]).toBe('errors_high')
    expect(verdict({}, counts(3_000, 300, 19, 19))[0]).toBe('steady')
  })

  it('the factor can fall with fewer than 200 calls in the window', () => {
    expect(verdict({}, counts(100, 30, 20, 8))).toEqual(['errors_high', 90])
  })

  it('the factor falls at most once in 5 minutes', () => {
    expect(verdict({ lastMoveAt: NOW - 5 * MINUTE + 1 }, BAD)).toEqual(['waiting', 100])
    expect(verdict({ lastMoveAt: NOW - 5 * MINUTE }, BAD)).toEqual(['errors_high', 90])
  })
})

describe('rising factor', () => {
  it('the factor rises by 0.05, to 1.5 at most', () => {
    expect(verdict({ factorHundredths: 100 }, GOOD)).toEqual(['errors_low', 105])
    expect(verdict({ factorHundredths: 148 }, GOOD)).toEqual(['errors_low', 150])
    expect(verdict({ factorHundredths: 150 }, GOOD)).toEqual(['at_limit', 150])
  })

  it('the factor rises at most once in 30 minutes', () => {
    expect(verdict({ lastMoveAt: NOW - 30 * MINUTE + 1 }, GOOD)).toEqual(['waiting', 100])
    expect(verdict({ lastMoveAt: NOW - 30 * MINUTE }, GOOD)).toEqual(['errors_low', 105])
  })

  it('above 1 the factor rises only when errors are certainly below 0.5 %, as after 765 calls without one', () => {
    expect(verdict({ factorHundredths: 100 }, counts(765, 0, 100, 0))[0]).toBe('errors_low')
    expect(verdict({ factorHundredths: 100 }, counts(764, 0, 100, 0))[0]).toBe('steady')
    expect(verdict({ factorHundredths: 95 }, counts(764, 0, 100, 0))[0]).toBe('errors_low')
  })

  it('above 1 the factor rises only when the last minutes have calls and are below 0.5 %', () => {
    expect(verdict({ factorHundredths: 100 }, counts(10_000, 5, 1_000, 4))[0]).toBe('errors_low')
    expect(verdict({ factorHundredths: 100 }, counts(10_000, 5, 1_000, 5))[0]).toBe('steady')
    expect(verdict({ factorHundredths: 100 }, counts(10_000, 5, 0, 0))[0]).toBe('steady')
  })

  it('below 1 the factor rises when the rate is below 0.5 % and certainly below 2 %', () => {
    expect(verdict({ factorHundredths: 95 }, counts(3_000, 14, 500, 0))[0]).toBe('errors_low')
    expect(verdict({ factorHundredths: 95 }, counts(3_000, 15, 500, 0))[0]).toBe('steady')
    expect(verdict({ factorHundredths: 95 }, counts(300, 1, 50, 0))[0]).toBe('errors_low')
    expect(verdict({ factorHundredths: 95 }, counts(205, 1, 50, 0))[0]).toBe('steady')
  })

  it('below 1 the factor doesn’t rise when the last minutes are certainly above 0.5 %', () => {
    expect(verdict({ factorHundredths: 95 }, counts(3_000, 5, 100, 1))[0]).toBe('errors_low')
    expect(verdict({ factorHundredths: 95 }, counts(3_000, 5, 100, 2))[0]).toBe('steady')
    expect(verdict({ factorHundredths: 95 }, counts(30_000, 60, 10_000, 49))[0]).toBe('errors_low')
  })

  it('the factor never rises at a steady 1 % of errors', () => {
    expect(verdict({ factorHundredths: 75 }, MIDDLING)).toEqual(['steady', 75])
    expect(verdict({ factorHundredths: 120 }, MIDDLING)).toEqual(['steady', 120])
  })
})

describe('falling after rises', () => {
  const risen = (...rises: Learned['rises']): FactorState => learned({ rises }, { factorHundredths: 120 })

  it('a fall returns to the factor before the first rise and leaves a wall', () => {
    const after = adaptiveLaw(risen(roseFrom(110, 70), roseFrom(115, 40)), BAD, NOW)
    expect([after.reason?.code, after.factorHundredths]).toEqual(['errors_high', 110])
    expect(after.learned.wall).toEqual({
      lowHundredths: 115,
      highHundredths: 120,
      retryAt: NOW + 2 * HOUR,
      probed: 'never',
    })
    expect(after.reason).toMatchObject({ capHundredths: 110, wall: { lowHundredths: 115, highHundredths: 120 } })
    expect(after.learned.rises).toEqual([])
  })

  it('a fall after rises moves by 0.10 a minute even if the counts are good', () => {
    const fell = adaptiveLaw(risen(roseFrom(95, 74), roseFrom(100, 44)), BAD, NOW)
    const back = adaptiveLaw(fell, GOOD, NOW + MINUTE)
    const home = adaptiveLaw(back, GOOD, NOW + 2 * MINUTE)
    expect([fell, back, home].map(({ factorHundredths }) => factorHundredths)).toEqual([110, 100, 95])
    expect([back, home].map(({ reason }) => reason?.code)).toEqual(['returned', 'returned'])
    expect(home.learned.phase).toEqual({ kind: 'free' })
  })

  it('a fall undoes the rises of the last 75 minutes and no earlier ones', () => {
    expect(adaptiveLaw(risen(roseFrom(115, 75)), BAD, NOW).learned.wall).not.toBeNull()
    const after = adaptiveLaw(risen(roseFrom(115, 76)), BAD, NOW)
    expect([after.factorHundredths, after.learned.wall]).toEqual([110, null])
  })

  it('a fall after a rise doesn’t wait for the whole window when the counts since the rise are bad', () => {
    const since = (evidence: number): FactorState =>
      learned({ rises: [roseFrom(115, 8)], evidence }, { factorHundredths: 120 })
    // 15 of 300 in the last minutes, and not yet 2 % in the window.
    const soon = counts(1_800, 20, 300, 15)
    expect(adaptiveLaw(since(5.6), soon, NOW).reason?.code).toBe('errors_high')
    expect(adaptiveLaw(since(0), soon, NOW).reason?.code).toBe('steady')
    expect(adaptiveLaw(since(20), counts(1_800, 20, 19, 5), NOW).reason?.code).toBe('steady')
    expect(adaptiveLaw(since(20), counts(1_800, 20, 300, 2), NOW).reason?.code).toBe('steady')
    expect(adaptiveLaw({ ...since(20), learned: { ...since(20).learned, rises: [] } }, soon, NOW).reason?.code).toBe(
      'steady',
    )
  })

  it('the factor keeps falling while errors stay high, and the wall starts lower unless the factor is 1', () => {
    const at = (factorHundredths: number): FactorState =>
      learned({ wall: wallTo(120, { lowHundredths: factorHundredths + 5 }) }, { factorHundredths })
    expect(adaptiveLaw(at(110), BAD, NOW).learned.wall?.lowHundredths).toBe(110)
    expect(adaptiveLaw(at(100), BAD, NOW).learned.wall?.lowHundredths).toBe(105)
    expect(adaptiveLaw(at(110), BAD, NOW).factorHundredths).toBe(100)
  })

  it('a service that recovers slowly has rises undone that are twice as old', () => {
    const since = NOW - 2 * HOUR
    const rises = [
      { at: since - 4 * HOUR - MINUTE, fromHundredths: 105 },
      { at: since - 3 * HOUR, fromHundredths: 110 },
      { at: since - HOUR, fromHundredths: 130 },
    ]
    const troubled = learned({
      trouble: { since, fromHundredths: 150, rises },
      wall: wallTo(150, { lowHundredths: 135 }),
    })
    expect(adaptiveLaw(troubled, BAD, NOW).learned.trouble).not.toBeNull()
    const passed = adaptiveLaw(troubled, GOOD, NOW).learned
    expect([passed.trouble, passed.responseMs, passed.wall?.lowHundredths]).toEqual([null, 2 * HOUR, 115])
    const unwalled = { ...troubled, learned: { ...troubled.learned, wall: null } }
    expect(adaptiveLaw(unwalled, GOOD, NOW).learned.wall).toMatchObject({ lowHundredths: 115, highHundredths: 150 })
  })

  it('failed probes delay the next one by 2, 4, then at most 8 hours', () => {
    const wait = (hours: number): number =>
      adaptiveLaw(
        learned({ probeWaitMs: hours * HOUR, rises: [roseFrom(100, 30)] }, { factorHundredths: 105 }),
        BAD,
        NOW,
      ).learned.probeWaitMs / HOUR
    expect([0, 2, 4, 8].map(wait)).toEqual([2, 4, 8, 8])
  })
})

describe('walls', () => {
  const below = (some: Partial<Learned> = {}): FactorState =>
    learned({ wall: wallTo(120), ...some }, { factorHundredths: 110 })

  it('a wall doesn’t stop the factor from rising below it', () => {
    expect(adaptiveLaw({ ...below(), factorHundredths: 105 }, GOOD, NOW)).toMatchObject({
      factorHundredths: 110,
      reason: { code: 'errors_low' },
    })
  })

  it('a wall is probed for 5 minutes and watched for 2 hours before the factor rises to its level', () => {
    const moves: (string | number)[][] = []
    let [after, before] = [below(), 110]
    for (let minute = 0; minute <= 126; minute++) {
      after = adaptiveLaw(after, GOOD, NOW + minute * MINUTE)
      if (after.factorHundredths !== before) moves.push([minute, after.reason!.code, after.factorHundredths])
      before = after.factorHundredths
    }
    expect(moves).toEqual([
      [0, 'probe', 115],
      [5, 'probe_over', 110],
      [125, 'probe_passed', 115],
    ])
    expect(after.learned.wall).toMatchObject({ lowHundredths: 120, highHundredths: 120 })
  })

  it('a wall at its highest level disappears after two passed probes, the second one of 20 minutes', () => {
    const top = below({ wall: wallTo(115), probeWaitMs: 8 * HOUR })
    const first = ticked(top, GOOD, NOW, 125 * MINUTE)
    expect(first).toMatchObject({ factorHundredths: 110, learned: { wall: { probed: 'once' } } })
    const second = ticked(first, GOOD, NOW + 126 * MINUTE, 19 * MINUTE)
    expect(second).toMatchObject({ factorHundredths: 115, reason: { code: 'probing' } })
    const passed = ticked(second, GOOD, NOW + 146 * MINUTE, 120 * MINUTE)
    expect(passed).toMatchObject({ factorHundredths: 115, learned: { wall: null, probeWaitMs: 4 * HOUR } })
  })

  it('a wall stays when its probe fails, during the probe or in the two hours after it', () => {
    const failed = (from: FactorState, at: number): unknown[] => {
      const { reason, factorHundredths, learned: known } = ticked(from, counts(3_000, 40, 500, 30), at, 2 * MINUTE)
      return [
        reason?.code,
        factorHundredths,
        known?.wall?.lowHundredths,
        known?.wall?.highHundredths,
        known?.phase.kind,
      ]
    }
    const probing = adaptiveLaw(below({ wall: wallTo(140) }), GOOD, NOW)
    const listening = ticked(probing, GOOD, NOW + MINUTE, 60 * MINUTE)
    expect(adaptiveLaw(probing, counts(3_000, 40, 500, 30), NOW + MINUTE).reason?.code).toBe('probe_failed')
    expect(failed(probing, NOW + MINUTE).slice(1)).toEqual([110, 115, 115, 'free'])
    expect(failed(listening, NOW + 62 * MINUTE).slice(1)).toEqual([110, 115, 115, 'free'])
  })

  it.each<[string, Partial<Learned>]>([
    ['before its time', { wall: wallTo(120, { retryAt: NOW + 1 }) }],
    ['while a rise may still show', { rises: [roseFrom(105, 75)] }],
    ['when no probe is left', { probes: { left: 0, since: NOW - 8 * HOUR + 1 } }],
    ['before errors were low for a whole window', { lowSince: NOW - 30 * MINUTE + 1 }],
  ])('a wall isn’t probed %s', (_, some) => {
    expect(adaptiveLaw(below(some), GOOD, NOW).reason).toMatchObject({ code: 'capped', toHundredths: 110 })
    expect(adaptiveLaw(below(some), GOOD, NOW).reason!.nextRiseAt).toBeGreaterThanOrEqual(NOW)
  })

  it('a wall is probed as soon as its waiting time is over', () => {
    for (const some of [
      { wall: wallTo(120, { retryAt: NOW }) },
      { rises: [roseFrom(105, 76)] },
      { probes: { left: 0, since: NOW - 8 * HOUR } },
      { lowSince: NOW - 30 * MINUTE },
    ]) {
      expect(adaptiveLaw(below(some), GOOD, NOW).reason?.code).toBe('probe')
    }
  })

  it('a wall with too little traffic to probe it rises with time', () => {
    const quiet = (retryAt: number): FactorState =>
      learned(
        { wall: { lowHundredths: 90, highHundredths: 95, retryAt, probed: 'never' }, probeWaitMs: 4 * HOUR },
        { factorHundredths: 85, quietSince: NOW - HOUR },
      )
    expect(adaptiveLaw(quiet(NOW + 1), NONE, NOW).reason?.code).toBe('capped')
    const lifted = adaptiveLaw(quiet(NOW), NONE, NOW)
    expect(lifted).toMatchObject({
      factorHundredths: 90,
      learned: { wall: { lowHundredths: 95, retryAt: NOW + 4 * HOUR } },
    })
  })

  it('a reset removes the wall and keeps the factor and its history', async () => {
    const store = memoryFactor()
    expect(await resetFactor(store)).toBeUndefined()
    const fell = adaptiveLaw(learned({ rises: [roseFrom(100, 30)] }, { factorHundredths: 105 }), BAD, NOW)
    store.compareAndSet(0, NOW / MINUTE, fell)
    expect(fell.learned.wall).not.toBeNull()
    const forgotten = { ...fell, learned: initialFactor().learned }
    for (const before of [fell, forgotten]) {
      expect(await resetFactor(store)).toEqual(before)
      expect(store.read()?.state).toEqual(forgotten)
    }
    expect(adaptiveLaw(store.read()!.state, GOOD, NOW + 30 * MINUTE)).toMatchObject({
      factorHundredths: 105,
      reason: { code: 'errors_low', wall: null },
    })
  })
})

describe('a gap of more than 30 minutes between ticks', () => {
  it('a gap ends a probe without judging it and leaves the wall for a later probe', () => {
    const probing = adaptiveLaw(learned({ wall: wallTo(120) }, { factorHundredths: 110 }), GOOD, NOW)
    const later = adaptiveLaw(probing, GOOD, NOW + 9 * HOUR)
    expect(later).toMatchObject({
      factorHundredths: 110,
      reason: { code: 'returned' },
      learned: { phase: { kind: 'free' }, wall: { lowHundredths: 115 } },
    })
    const listening = ticked(probing, GOOD, NOW + MINUTE, 10 * MINUTE)
    expect(adaptiveLaw(listening, GOOD, NOW + 9 * HOUR)).toMatchObject({
      factorHundredths: 110,
      learned: { phase: { kind: 'free' } },
    })
    expect(adaptiveLaw(probing, GOOD, NOW + 30 * MINUTE).reason?.code).toBe('probe_over')
  })

  it('evidence and trouble from before a gap are dropped', () => {
    const before = learned(
      { evidence: 20, trouble: { since: NOW - HOUR, fromHundredths: 100, rises: [] } },
      { tickedAt: NOW - 31 * MINUTE },
    )
    expect(adaptiveLaw(before, GOOD, NOW).learned).toMatchObject({ evidence: 0, trouble: null, responseMs: 0 })
  })
})

describe('drift with fewer than 200 calls', () => {
  const quietFor = (ms: number, factorHundredths: number): Partial<FactorState> => ({
    factorHundredths,
    quietSince: NOW - ms,
  })

  it('the factor stays for 30 minutes with few calls, then drifts to 1 by 0.05', () => {
    expect(verdict(quietFor(30 * MINUTE - 1, 120), NONE)).toEqual(['quiet', 120])
    expect(verdict(quietFor(30 * MINUTE, 120), NONE)).toEqual(['quiet_fall', 115])
    expect(verdict(quietFor(30 * MINUTE, 80), NONE)).toEqual(['quiet_rise', 85])
    expect(verdict(quietFor(30 * MINUTE, 100), NONE)).toEqual(['quiet', 100])
  })

  it('the factor never drifts past 1', () => {
    expect(verdict(quietFor(HOUR, 98), NONE)).toEqual(['quiet_rise', 100])
    expect(verdict(quietFor(HOUR, 102), NONE)).toEqual(['quiet_fall', 100])
  })

  it('drift steps are 30 minutes apart', () => {
    const after = (ms: number): number => ticked({ ...state(), factorHundredths: 120 }, NONE, NOW, ms).factorHundredths
    expect([29, 30, 59, 60, 240].map((minutes) => after(minutes * MINUTE))).toEqual([120, 115, 115, 110, 100])
  })

  it('200 calls in the window end the drift and restart its waiting time', () => {
    const enough = tick(quietFor(HOUR, 120), counts(200, 2, 30, 0))
    expect([enough.reason?.code, enough.quietSince]).toEqual(['steady', null])
    const again = adaptiveLaw(enough, counts(199, 2, 30, 0), NOW + MINUTE)
    expect([again.reason?.code, again.quietSince]).toEqual(['quiet', NOW + MINUTE])
  })

  it('minutes without ticks don’t count towards the drift’s waiting time', () => {
    expect(tick({ ...quietFor(9 * HOUR, 120), tickedAt: NOW - 31 * MINUTE }, NONE).quietSince).toBe(NOW)
    expect(tick({ ...quietFor(9 * HOUR, 120), tickedAt: NOW - 30 * MINUTE }, NONE).quietSince).toBe(NOW - 9 * HOUR)
  })

  it('the factor drifts up only while errors aren’t certainly above 0.5 %', () => {
    expect(verdict(quietFor(HOUR, 80), counts(100, 1, 10, 0))).toEqual(['quiet_rise', 85])
    expect(verdict(quietFor(HOUR, 80), counts(100, 2, 10, 0))).toEqual(['quiet', 80])
    expect(verdict(quietFor(HOUR, 120), counts(100, 2, 10, 0))).toEqual(['quiet_fall', 115])
  })

  it('a drift down leaves no wall', () => {
    expect(tick(quietFor(HOUR, 120), NONE).learned.wall).toBeNull()
  })
})

describe('ticks', () => {
  it('a tick reports the numbers that its decision is based on', () => {
    const { reason } = adaptiveLaw(
      learned({ rises: [roseFrom(110, 60)] }, { factorHundredths: 120 }),
      counts(1_000, 100, 200, 20),
      NOW,
    )
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
      capHundredths: 110,
      wall: { lowHundredths: 115, highHundredths: 120, retryAt: NOW + 2 * HOUR },
      nextFallAt: NOW + 5 * MINUTE,
      nextRiseAt: NOW + 2 * HOUR,
    })
  })

  it('a tick reports when the next move is possible, given waits, the wall and the bounds', () => {
    const next = (before: Partial<FactorState>): unknown[] => {
      const { nextFallAt, nextRiseAt } = tick(before, MIDDLING).reason!
      return [nextFallAt, nextRiseAt]
    }
    expect(next({})).toEqual([NOW, NOW])
    expect(next({ lastMoveAt: null })).toEqual([NOW, NOW])
    expect(next({ lastMoveAt: NOW - MINUTE })).toEqual([NOW + 4 * MINUTE, NOW + 29 * MINUTE])
    expect(next({ factorHundredths: 75 })).toEqual([null, NOW])
    expect(next({ factorHundredths: 150 })).toEqual([NOW, null])
    const known = (some: Partial<Learned>): FactorState => learned(some, { factorHundredths: 110 })
    expect(next(known({ wall: wallTo(120, { retryAt: NOW + HOUR }) }))).toEqual([NOW, NOW + HOUR])
    expect(next(known({ wall: wallTo(120), rises: [roseFrom(105, 15)] }))).toEqual([NOW, NOW + HOUR])
    expect(next(known({ wall: wallTo(120), probes: { left: 0, since: NOW - HOUR } }))).toEqual([NOW, NOW + 7 * HOUR])
    const until = NOW + 2 * HOUR
    const listening = { kind: 'listening', homeHundredths: 110, levelHundredths: 115, until } as const
    expect(next(known({ wall: wallTo(120), phase: listening }))).toEqual([NOW, until])
  })

  it('a tick keeps the last moves, newest first, up to its limit', () => {
    const constants = adaptiveConstants({ historyLength: 2 })
    let after = state()
    for (let at = 0; at < 3; at++) after = adaptiveLaw(after, BAD, NOW + at * 5 * MINUTE, constants)
    after = adaptiveLaw(after, BAD, NOW + 16 * MINUTE, constants)
    expect(after.reason?.code).toBe('at_limit')
    expect(after.history.map(({ toHundredths }) => toHundredths)).toEqual([75, 80])
  })

  it('a tick after the clock stepped back restarts the waits from the new time', () => {
    const ahead = NOW + 24 * HOUR
    const before = learned(
      { rises: [{ at: ahead, fromHundredths: 95 }], wall: wallTo(120, { retryAt: ahead }) },
      { lastMoveAt: ahead, tickedAt: ahead },
    )
    const after = adaptiveLaw(before, MIDDLING, NOW)
    expect(after).toMatchObject({
      lastMoveAt: NOW,
      learned: { rises: [{ at: NOW }], wall: { retryAt: NOW + 8 * HOUR } },
    })
    const moved = state({ lastMoveAt: ahead, tickedAt: ahead })
    expect(adaptiveLaw(moved, BAD, NOW)).toMatchObject({ factorHundredths: 100, lastMoveAt: NOW })
    expect(ticked(moved, BAD, NOW, 5 * MINUTE).factorHundredths).toBe(90)
    const probing = adaptiveLaw(learned({ wall: wallTo(120) }, { factorHundredths: 110, tickedAt: ahead }), GOOD, ahead)
    expect(ticked(probing, GOOD, NOW, 2 * HOUR).factorHundredths).toBe(110)
    const quiet = state({ factorHundredths: 120, lastMoveAt: null, quietSince: ahead, tickedAt: ahead })
    expect(ticked(quiet, NONE, NOW, 30 * MINUTE).factorHundredths).toBe(115)
  })

  it('any counts at any time give bounded factors in allowed steps as plain JSON, and the given state isn’t changed', () => {
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
          if (after.learned.phase.kind === 'free')
            expect(after.factorHundredths).toBeLessThanOrEqual(after.reason?.capHundredths ?? 150)
          expect(JSON.stringify({ ...after, reason: null, history: [] }).length).toBeLessThanOrEqual(2_048)
          expect(JSON.parse(JSON.stringify(after))).toEqual(after)
          before = after
        }
      }),
      { numRuns: 100 },
    )
  })

  it('the factor returns below its wall when a clock that steps back makes an earlier rise recent', () => {
    const none = counts(0, 0, 0, 0)
    const minutes = (count: number): number => NOW + count * MINUTE
    let state = adaptiveLaw(initialFactor(), counts(765, 0, 765, 0), minutes(1))
    state = adaptiveLaw(state, none, minutes(31))
    state = adaptiveLaw(state, counts(765, 0, 294, 0), minutes(61))
    state = adaptiveLaw(state, counts(20, 10, 20, 10), minutes(91))
    expect(state).toMatchObject({ factorHundredths: 105, reason: { capHundredths: 105 } })
    state = adaptiveLaw(state, counts(1, 0, 1, 0), minutes(31))
    expect(state).toMatchObject({ factorHundredths: 100, reason: { code: 'returned', capHundredths: 100 } })
  })
})

describe('adaptive constants', () => {
  it('the default constants are 30 minutes, 0.5 % and 2 %, and factors from 0.75 to 1.5', () => {
    expect(ADAPTIVE_DEFAULTS).toMatchObject({ windowMinutes: 30, lowRate: 0.005, highRate: 0.02, minHundredths: 75 })
    expect(adaptiveConstants({ maxHundredths: 120 })).toEqual({ ...ADAPTIVE_DEFAULTS, maxHundredths: 120 })
  })

  it('custom constants reach the law', () => {
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
    [{ probeWaitMinMs: 9 * HOUR }, 'probeWaitMinMs'],
    [{ blameMs: 9 * HOUR }, 'blameMs'],
    [{ riseEvidence: 0 }, 'riseEvidence'],
    [{ z: Number.NaN }, 'z'],
    [{ historyLength: 0 }, 'historyLength'],
    [{ windowMinuets: 30 }, 'windowMinuets'],
  ])('the constants %j are rejected', (given, path) => {
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
