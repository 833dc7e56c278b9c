import { otherVersion, QuotaError } from '../errors/quota-error.ts'
import {
  type AdaptiveCounts,
  FACTOR_FORMAT,
  type FactorMemory,
  type FactorReason,
  type FactorReasonCode,
  type FactorState,
  type FactorStore,
  type VersionedFactor,
} from '../store/factor-store.ts'
import { ADAPTIVE_DEFAULTS, type AdaptiveConstants } from './constants.ts'
import { blameMs, broughtTo, NOTHING_LEARNED, observed, VAIN_AFTER_MS } from './memory.ts'
import { type Bounds, boundsOf, MIN_RECENT_CALLS, WINDOW_MINUTES } from './rates.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** A tenth every five minutes reaches the lowest factor before an outage of half an hour is over. */
const FALL_HUNDREDTHS = 10
const FALL_WAIT_MS = 5 * MINUTE_MS
/** Half as much at a time: a service must show what one step does before the next, and the window is half an hour. */
const RISE_HUNDREDTHS = 5
const RISE_WAIT_MS = WINDOW_MINUTES * MINUTE_MS
/** Counts since a rise are evidence enough if high errors make them 400 times likelier (e^6). */
const RISE_EVIDENCE = 6
/** A trial costs little and can be repeated, so 33 times (e^3.5) is enough. */
const TRIAL_EVIDENCE = 3.5
/** Long enough to see a few errors of 2 % at 60 calls a minute. */
const TRIAL_MS = 5 * MINUTE_MS
/** After a trial, the law waits for errors that it caused and that are slow to show. */
const LISTEN_MS = 2 * HOUR_MS
/** The wait before a failed level is tried again. It doubles each time that it fails. */
const RETRY_WAIT_MS = { min: 4 * HOUR_MS, max: 16 * HOUR_MS }
/** Steps back to 1 in vain are quick: the lower limits are known to be useless. */
const VAIN_STEP_MS = 10 * MINUTE_MS
const VAIN_WAIT_MAX_MS = 48 * HOUR_MS
/** In vain, errors must surely be so many times as high before limits fall again, or so many times lower. */
const VAIN_RATES = { worse: 1.5, better: 0.7 }
/** Moves that the history keeps. */
const HISTORY_LENGTH = 50

/** Returns the state before the first tick: factor 1, nothing learned. */
export function initialFactor(): FactorState {
  return {
    format: FACTOR_FORMAT,
    factorHundredths: 100,
    lastMoveAt: null,
    tickedAt: null,
    reason: null,
    history: [],
    memory: NOTHING_LEARNED,
  }
}

/**
 * Forgets everything that the law has learned: the failed level, suspected rises and how slow the service is. The factor
 * and its history stay. Call it when the service has changed, for example after a move to new machines.
 *
 * @returns the previous state; `undefined`: no state was stored
 * @throws the store's error; {@link QuotaError} `other_version`; `store_error` if ticks interfered five times
 */
export async function resetFactor(store: FactorStore): Promise<FactorState | undefined> {
  for (let attempt = 0; attempt < 5; attempt++) {
    const stored = await store.read()
    if (stored === undefined) return undefined
    const { version, minute, state } = knownFactor(stored)
    // A past minute, so that the next tick runs. It must differ from the stored one.
    const past = minute === 0 ? 1 : 0
    if (await store.compareAndSet(version, past, { ...state, memory: NOTHING_LEARNED })) return state
  }
  throw new QuotaError('store_error', 'The adaptive factor was moved while it was reset, five times. Try again.')
}

/** Returns a stored factor. @throws {QuotaError} `other_version` */
export function knownFactor(stored: VersionedFactor): VersionedFactor {
  const { format } = stored.state
  if (format !== FACTOR_FORMAT) throw otherVersion('the adaptive factor', format, FACTOR_FORMAT)
  return stored
}

/** The input of the rules: state, counts and constants. */
interface Tick {
  readonly factorHundredths: number
  readonly lastMoveAt: number | null
  readonly memory: FactorMemory
  readonly counts: AdaptiveCounts
  readonly bounds: Bounds
  /** Errors are certainly above the high rate, in the window and recently. */
  readonly areErrorsHigh: boolean
  readonly now: number
  readonly constants: AdaptiveConstants
}

/** The decision of a rule: the new factor, its reason, and what the law remembers. */
interface Verdict {
  readonly code: FactorReasonCode
  readonly factorHundredths: number
  readonly memory?: Partial<FactorMemory>
}

/** Decides, or returns `undefined` to leave the tick to the next rule. */
type Rule = (tick: Tick) => Verdict | undefined

const RULES: readonly Rule[] = [finishReturn, judgeTrial, stayInVain, giveUp, blameRises, fall, driftToOne, rise]

/**
 * Applies one tick of the adaptive law. A pure function.
 *
 * 1. While errors are surely above 2 %, the factor falls by 0.10 every 5 minutes, down to 0.75. If it rose within the last
 *    90 minutes, it returns to where it was before.
 * 2. While errors are surely below 0.5 %, it rises by 0.05 every 30 minutes, up to 1.5.
 * 3. A level that failed is tried again for 5 minutes, after 4 hours, and after twice as long each time it fails. Without
 *    errors in the next 2 hours, it is taken.
 *
 * @param counts of the minutes completed before `now`
 * @param now epoch milliseconds; if the clock steps back, no wait gets shorter and nothing freezes
 * @param constants complete and valid
 */
export function adaptiveLaw(
  before: FactorState,
  counts: AdaptiveCounts,
  now: number,
  constants: AdaptiveConstants = ADAPTIVE_DEFAULTS,
): FactorState {
  const state = broughtTo(now, before)
  const bounds = boundsOf(counts)
  const { highRate } = constants
  const areErrorsHigh = bounds.low > highRate && bounds.recentLow > highRate && counts.calls >= MIN_RECENT_CALLS
  const memory = observed(state, { counts, areErrorsHigh, now }, constants)
  const { factorHundredths, lastMoveAt, history } = state
  const tick: Tick = { factorHundredths, lastMoveAt, memory, counts, bounds, areErrorsHigh, now, constants }
  for (const rule of RULES) {
    const verdict = rule(tick)
    if (verdict !== undefined) return stateAfter(tick, verdict, history)
  }
  return stateAfter(tick, stay('steady', tick), history)
}

/** Always completes a return to a good level, because earlier errors don't count against that level. */
function finishReturn(tick: Tick): Verdict | undefined {
  const { returningTo } = tick.memory
  return returningTo === null ? undefined : stepBack(tick, returningTo, {})
}

/** A trial rises for a short time and always comes back. Then the law waits for errors that it may have caused. */
function judgeTrial(tick: Tick): Verdict | undefined {
  const { factorHundredths, memory, now } = tick
  const { trial } = memory
  if (trial === null) return undefined
  const { homeHundredths, levelHundredths, endsAt } = trial
  if (memory.evidence >= TRIAL_EVIDENCE) {
    const failed = failedAgain(tick, levelHundredths)
    return { code: 'trial', factorHundredths: homeHundredths, memory: { trial: null, evidence: 0, ...failed } }
  }
  if (now < endsAt) return stay('trial', tick)
  if (factorHundredths > homeHundredths) return { code: 'trial', factorHundredths: homeHundredths }
  if (now < endsAt + Math.max(LISTEN_MS, blameMs(memory))) return stay('trial', tick)
  // The level is taken, and the next one becomes the one to try.
  const failed = { levelHundredths: levelHundredths + RISE_HUNDREDTHS, retryAt: now + RISE_WAIT_MS }
  const taken = risen('trial', tick, levelHundredths)
  return { ...taken, memory: { ...taken.memory, trial: null, failed } }
}

/** Lower limits have not helped: the factor returns to 1 and stays there while errors are as they were. */
function stayInVain(tick: Tick): Verdict | undefined {
  const { factorHundredths, memory, bounds, constants } = tick
  const { vainRate, vainWaitMs } = memory
  if (vainRate === null) return undefined
  const isWorse = bounds.low > VAIN_RATES.worse * vainRate && bounds.recentLow > VAIN_RATES.worse * vainRate
  if (isWorse) {
    const longer = Math.min(VAIN_WAIT_MAX_MS, 2 * vainWaitMs)
    return stepBack(tick, constants.minHundredths, { vainRate: null, vainWaitMs: longer })
  }
  if (bounds.high < VAIN_RATES.better * vainRate)
    return { ...stay('steady', tick), memory: { vainRate: null, vainWaitMs: VAIN_AFTER_MS } }
  const isDue = factorHundredths < 100 && hasWaited(tick, VAIN_STEP_MS)
  return {
    code: 'in_vain',
    factorHundredths: isDue ? Math.min(100, factorHundredths + RISE_HUNDREDTHS) : factorHundredths,
  }
}

/** At the lowest factor for hours, and errors are as high as ever: does lowering help at all? */
function giveUp(tick: Tick): Verdict | undefined {
  const { factorHundredths, areErrorsHigh, memory, counts, constants } = tick
  if (!areErrorsHigh || factorHundredths > constants.minHundredths || !hasWaited(tick, memory.vainWaitMs))
    return undefined
  return { ...stay('in_vain', tick), memory: { vainRate: counts.errors / counts.calls, rises: [], evidence: 0 } }
}

/** Errors soon after rises are blamed on them: the factor returns to where it was before. */
function blameRises(tick: Tick): Verdict | undefined {
  const { areErrorsHigh, factorHundredths, memory, now, constants } = tick
  const rises = suspects(tick)
  const isProved = memory.evidence >= RISE_EVIDENCE
  if (rises.length === 0 || !(areErrorsHigh || isProved)) return undefined
  const before = Math.min(factorHundredths, ...rises.map(({ fromHundredths }) => fromHundredths))
  const home = Math.max(constants.minHundredths, before)
  const failed = failedAgain(tick, home + RISE_HUNDREDTHS)
  const troubleSince = memory.troubleSince ?? now
  return stepBack(tick, home, { ...failed, troubleSince, rises: [], evidence: 0 })
}

/** Falls while errors are high. If a level just below a failed one has errors too, it has failed as well. */
function fall(tick: Tick): Verdict | undefined {
  const { areErrorsHigh, factorHundredths, memory, constants } = tick
  if (!areErrorsHigh) return undefined
  if (!hasWaited(tick, FALL_WAIT_MS)) return stay('errors_high', tick)
  const { failed } = memory
  const isNext = failed !== null && factorHundredths === failed.levelHundredths - RISE_HUNDREDTHS
  return {
    code: 'errors_high',
    factorHundredths: Math.max(constants.minHundredths, factorHundredths - FALL_HUNDREDTHS),
    // At 1, errors are the service's own rather than the limits'.
    ...(isNext && factorHundredths !== 100 && { memory: { failed: { ...failed, levelHundredths: factorHundredths } } }),
  }
}

/** With too few calls to judge, the factor moves towards 1. */
function driftToOne(tick: Tick): Verdict | undefined {
  const { factorHundredths, memory, bounds, now, constants } = tick
  const { quietSince } = memory
  if (quietSince === null) return undefined
  const isDue = now - quietSince >= RISE_WAIT_MS && hasWaited(tick, RISE_WAIT_MS)
  if (!isDue || factorHundredths === 100) return stay('little_traffic', tick)
  if (factorHundredths > 100)
    return { code: 'little_traffic', factorHundredths: Math.max(100, factorHundredths - RISE_HUNDREDTHS) }
  const to = Math.min(100, factorHundredths + RISE_HUNDREDTHS)
  const hasFailed = memory.failed !== null && to >= memory.failed.levelHundredths && now < memory.failed.retryAt
  return hasFailed || bounds.low >= constants.lowRate ? stay('little_traffic', tick) : risen('little_traffic', tick, to)
}

/** Rises while errors are low, and tries the failed level when its wait is over. */
function rise(tick: Tick): Verdict | undefined {
  const { factorHundredths, memory, now, constants } = tick
  if (!areErrorsLow(tick)) return undefined
  if (factorHundredths >= constants.maxHundredths || !hasWaited(tick, RISE_WAIT_MS)) return stay('errors_low', tick)
  const to = Math.min(constants.maxHundredths, factorHundredths + RISE_HUNDREDTHS)
  const { failed } = memory
  if (failed === null || to < failed.levelHundredths) return risen('errors_low', tick, to)
  if (now < failed.retryAt || suspects(tick).length > 0) return stay('errors_low', tick)
  const trial = { homeHundredths: factorHundredths, levelHundredths: to, endsAt: now + TRIAL_MS }
  return { code: 'trial', factorHundredths: to, memory: { trial, rises: [], evidence: 0 } }
}

/** From 1 on, errors must certainly be low. Below, it is enough that they seem to be. */
function areErrorsLow({ factorHundredths, counts, bounds, constants }: Tick): boolean {
  const { lowRate, highRate } = constants
  if (factorHundredths >= 100) return bounds.high < lowRate && counts.recentErrors < lowRate * counts.recentCalls
  return counts.errors < lowRate * counts.calls && bounds.high < highRate && bounds.recentLow < lowRate
}

/** The rises that may have caused errors which show now. */
function suspects({ memory, now }: Tick): FactorMemory['rises'] {
  const oldest = now - blameMs(memory)
  return memory.rises.filter(({ at }) => at >= oldest)
}

/** The level has failed, and is tried again after twice the last wait. */
function failedAgain({ memory, now }: Tick, levelHundredths: number): Pick<FactorMemory, 'failed' | 'retryWaitMs'> {
  const retryWaitMs = Math.min(RETRY_WAIT_MS.max, Math.max(RETRY_WAIT_MS.min, 2 * memory.retryWaitMs))
  return { retryWaitMs, failed: { levelHundredths, retryAt: now + retryWaitMs } }
}

function hasWaited({ lastMoveAt, now }: Tick, waitMs: number): boolean {
  return lastMoveAt === null || now - lastMoveAt >= waitMs
}

function stay(code: FactorReasonCode, { factorHundredths }: Tick): Verdict {
  return { code, factorHundredths }
}

function risen(code: FactorReasonCode, tick: Tick, to: number): Verdict {
  const rises = [...tick.memory.rises, { at: tick.now, fromHundredths: tick.factorHundredths }]
  return { code, factorHundredths: to, memory: { rises, evidence: 0 } }
}

/** Makes one step of the return to a level. The next ticks make the others. */
function stepBack(tick: Tick, toHundredths: number, memory: Partial<FactorMemory>): Verdict {
  const { factorHundredths } = tick
  const next = Math.min(factorHundredths, Math.max(toHundredths, factorHundredths - FALL_HUNDREDTHS))
  return {
    code: 'errors_high',
    factorHundredths: next,
    memory: { ...memory, returningTo: next <= toHundredths ? null : toHundredths },
  }
}

function stateAfter(tick: Tick, verdict: Verdict, history: FactorState['history']): FactorState {
  const { counts, bounds, now } = tick
  const { code, factorHundredths } = verdict
  const hasMoved = factorHundredths !== tick.factorHundredths
  const memory = { ...tick.memory, ...verdict.memory }
  const reason: FactorReason = {
    code,
    at: now,
    fromHundredths: tick.factorHundredths,
    toHundredths: factorHundredths,
    counts,
    bounds,
    failed: memory.failed,
  }
  return {
    format: FACTOR_FORMAT,
    factorHundredths,
    lastMoveAt: hasMoved ? now : tick.lastMoveAt,
    tickedAt: now,
    reason,
    history: hasMoved ? [reason, ...history].slice(0, HISTORY_LENGTH) : history,
    memory,
  }
}
