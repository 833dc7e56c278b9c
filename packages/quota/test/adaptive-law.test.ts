import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { adaptiveCounts, wilsonBounds } from '../src/adaptive/rates.ts'
import {
  ADAPTIVE_DEFAULTS,
  type AdaptiveConstants,
  type AdaptiveCounts,
  adaptiveLaw,
  type FactorMemory,
  type FactorState,
  initialFactor,
  memoryFactor,
  resetFactor,
} from '../src/adaptive.ts'
import { adaptiveConstants } from '../src/internal.ts'
import { noOutcomes } from '../src/store/outcomes.ts'
import { START } from './support.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const NOW = START
const RUNS = process.env.QUOTA_TEST_DEEP === '1' ? 60_000 : 100

function counts(calls: number, errors: number, recentCalls: number, recentErrors: number): AdaptiveCounts {
  return { calls, errors, recentCalls, recentErrors }
}

const GOOD = counts(3_000, 0, 500, 0)
const MIDDLING = counts(3_000, 30, 500, 5)
const BAD = counts(3_000, 300, 500, 50)
const NONE = counts(0, 0, 0, 0)

/** A state whose last move was long ago. */
function state(some: Partial<FactorState> = {}, memory: Partial<FactorMemory> = {}): FactorState {
  const initial = initialFactor()
  const long = { lastMoveAt: NOW - 48 * HOUR, tickedAt: NOW - MINUTE }
  return { ...initial, ...long, ...some, memory: { ...initial.memory, ...memory } }
}

/** A rise of so long ago. */
function roseFrom(fromHundredths: number, minutesAgo: number): FactorMemory['rises'][number] {
  return { at: NOW - minutesAgo * MINUTE, fromHundredths }
}

/** Code of the tick and the factor after it. */
function verdict(before: Partial<FactorState>, counted: AdaptiveCounts, memory?: Partial<FactorMemory>) {
  const { reason, factorHundredths } = adaptiveLaw(state(before, memory), counted, NOW)
  return [reason?.code, factorHundredths]
}

/** Ticks every minute for so long, on the same counts. */
function ticked(from: FactorState, counted: AdaptiveCounts, fromAt: number, forMs: number): FactorState {
  let after = from
  for (let at = fromAt; at <= fromAt + forMs; at += MINUTE) after = adaptiveLaw(after, counted, at)
  return after
}

/** The moves of these ticks: the minute since `fromAt`, the code and the factor after it. */
function movesOf(from: FactorState, counted: AdaptiveCounts, minutes: number): (string | number | undefined)[][] {
  const moves: (string | number | undefined)[][] = []
  let after = from
  for (let minute = 0; minute <= minutes; minute++) {
    const before = after.factorHundredths
    after = adaptiveLaw(after, counted, NOW + minute * MINUTE)
    if (after.factorHundredths !== before) moves.push([minute, after.reason?.code, after.factorHundredths])
  }
  return moves
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
    expect(verdict({ factorHundredths: 75, lastMoveAt: NOW - HOUR }, BAD)).toEqual(['errors_high', 75])
  })

  it('the factor falls only when the lower bound over the window is above 2 %', () => {
    // 77 of 3,000 are 2.57 %, surely above 2.06 %; 75 are 2.5 %, surely above 2.0 % less a little.
    expect(verdict({}, counts(3_000, 77, 500, 50))).toEqual(['errors_high', 90])
    expect(verdict({}, counts(3_000, 75, 500, 50))).toEqual(['steady', 100])
  })

  it('the factor doesn’t fall when the last minutes aren’t certainly above 2 % any more', () => {
    expect(verdict({}, counts(3_000, 300, 500, 18))).toEqual(['errors_high', 90])
    expect(verdict({}, counts(3_000, 300, 500, 16))).toEqual(['steady', 100])
  })

  it('with fewer than 20 recent calls, the whole window is judged, if it has 20', () => {
    expect(verdict({}, counts(110, 110, 19, 0))).toEqual(['errors_high', 90])
    expect(verdict({}, counts(110, 110, 20, 0))).toEqual(['little_traffic', 100])
    expect(verdict({}, counts(20, 20, 3, 3))).toEqual(['errors_high', 90])
    expect(verdict({}, counts(19, 19, 3, 3))).toEqual(['little_traffic', 100])
  })

  it('the factor falls at most once in 5 minutes', () => {
    expect(verdict({ lastMoveAt: NOW - 5 * MINUTE + 1 }, BAD)).toEqual(['errors_high', 100])
    expect(verdict({ lastMoveAt: NOW - 5 * MINUTE }, BAD)).toEqual(['errors_high', 90])
  })
})

describe('rising factor', () => {
  it('the factor rises by 0.05, to 1.5 at most', () => {
    expect(verdict({ factorHundredths: 100 }, GOOD)).toEqual(['errors_low', 105])
    expect(verdict({ factorHundredths: 148 }, GOOD)).toEqual(['errors_low', 150])
    expect(verdict({ factorHundredths: 150 }, GOOD)).toEqual(['errors_low', 150])
  })

  it('the factor rises at most once in 30 minutes', () => {
    expect(verdict({ lastMoveAt: NOW - 30 * MINUTE + 1 }, GOOD)).toEqual(['errors_low', 100])
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
  const risen = (rises: FactorMemory['rises'], memory: Partial<FactorMemory> = {}): FactorState =>
    state({ factorHundredths: 120 }, { rises, ...memory })

  it('a fall returns to the factor before the first rise, and the level of that rise has failed', () => {
    const after = adaptiveLaw(risen([roseFrom(110, 70), roseFrom(115, 40)]), BAD, NOW)
    expect(after).toMatchObject({
      factorHundredths: 110,
      reason: { code: 'errors_high', failed: { levelHundredths: 115, retryAt: NOW + 4 * HOUR } },
      memory: { rises: [], returningTo: null },
    })
  })

  it('a fall after rises moves by 0.10 a minute even if the counts are good', () => {
    const before = risen([roseFrom(95, 74), roseFrom(100, 44)])
    const fell = adaptiveLaw(before, BAD, NOW)
    const back = adaptiveLaw(fell, GOOD, NOW + MINUTE)
    const home = adaptiveLaw(back, GOOD, NOW + 2 * MINUTE)
    expect([fell, back, home].map(({ factorHundredths }) => factorHundredths)).toEqual([110, 100, 95])
    expect([back, home].map(({ reason }) => reason?.code)).toEqual(['errors_high', 'errors_high'])
    expect(home.memory.returningTo).toBeNull()
  })

  it('a fall undoes the rises of the last 90 minutes and no earlier ones', () => {
    expect(adaptiveLaw(risen([roseFrom(115, 90)]), BAD, NOW).memory.failed).not.toBeNull()
    expect(adaptiveLaw(risen([roseFrom(115, 91)]), BAD, NOW)).toMatchObject({
      factorHundredths: 110,
      memory: { failed: null },
    })
  })

  it('a rise from above the present factor is blamed without raising the factor', () => {
    const after = adaptiveLaw(state({ factorHundredths: 90 }, { rises: [roseFrom(140, 30)] }), BAD, NOW)
    expect(after).toMatchObject({ factorHundredths: 90, memory: { failed: { levelHundredths: 95 } } })
  })

  it('a fall after a rise doesn’t wait for the whole window when the counts since the rise are bad', () => {
    const since = (evidence: number, rises = [roseFrom(115, 8)]): FactorState => risen(rises, { evidence })
    // 15 of 300 in the last minutes, and not yet 2 % in the window.
    const soon = counts(1_800, 20, 300, 15)
    const code = (from: FactorState, counted: AdaptiveCounts) => adaptiveLaw(from, counted, NOW).reason?.code
    expect(code(since(5.6), soon)).toBe('errors_high')
    expect(code(since(0), soon)).toBe('steady')
    expect(code(since(20, []), soon)).toBe('steady')
  })

  it('the failed level moves down while the level below it has errors too, unless that is 1', () => {
    const at = (factorHundredths: number): FactorState =>
      adaptiveLaw(
        state({ factorHundredths }, { failed: { levelHundredths: factorHundredths + 5, retryAt: NOW } }),
        BAD,
        NOW,
      )
    expect(at(110)).toMatchObject({ factorHundredths: 100, memory: { failed: { levelHundredths: 110 } } })
    expect(at(100)).toMatchObject({ factorHundredths: 90, memory: { failed: { levelHundredths: 105 } } })
  })

  it('on a service that recovers slowly, rises are blamed for twice as long as its errors took to pass', () => {
    const troubled = state({}, { troubleSince: NOW - 2 * HOUR })
    expect(adaptiveLaw(troubled, BAD, NOW).memory.troubleSince).toBe(NOW - 2 * HOUR)
    const passed = adaptiveLaw(troubled, GOOD, NOW).memory
    expect(passed).toMatchObject({ troubleSince: null, troubleMs: 2 * HOUR })
    const blamed = (minutesAgo: number): boolean =>
      adaptiveLaw(risen([roseFrom(115, minutesAgo)], { troubleMs: 2 * HOUR }), BAD, NOW).memory.failed !== null
    expect([240, 241].map(blamed)).toEqual([true, false])
  })

  it('each failure delays the next trial by 4, 8, then at most 16 hours', () => {
    const wait = (hours: number): number =>
      adaptiveLaw(risen([roseFrom(115, 30)], { retryWaitMs: hours * HOUR }), BAD, NOW).memory.retryWaitMs / HOUR
    expect([0, 4, 8, 16].map(wait)).toEqual([4, 8, 16, 16])
  })
})

describe('trials', () => {
  const FAILED = { levelHundredths: 115, retryAt: NOW - HOUR }
  const below = (memory: Partial<FactorMemory> = {}): FactorState =>
    state({ factorHundredths: 110 }, { failed: FAILED, retryWaitMs: 4 * HOUR, ...memory })

  it('the factor rises freely below a failed level', () => {
    expect(adaptiveLaw({ ...below(), factorHundredths: 105 }, GOOD, NOW)).toMatchObject({
      factorHundredths: 110,
      reason: { code: 'errors_low' },
    })
  })

  it('a failed level is tried for 5 minutes, watched for 2 hours, and then taken', () => {
    expect(movesOf(below(), GOOD, 126)).toEqual([
      [0, 'trial', 115],
      [5, 'trial', 110],
      [125, 'trial', 115],
    ])
    expect(ticked(below(), GOOD, NOW, 126 * MINUTE).memory).toMatchObject({
      trial: null,
      failed: { levelHundredths: 120, retryAt: NOW + 155 * MINUTE },
    })
  })

  it.each([0, 60])('a trial fails by errors %d minutes after it, and the next one is later', (minutes) => {
    const running = ticked(below(), GOOD, NOW, minutes * MINUTE)
    const at = NOW + (minutes + 1) * MINUTE
    expect(ticked(running, counts(3_000, 40, 500, 30), at, 0)).toMatchObject({
      factorHundredths: 110,
      reason: { code: 'trial', failed: { levelHundredths: 115, retryAt: at + 8 * HOUR } },
      memory: { trial: null },
    })
  })

  it('a trial fails on evidence that is too little against a rise', () => {
    const trial = { homeHundredths: 110, levelHundredths: 115, endsAt: NOW + 5 * MINUTE }
    const after = (evidence: number) => adaptiveLaw(below({ trial, evidence }), NONE, NOW).memory.trial
    expect([3.4, 3.6].map(after)).toEqual([trial, null])
  })

  it.each<[string, Partial<FactorMemory>]>([
    ['before its time', { failed: { ...FAILED, retryAt: NOW + 1 } }],
    ['while a rise may still show', { rises: [roseFrom(105, 90)] }],
  ])('a failed level isn’t tried %s', (_, memory) => {
    expect(adaptiveLaw(below(memory), GOOD, NOW).reason).toMatchObject({ code: 'errors_low', toHundredths: 110 })
  })

  it('a failed level is tried as soon as its waiting time is over', () => {
    expect(adaptiveLaw(below({ failed: { ...FAILED, retryAt: NOW } }), GOOD, NOW).reason?.code).toBe('trial')
    expect(adaptiveLaw(below({ rises: [roseFrom(105, 91)] }), GOOD, NOW).reason?.code).toBe('trial')
  })

  it('a reset forgets the failed level and keeps the factor and its history', async () => {
    const store = memoryFactor()
    expect(await resetFactor(store)).toBeUndefined()
    const fell = adaptiveLaw(state({ factorHundredths: 105 }, { rises: [roseFrom(100, 30)] }), BAD, NOW)
    store.compareAndSet(0, NOW / MINUTE, fell)
    expect(fell.memory.failed).not.toBeNull()
    const forgotten = { ...fell, memory: initialFactor().memory }
    for (const before of [fell, forgotten]) {
      expect(await resetFactor(store)).toEqual(before)
      expect(store.read()?.state).toEqual(forgotten)
    }
    expect(adaptiveLaw(forgotten, GOOD, NOW + 30 * MINUTE)).toMatchObject({
      factorHundredths: 105,
      reason: { code: 'errors_low', failed: null },
    })
  })
})

describe('errors that lower limits don’t help against', () => {
  const atBottom = (hours: number, memory: Partial<FactorMemory> = {}): FactorState =>
    state({ factorHundredths: 75, lastMoveAt: NOW - hours * HOUR }, memory)

  it('after 6 hours of high errors at the lowest factor, it returns to 1 by 0.05 every 10 minutes, and stays', () => {
    expect(adaptiveLaw(atBottom(6 - 1 / 60), BAD, NOW).reason?.code).toBe('errors_high')
    const moves = movesOf(atBottom(6), BAD, 600)
    expect(moves).toEqual([80, 85, 90, 95, 100].map((to, index) => [1 + index * 10, 'in_vain', to]))
    expect(ticked(atBottom(6), BAD, NOW, 600 * MINUTE).reason?.code).toBe('in_vain')
  })

  it('the factor doesn’t return while lower limits do help', () => {
    expect(adaptiveLaw(atBottom(48), MIDDLING, NOW).reason?.code).toBe('steady')
  })

  it('errors that grow by half make the factor fall again, and the next 6 hours are 12', () => {
    const given = ticked(atBottom(6), BAD, NOW, 60 * MINUTE)
    const same = adaptiveLaw(given, counts(3_000, 480, 500, 80), NOW + 61 * MINUTE)
    expect(same).toMatchObject({ factorHundredths: 100, reason: { code: 'in_vain' } })
    const worse = counts(3_000, 600, 500, 100)
    const fell = ticked(given, worse, NOW + 61 * MINUTE, 5 * MINUTE)
    expect(fell).toMatchObject({ factorHundredths: 75, memory: { vainRate: null, vainWaitMs: 12 * HOUR } })
    const tried = (hours: number) => adaptiveLaw(fell, worse, (fell.lastMoveAt ?? 0) + hours * HOUR - MINUTE)
    expect(tried(12).reason?.code).toBe('errors_high')
    const ending = { ...fell, tickedAt: (fell.lastMoveAt ?? 0) + 12 * HOUR - MINUTE }
    expect(adaptiveLaw(ending, worse, (fell.lastMoveAt ?? 0) + 12 * HOUR).reason?.code).toBe('in_vain')
  })

  it('the hours before the next return in vain double up to 48', () => {
    const fallen = (hours: number) =>
      adaptiveLaw(state({}, { vainRate: 0.05, vainWaitMs: hours * HOUR }), BAD, NOW).memory.vainWaitMs / HOUR
    expect([12, 24, 48].map(fallen)).toEqual([24, 48, 48])
  })

  it('when errors pass, the law goes on as usual', () => {
    const given = ticked(atBottom(6), BAD, NOW, 60 * MINUTE)
    const passed = adaptiveLaw(given, GOOD, NOW + 61 * MINUTE)
    expect(passed).toMatchObject({ reason: { code: 'steady' }, memory: { vainRate: null, vainWaitMs: 6 * HOUR } })
    expect(ticked(passed, GOOD, NOW + 62 * MINUTE, 60 * MINUTE).factorHundredths).toBeGreaterThan(100)
  })

  it('with 220 calls an hour that all fail, the factor falls, and returns to 1 after hours', () => {
    const failing = counts(110, 110, 18, 18)
    expect(ticked(state(), failing, NOW, 15 * MINUTE).factorHundredths).toBe(75)
    expect(ticked(state(), failing, NOW, 8 * HOUR)).toMatchObject({
      factorHundredths: 100,
      reason: { code: 'in_vain' },
    })
  })
})

describe('a gap of more than 30 minutes between ticks', () => {
  it('a gap ends a trial without judging it and leaves the level for a later one', () => {
    const failed = { levelHundredths: 115, retryAt: NOW }
    const trying = adaptiveLaw(state({ factorHundredths: 110 }, { failed }), GOOD, NOW)
    expect(adaptiveLaw(trying, GOOD, NOW + 9 * HOUR)).toMatchObject({
      factorHundredths: 110,
      memory: { trial: null, returningTo: null, failed: { levelHundredths: 115 } },
    })
    const listening = ticked(trying, GOOD, NOW + MINUTE, 10 * MINUTE)
    expect(adaptiveLaw(listening, GOOD, NOW + 9 * HOUR).reason?.code).toBe('trial')
    expect(adaptiveLaw(listening, GOOD, NOW + 9 * HOUR).memory.trial?.endsAt).toBeGreaterThan(NOW + 9 * HOUR)
  })

  it('evidence and trouble from before a gap are dropped', () => {
    const before = state({ tickedAt: NOW - 31 * MINUTE }, { evidence: 20, troubleSince: NOW - HOUR })
    expect(adaptiveLaw(before, MIDDLING, NOW).memory).toMatchObject({ evidence: 0, troubleSince: null, troubleMs: 0 })
  })
})

describe('drift with fewer than 200 calls', () => {
  const quietFor = (ms: number): Partial<FactorMemory> => ({ quietSince: NOW - ms })
  const drift = (factorHundredths: number, ms: number, counted = NONE) =>
    verdict({ factorHundredths }, counted, quietFor(ms))

  it('the factor stays for 30 minutes with few calls, then drifts to 1 by 0.05', () => {
    expect(drift(120, 30 * MINUTE - 1)).toEqual(['little_traffic', 120])
    expect(drift(120, 30 * MINUTE)).toEqual(['little_traffic', 115])
    expect(drift(80, 30 * MINUTE)).toEqual(['little_traffic', 85])
    expect(drift(100, 30 * MINUTE)).toEqual(['little_traffic', 100])
  })

  it('the factor never drifts past 1', () => {
    expect(drift(98, HOUR)).toEqual(['little_traffic', 100])
    expect(drift(102, HOUR)).toEqual(['little_traffic', 100])
  })

  it('drift steps are 30 minutes apart', () => {
    const after = (minutes: number): number =>
      ticked(state({ factorHundredths: 120 }), NONE, NOW, minutes * MINUTE).factorHundredths
    expect([29, 30, 59, 60, 240].map(after)).toEqual([120, 115, 115, 110, 100])
  })

  it('200 calls in the window end the drift and restart its waiting time', () => {
    const enough = adaptiveLaw(state({ factorHundredths: 120 }, quietFor(HOUR)), counts(200, 2, 30, 0), NOW)
    expect([enough.reason?.code, enough.memory.quietSince]).toEqual(['steady', null])
    const again = adaptiveLaw(enough, counts(199, 2, 30, 0), NOW + MINUTE)
    expect([again.reason?.code, again.memory.quietSince]).toEqual(['little_traffic', NOW + MINUTE])
  })

  it('minutes without ticks don’t count towards the drift’s waiting time', () => {
    const since = (minutesAgo: number) =>
      adaptiveLaw(state({ tickedAt: NOW - minutesAgo * MINUTE }, quietFor(9 * HOUR)), NONE, NOW).memory.quietSince
    expect([since(31), since(30)]).toEqual([NOW, NOW - 9 * HOUR])
  })

  it('the factor drifts up only while errors aren’t certainly above 0.5 %', () => {
    expect(drift(80, HOUR, counts(100, 1, 10, 0))).toEqual(['little_traffic', 85])
    expect(drift(80, HOUR, counts(100, 2, 10, 0))).toEqual(['little_traffic', 80])
    expect(drift(120, HOUR, counts(100, 2, 10, 0))).toEqual(['little_traffic', 115])
  })

  it('a failed level stops the drift until it may be tried', () => {
    const at = (retryAt: number) =>
      verdict({ factorHundredths: 85 }, NONE, { ...quietFor(HOUR), failed: { levelHundredths: 90, retryAt } })
    expect([at(NOW + 1), at(NOW)]).toEqual([
      ['little_traffic', 85],
      ['little_traffic', 90],
    ])
  })
})

describe('ticks', () => {
  it('a tick reports the numbers that its decision is based on', () => {
    const before = state({ factorHundredths: 120 }, { rises: [roseFrom(110, 60)] })
    expect(adaptiveLaw(before, counts(1_000, 100, 200, 20), NOW).reason).toEqual({
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
      failed: { levelHundredths: 115, retryAt: NOW + 4 * HOUR },
    })
  })

  it('a tick keeps the last 50 moves, newest first', () => {
    const [earlier] = adaptiveLaw(state(), BAD, NOW - HOUR).history
    const full = state({ history: Array(50).fill(earlier) })
    const moved = adaptiveLaw(full, BAD, NOW)
    expect(moved.history).toHaveLength(50)
    expect(moved.history[0]).toBe(moved.reason)
  })

  it('a tick after the clock stepped back restarts the waits from the new time', () => {
    const ahead = NOW + 24 * HOUR
    const before = state(
      { lastMoveAt: ahead, tickedAt: ahead },
      {
        rises: [{ at: ahead, fromHundredths: 95 }],
        failed: { levelHundredths: 105, retryAt: ahead },
        retryWaitMs: 8 * HOUR,
      },
    )
    expect(adaptiveLaw(before, MIDDLING, NOW)).toMatchObject({
      lastMoveAt: NOW,
      memory: { rises: [{ at: NOW }], failed: { retryAt: NOW + 8 * HOUR } },
    })
    const moved = state({ lastMoveAt: ahead, tickedAt: ahead })
    expect(adaptiveLaw(moved, BAD, NOW)).toMatchObject({ factorHundredths: 100, lastMoveAt: NOW })
    expect(ticked(moved, BAD, NOW, 5 * MINUTE).factorHundredths).toBe(90)
    const quiet = state({ factorHundredths: 120, lastMoveAt: null, tickedAt: ahead }, { quietSince: ahead })
    expect(ticked(quiet, NONE, NOW, 30 * MINUTE).factorHundredths).toBe(115)
    const failed = { levelHundredths: 115, retryAt: ahead }
    const trying = adaptiveLaw(state({ factorHundredths: 110, tickedAt: ahead }, { failed }), GOOD, ahead)
    expect(ticked(trying, GOOD, NOW, MINUTE).factorHundredths).toBe(110)
  })

  it('any counts at any time give bounded factors in allowed steps as plain JSON, and the given state isn’t changed', {
    timeout: 3_600_000,
  }, () => {
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
          const { factorHundredths, memory } = after
          expect(factorHundredths).toBeGreaterThanOrEqual(75)
          expect(factorHundredths).toBeLessThanOrEqual(150)
          expect(Math.abs(factorHundredths - before.factorHundredths)).toBeLessThanOrEqual(10)
          // No rise reaches a failed level, but by a trial, time with little traffic, or a return in vain.
          const reachesFailed = memory.failed !== null && factorHundredths >= memory.failed.levelHundredths
          if (factorHundredths > before.factorHundredths && reachesFailed)
            expect(['trial', 'little_traffic', 'in_vain']).toContain(after.reason?.code)
          // What is awaited comes: no instant lies further ahead than the longest wait.
          for (const at of [
            after.lastMoveAt,
            memory.troubleSince,
            memory.quietSince,
            ...memory.rises.map(({ at }) => at),
          ])
            expect(at ?? now).toBeLessThanOrEqual(now)
          expect(memory.failed?.retryAt ?? now).toBeLessThanOrEqual(now + 16 * HOUR)
          expect(memory.evidence).toBeLessThanOrEqual(20)
          expect(memory.trial?.endsAt ?? now).toBeLessThanOrEqual(now + 5 * MINUTE)
          expect(JSON.stringify({ ...after, reason: null, history: [] }).length).toBeLessThanOrEqual(2_048)
          expect(JSON.parse(JSON.stringify(after))).toEqual(after)
          before = after
        }
      }),
      { numRuns: RUNS },
    )
  })
})

describe('adaptive constants', () => {
  it('the default constants are 0.5 % and 2 %, and factors from 0.75 to 1.5', () => {
    expect(ADAPTIVE_DEFAULTS).toEqual({
      lowRate: 0.005,
      highRate: 0.02,
      minCalls: 200,
      minHundredths: 75,
      maxHundredths: 150,
    })
    expect(adaptiveConstants({ maxHundredths: 120 })).toEqual({ ...ADAPTIVE_DEFAULTS, maxHundredths: 120 })
  })

  it('custom constants reach the law', () => {
    const constants = adaptiveConstants({ highRate: 0.05, minHundredths: 95, maxHundredths: 102 })
    expect(adaptiveLaw(state(), BAD, NOW, constants).factorHundredths).toBe(95)
    expect(adaptiveLaw(state(), counts(1_000, 40, 200, 8), NOW, constants).factorHundredths).toBe(100)
    expect(adaptiveLaw(state(), GOOD, NOW, constants).factorHundredths).toBe(102)
  })

  it.each([
    [{ minHundredths: 74 }, 'minHundredths'],
    [{ maxHundredths: 151 }, 'maxHundredths'],
    [{ lowRate: 0.02 }, 'lowRate'],
    [{ highRate: Number.NaN }, 'highRate'],
    [{ minCalls: -1 }, 'minCalls'],
    [{ windowMinutes: 30 }, 'windowMinutes'],
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
