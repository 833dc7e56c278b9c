import type { AdaptiveCounts, FactorReason, FactorReasonCode, FactorState } from '../store/factor-store.ts'
import type { MinuteOutcomes } from '../store/outcome-store.ts'
import { ADAPTIVE_DEFAULTS, type AdaptiveConstants } from './constants.ts'

/** The factor before the first tick: 1, without cap or past. */
export function initialFactor(constants: AdaptiveConstants = ADAPTIVE_DEFAULTS): FactorState {
  return {
    factorHundredths: 100,
    cap: null,
    capRecoveryMs: constants.capRecoveryMinMs,
    lastMoveAt: null,
    lastRiseAt: null,
    lastFallAt: null,
    quietSince: null,
    tickedAt: null,
    reason: null,
    history: [],
  }
}

/** What one tick has before it. */
interface Tick {
  readonly state: FactorState
  readonly counts: AdaptiveCounts
  readonly bounds: FactorReason['bounds']
  readonly now: number
  readonly constants: AdaptiveConstants
}

/** What a tick comes to: the factor after it, and why. */
type Verdict = readonly [code: FactorReasonCode, factorHundredths: number]

/**
 * One tick of the adaptive law: the factor falls while errors are surely above the high rate, rises slowly while they
 * are below the low one, and goes towards 1 where there is too little traffic to judge by. A pure function.
 *
 * @param counts of the closed minutes up to `now`
 * @param now epoch milliseconds; a step back of the clock shortens no wait and freezes nothing
 * @param constants complete and checked, as {@link adaptiveConstants} gives them
 */
export function adaptiveLaw(
  before: FactorState,
  counts: AdaptiveCounts,
  now: number,
  constants: AdaptiveConstants = ADAPTIVE_DEFAULTS,
): FactorState {
  const state = broughtTo(now, before, counts, constants)
  const tick = { state, counts, bounds: boundsOf(counts, constants.z), now, constants }
  const verdict = judged(tick)
  const moved = afterMove(tick, verdict)
  const reason = reasonOf(tick, verdict, moved)
  if (moved === state) return { ...state, reason }
  return { ...moved, reason, history: [reason, ...state.history].slice(0, constants.historyLength) }
}

/** The state at `now`, before the counts are judged. */
function broughtTo(
  now: number,
  before: FactorState,
  counts: AdaptiveCounts,
  constants: AdaptiveConstants,
): FactorState {
  const state = before.tickedAt !== null && before.tickedAt > now ? clockSteppedBack(before, now) : before
  const ticking = state.tickedAt !== null && now - state.tickedAt <= constants.windowMinutes * 60_000
  const quietSince = ticking && state.quietSince !== null ? state.quietSince : now
  // By name, so that every state has one shape: a spread makes each tick three times as slow.
  return {
    factorHundredths: state.factorHundredths,
    cap: recoveredCap(state.cap, state.capRecoveryMs, now, constants),
    capRecoveryMs: state.capRecoveryMs,
    lastMoveAt: state.lastMoveAt,
    lastRiseAt: state.lastRiseAt,
    lastFallAt: state.lastFallAt,
    quietSince: counts.calls < constants.minCalls ? quietSince : null,
    tickedAt: now,
    reason: state.reason,
    history: state.history,
  }
}

/** Instants of a clock that ran ahead become the present; left alone they would hold the factor until that future. */
function clockSteppedBack(state: FactorState, now: number): FactorState {
  return {
    ...state,
    cap: state.cap === null ? null : { ...state.cap, since: Math.min(state.cap.since, now) },
    lastMoveAt: notAfter(now, state.lastMoveAt),
    lastRiseAt: notAfter(now, state.lastRiseAt),
    lastFallAt: notAfter(now, state.lastFallAt),
    quietSince: notAfter(now, state.quietSince),
  }
}

function notAfter(now: number, instant: number | null): number | null {
  return instant === null ? null : Math.min(instant, now)
}

function boundsOf({ errors, calls, recentErrors, recentCalls }: AdaptiveCounts, z: number): FactorReason['bounds'] {
  const { low, high } = wilsonBounds(errors, calls, z)
  return { low, high, recentLow: wilsonBounds(recentErrors, recentCalls, z).low }
}

function judged(tick: Tick): Verdict {
  if (asksForFall(tick)) return fall(tick)
  if (tick.counts.calls < tick.constants.minCalls) return drift(tick)
  if (asksForRise(tick)) return rise(tick)
  return ['steady', tick.state.factorHundredths]
}

/** Errors are surely above the high rate, and still are: the window alone would punish for half an hour. */
function asksForFall({ counts, bounds, constants }: Tick): boolean {
  const { highRate, minRecentCalls } = constants
  return bounds.low > highRate && counts.recentCalls >= minRecentCalls && bounds.recentLow > highRate
}

/** From 1 on errors must surely be below the low rate; on the way back to 1 it is enough that they seem to be. */
function asksForRise({ state, counts, bounds, constants }: Tick): boolean {
  const { lowRate, highRate } = constants
  const recentlyLow = counts.recentErrors < lowRate * counts.recentCalls
  if (state.factorHundredths >= 100) return bounds.high < lowRate && recentlyLow
  const low = counts.errors < lowRate * counts.calls && bounds.high < highRate
  return low && (recentlyLow || bounds.recentLow < lowRate)
}

function fall({ state, now, constants }: Tick): Verdict {
  const { factorHundredths, lastMoveAt } = state
  if (factorHundredths <= constants.minHundredths) return ['at_limit', factorHundredths]
  if (!waited(lastMoveAt, now, constants.fallWaitMs)) return ['waiting', factorHundredths]
  return ['errors_high', Math.max(constants.minHundredths, factorHundredths - constants.fallStepHundredths)]
}

function rise({ state, now, constants }: Tick): Verdict {
  const { factorHundredths, lastMoveAt } = state
  if (factorHundredths >= constants.maxHundredths) return ['at_limit', factorHundredths]
  if (!waited(lastMoveAt, now, constants.riseWaitMs)) return ['waiting', factorHundredths]
  return risen('errors_low', state, Math.min(constants.maxHundredths, factorHundredths + constants.riseStepHundredths))
}

function drift({ state, bounds, now, constants }: Tick): Verdict {
  const { factorHundredths, lastMoveAt, quietSince } = state
  const due =
    factorHundredths !== 100 &&
    waited(quietSince, now, constants.quietHoldMs) &&
    waited(lastMoveAt, now, constants.driftWaitMs)
  if (!due) return ['quiet', factorHundredths]
  const step = constants.driftStepHundredths
  if (factorHundredths > 100) return ['quiet_fall', Math.max(100, factorHundredths - step)]
  if (bounds.low >= constants.lowRate) return ['quiet', factorHundredths]
  return risen('quiet_rise', state, Math.min(100, factorHundredths + step))
}

/** A rise as far as the cap lets it. */
function risen(code: FactorReasonCode, { factorHundredths, cap }: FactorState, wanted: number): Verdict {
  const allowed = Math.min(wanted, cap?.hundredths ?? wanted)
  return allowed > factorHundredths ? [code, allowed] : ['capped', factorHundredths]
}

function waited(since: number | null, now: number, waitMs: number): boolean {
  return since === null || now - since >= waitMs
}

/** The instant, not before now, from which a wait is over. */
function waitedFrom(since: number | null, now: number, waitMs: number): number {
  return since === null ? now : Math.max(now, since + waitMs)
}

/** The state after the verdict; the very same where nothing moves. */
function afterMove({ state, now, constants }: Tick, [code, factorHundredths]: Verdict): FactorState {
  if (factorHundredths === state.factorHundredths) return state
  const moved = { ...state, factorHundredths, lastMoveAt: now }
  if (factorHundredths > state.factorHundredths) return { ...moved, lastRiseAt: now }
  if (code === 'quiet_fall') return moved
  return {
    ...moved,
    lastFallAt: now,
    cap: capAfterFall(state, now, constants),
    capRecoveryMs: capRecoveryAfterFall(state, now, constants),
  }
}

function reasonOf(tick: Tick, [code, toHundredths]: Verdict, after: FactorState): FactorReason {
  const { state, counts, bounds, now, constants } = tick
  const { cap, capRecoveryMs, lastMoveAt } = after
  const { minHundredths, maxHundredths, fallWaitMs, riseWaitMs } = constants
  const riseFrom = Math.max(
    waitedFrom(lastMoveAt, now, riseWaitMs),
    capAllowsFrom(cap, capRecoveryMs, toHundredths, constants),
  )
  return {
    code,
    at: now,
    fromHundredths: state.factorHundredths,
    toHundredths,
    counts,
    bounds,
    capHundredths: cap?.hundredths ?? null,
    nextFallAt: toHundredths <= minHundredths ? null : waitedFrom(lastMoveAt, now, fallWaitMs),
    nextRiseAt: toHundredths >= maxHundredths ? null : riseFrom,
  }
}

/**
 * What the law looks at, from the minutes of its window: refusals and the service's own 503s about quotas are left out,
 * since they reflect quotas and not health.
 *
 * @param recentFrom the minute from which calls count as recent
 */
export function adaptiveCounts(minutes: readonly MinuteOutcomes[], recentFrom: number): AdaptiveCounts {
  let [calls, errors, recentCalls, recentErrors] = [0, 0, 0, 0]
  for (const { minute, ...counted } of minutes) {
    const minuteCalls = counted.calls - counted.refused - counted.quotaUnavailable
    const minuteErrors = counted.codeZero + counted.serverError - counted.quotaUnavailable
    calls += minuteCalls
    errors += minuteErrors
    if (minute < recentFrom) continue
    recentCalls += minuteCalls
    recentErrors += minuteErrors
  }
  return { calls, errors, recentCalls, recentErrors }
}

/** A range in which a rate lies, both ends fractions 0..1. */
export interface RateBounds {
  readonly low: number
  readonly high: number
}

/**
 * Wilson's score interval of a rate of which `events` of `trials` were seen; `z` standard deviations wide on each side
 * (1.96: 95 %). Of no trials nothing is known: 0 to 1.
 *
 * E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", JASA 22 (1927).
 */
export function wilsonBounds(events: number, trials: number, z: number): RateBounds {
  if (trials === 0) return { low: 0, high: 1 }
  const rate = events / trials
  const z2 = z * z
  const scale = 1 + z2 / trials
  const middle = rate + z2 / (2 * trials)
  const spread = z * Math.sqrt((rate * (1 - rate) + z2 / (4 * trials)) / trials)
  return { low: Math.max(0, (middle - spread) / scale), high: Math.min(1, (middle + spread) / scale) }
}

type Cap = FactorState['cap']

/** The time that the cap's next step takes. */
function stepMs(hundredths: number, capRecoveryMs: number, constants: AdaptiveConstants): number {
  return hundredths < 100 ? capRecoveryMs : constants.capRecoveryAboveMs
}

/** The cap as it has recovered by `now`: step by step, gone when it reaches the highest factor. */
function recoveredCap(cap: Cap, capRecoveryMs: number, now: number, constants: AdaptiveConstants): Cap {
  if (cap === null) return null
  let { hundredths, since } = cap
  while (hundredths < constants.maxHundredths) {
    const wholeAt = since + stepMs(hundredths, capRecoveryMs, constants)
    if (wholeAt > now) return since === cap.since ? cap : { hundredths, since }
    hundredths += constants.capStepHundredths
    since = wholeAt
  }
  return null
}

/** The instant from which the cap leaves room above a factor; `since` is behind every step that is over. */
function capAllowsFrom(
  cap: Cap,
  capRecoveryMs: number,
  factorHundredths: number,
  constants: AdaptiveConstants,
): number {
  if (cap === null) return 0
  let { hundredths, since } = cap
  while (hundredths <= factorHundredths) {
    since += stepMs(hundredths, capRecoveryMs, constants)
    hundredths += constants.capStepHundredths
  }
  return since
}

/** The cap after a fall: lowered if a rise shortly before it is to blame. */
function capAfterFall(state: FactorState, now: number, constants: AdaptiveConstants): Cap {
  const { lastRiseAt, cap, factorHundredths } = state
  if (lastRiseAt === null || now - lastRiseAt > constants.capAfterRiseMs) return cap
  return { hundredths: Math.max(constants.minHundredths, factorHundredths - constants.capBelowHundredths), since: now }
}

/** How long a step of recovery takes after a fall: longer with every relapse, short again after a good day. */
function capRecoveryAfterFall(state: FactorState, now: number, constants: AdaptiveConstants): number {
  const { lastRiseAt, lastFallAt, capRecoveryMs } = state
  if (lastFallAt === null || lastRiseAt === null || lastRiseAt < lastFallAt) return capRecoveryMs
  if (now - lastFallAt > constants.relapseMs) return constants.capRecoveryMinMs
  return Math.min(2 * capRecoveryMs, constants.capRecoveryMaxMs)
}
