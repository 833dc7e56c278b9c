import { otherVersion } from '../errors/other-version.ts'
import { QuotaError } from '../errors/quota-error.ts'
import {
  type AdaptiveCounts,
  FACTOR_FORMAT,
  type FactorReason,
  type FactorReasonCode,
  type FactorState,
  type FactorStore,
  type Learned,
  type VersionedFactor,
} from '../store/factor-store.ts'
import { ADAPTIVE_DEFAULTS, type AdaptiveConstants } from './constants.ts'
import { blameMs, broughtTo, firstSuspect, longerWait, NOTHING_LEARNED, observed } from './learned.ts'
import { areErrorsHigh, type Bounds, boundsOf } from './rates.ts'

/** Returns the state before the first tick: factor 1, nothing learned. */
export function initialFactor(): FactorState {
  return {
    format: FACTOR_FORMAT,
    factorHundredths: 100,
    lastMoveAt: null,
    quietSince: null,
    tickedAt: null,
    reason: null,
    history: [],
    learned: NOTHING_LEARNED,
  }
}

/**
 * Forgets everything that the law has learned: the wall, suspected rises and how slow the service is. The factor and
 * its history stay. Call it when the service has changed, for example after a move to new machines.
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
    if (await store.compareAndSet(version, past, { ...state, learned: NOTHING_LEARNED })) return state
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
  readonly quietSince: number | null
  readonly learned: Learned
  readonly counts: AdaptiveCounts
  readonly bounds: Bounds
  readonly now: number
  readonly constants: AdaptiveConstants
}

/** The decision of a rule: the new factor, its reason, and what the law learns. */
interface Verdict {
  readonly code: FactorReasonCode
  readonly factorHundredths: number
  readonly learned?: Partial<Learned>
}

/** Decides, or returns `undefined` to leave the tick to the next rule. */
type Rule = (tick: Tick) => Verdict | undefined

const RULES: readonly Rule[] = [finishReturn, judgeProbe, fall, withLittleTraffic, rise]

/**
 * Applies one tick of the adaptive law. A pure function. The factor falls while errors are certainly high, and rises
 * slowly while they are low. With too little traffic, it drifts towards 1. A fall soon after a rise leaves a wall, a
 * level above which only short probes go.
 *
 * @param counts of the minutes completed before `now`
 * @param now epoch milliseconds; if the clock steps back, no wait gets shorter and nothing freezes
 * @param constants complete and valid, as {@link adaptiveConstants} returns them
 */
export function adaptiveLaw(
  before: FactorState,
  counts: AdaptiveCounts,
  now: number,
  constants: AdaptiveConstants = ADAPTIVE_DEFAULTS,
): FactorState {
  const state = broughtTo(now, before, constants)
  const { factorHundredths, lastMoveAt } = state
  const bounds = boundsOf(counts, constants.z)
  const learned = observed(state, counts, bounds, now, constants)
  const quietSince = counts.calls < constants.minCalls ? (state.quietSince ?? now) : null
  const tick: Tick = { factorHundredths, lastMoveAt, quietSince, learned, counts, bounds, now, constants }
  for (const rule of RULES) {
    const verdict = rule(tick)
    if (verdict !== undefined) return stateAfter(tick, verdict, state.history)
  }
  return stateAfter(tick, stay('steady', tick), state.history)
}

/** Always completes a return to a good level, because earlier errors don't count against that level. */
function finishReturn(tick: Tick): Verdict | undefined {
  const { phase } = tick.learned
  return phase.kind === 'returning' ? stepBack('returned', tick, phase.toHundredths, {}) : undefined
}

/** A probe rises for a short time and always comes back. Then the law waits for errors that it may have caused. */
function judgeProbe(tick: Tick): Verdict | undefined {
  const { learned, now, constants } = tick
  const { phase, wall } = learned
  if (wall === null || (phase.kind !== 'probing' && phase.kind !== 'listening')) return undefined
  if (learned.evidence >= constants.probeEvidence) return probeFailed(tick, wall, phase)
  if (now < phase.until) return stay(phase.kind, tick)
  if (phase.kind === 'listening') return probePassed(tick, wall, phase.levelHundredths)
  const until = now + Math.max(constants.listenMs, blameMs(learned, constants))
  return {
    code: 'probe_over',
    factorHundredths: phase.homeHundredths,
    learned: { phase: { ...phase, kind: 'listening', until } },
  }
}

type Wall = NonNullable<Learned['wall']>
type Probe = Extract<Learned['phase'], { readonly until: number }>

function probeFailed({ learned, now, constants }: Tick, wall: Wall, probe: Probe): Verdict {
  const { homeHundredths, levelHundredths } = probe
  const probeWaitMs = longerWait(learned.probeWaitMs, constants)
  return {
    code: 'probe_failed',
    factorHundredths: homeHundredths,
    learned: {
      phase: { kind: 'free' },
      evidence: 0,
      probeWaitMs,
      wall: {
        ...wall,
        lowHundredths: homeHundredths + constants.riseStepHundredths,
        highHundredths: levelHundredths,
        retryAt: now + probeWaitMs,
      },
    },
  }
}

/**
 * The level is good: the factor rises to it, and the wall starts above it. The wall's top level needs a second, longer
 * probe.
 */
function probePassed(tick: Tick, wall: Wall, levelHundredths: number): Verdict {
  const { learned, factorHundredths, now, constants } = tick
  const { riseStepHundredths, riseWaitMs, probeWaitMinMs } = constants
  const settled = { phase: { kind: 'free' }, evidence: 0 } as const
  if (levelHundredths >= wall.highHundredths && wall.probed === 'never') {
    return {
      code: 'listening',
      factorHundredths,
      learned: { ...settled, wall: { ...wall, probed: 'once', retryAt: now } },
    }
  }
  const lowHundredths = levelHundredths + riseStepHundredths
  const isPast = lowHundredths > wall.highHundredths
  return {
    code: 'probe_passed',
    factorHundredths: levelHundredths,
    learned: {
      ...settled,
      rises: [{ at: now, fromHundredths: factorHundredths }],
      wall: isPast ? null : { ...wall, lowHundredths, retryAt: now + riseWaitMs, probed: 'never' },
      probeWaitMs: isPast ? Math.max(probeWaitMinMs, learned.probeWaitMs / 2) : learned.probeWaitMs,
    },
  }
}

/**
 * Falls if errors are certainly high. After a recent rise, enough evidence also causes a fall, before the whole window
 * shows it.
 */
function fall(tick: Tick): Verdict | undefined {
  const { learned, factorHundredths, lastMoveAt, counts, bounds, now, constants } = tick
  const { minHundredths, fallStepHundredths, fallWaitMs } = constants
  const suspects = recentRises(tick)
  const isSoon = suspects.length > 0 && isRiseToBlame(tick)
  if (!isSoon && !areErrorsHigh(counts, bounds, constants)) return undefined
  if (factorHundredths <= minHundredths) return stay('at_limit', tick)
  if (suspects.length > 0) return blame(tick, suspects)
  if (!waited(lastMoveAt, now, fallWaitMs)) return stay('waiting', tick)
  return {
    code: 'errors_high',
    factorHundredths: Math.max(minHundredths, factorHundredths - fallStepHundredths),
    learned: {
      rises: [],
      trouble: learned.trouble ?? { since: now, fromHundredths: factorHundredths, rises: learned.rises },
      wall: wallBelowHome(tick),
    },
  }
}

/** The rises that are recent enough to have caused errors. */
function recentRises({ learned, now, constants }: Tick): Learned['rises'] {
  const span = blameMs(learned, constants)
  return learned.rises.filter(({ at }) => now - at <= span)
}

function isRiseToBlame({ learned, counts, constants }: Tick): boolean {
  const { riseEvidence, minRecentCalls, minRecentErrors } = constants
  return (
    learned.evidence >= riseEvidence && counts.recentCalls >= minRecentCalls && counts.recentErrors >= minRecentErrors
  )
}

/**
 * Returns to the factor before the first suspected rise. A wall covers the levels from there up to the current factor.
 */
function blame(tick: Tick, suspects: Learned['rises']): Verdict {
  const { learned, factorHundredths, now, constants } = tick
  const lowHundredths = firstSuspect(suspects, constants)
  const probeWaitMs = longerWait(learned.probeWaitMs, constants)
  return stepBack('errors_high', tick, lowHundredths - constants.riseStepHundredths, {
    rises: [],
    evidence: 0,
    trouble: { since: now, fromHundredths: factorHundredths, rises: learned.rises },
    probeWaitMs,
    wall: {
      lowHundredths,
      highHundredths: Math.max(factorHundredths, lowHundredths),
      retryAt: now + probeWaitMs,
      probed: 'never',
    },
  })
}

/**
 * If errors are high even just below the wall, the wall moves down. Not at factor 1, where an outage is more likely the
 * cause.
 */
function wallBelowHome({ learned: { wall }, factorHundredths, constants }: Tick): Learned['wall'] {
  const isHome = wall !== null && factorHundredths === wall.lowHundredths - constants.riseStepHundredths
  return isHome && factorHundredths !== 100 ? { ...wall, lowHundredths: factorHundredths, probed: 'never' } : wall
}

/**
 * Drifts step by step towards 1 when there are too few calls to judge. Probes show nothing then, so walls are lifted by
 * time.
 */
function withLittleTraffic(tick: Tick): Verdict | undefined {
  const { learned, factorHundredths, lastMoveAt, quietSince, bounds, now, constants } = tick
  const { driftStepHundredths, driftWaitMs, quietHoldMs, riseStepHundredths } = constants
  if (quietSince === null) return undefined
  const isDue = factorHundredths !== 100 && waited(quietSince, now, quietHoldMs) && waited(lastMoveAt, now, driftWaitMs)
  if (!isDue) return stay('quiet', tick)
  if (factorHundredths > 100) {
    return { code: 'quiet_fall', factorHundredths: Math.max(100, factorHundredths - driftStepHundredths) }
  }
  if (bounds.low >= constants.lowRate) return stay('quiet', tick)
  let { wall } = learned
  if (wall !== null && factorHundredths + driftStepHundredths >= wall.lowHundredths) {
    if (now < wall.retryAt) return stay('capped', tick)
    const lowHundredths = wall.lowHundredths + riseStepHundredths
    wall = lowHundredths > wall.highHundredths ? null : { ...wall, lowHundredths, retryAt: now + learned.probeWaitMs }
  }
  return risen('quiet_rise', tick, Math.min(100, factorHundredths + driftStepHundredths), wall)
}

/** Rises by a step while errors are low, or probes if that step would reach the wall. */
function rise(tick: Tick): Verdict | undefined {
  const { learned, factorHundredths, lastMoveAt, now, constants } = tick
  const { maxHundredths, riseStepHundredths, riseWaitMs } = constants
  if (learned.lowSince === null) return undefined
  if (factorHundredths >= maxHundredths) return stay('at_limit', tick)
  if (!waited(lastMoveAt, now, riseWaitMs)) return stay('waiting', tick)
  const to = Math.min(maxHundredths, factorHundredths + riseStepHundredths)
  const { wall } = learned
  return wall !== null && to >= wall.lowHundredths ? probe(tick, wall, to) : risen('errors_low', tick, to, wall)
}

/**
 * Probes after a whole window of low errors. It waits until no earlier rise can still show errors, so that they aren't
 * blamed on the wrong level.
 */
function probe(tick: Tick, wall: Wall, levelHundredths: number): Verdict {
  const { learned, factorHundredths, now, constants } = tick
  const { left, since } = probesAt(tick)
  const isDue = now >= wall.retryAt && left > 0 && recentRises(tick).length === 0
  if (!isDue || !waited(learned.lowSince, now, constants.windowMinutes * 60_000)) return stay('capped', tick)
  // A short probe shows nothing on a slow service, so the second one lasts half the service's response time.
  const lengthMs =
    wall.probed === 'never' ? constants.probeMs : Math.max(constants.secondProbeMs, learned.responseMs / 2)
  return {
    code: 'probe',
    factorHundredths: levelHundredths,
    learned: {
      phase: { kind: 'probing', homeHundredths: factorHundredths, levelHundredths, until: now + lengthMs },
      rises: [],
      evidence: 0,
      probes: { left: left - 1, since },
    },
  }
}

/** The available probes: those saved up, and those earned since. */
function probesAt({ learned: { probes }, now, constants }: Tick): NonNullable<Learned['probes']> {
  const { probesInHand, probeEarnedMs } = constants
  if (probes === null) return { left: probesInHand, since: now }
  const earned = Math.floor((now - probes.since) / probeEarnedMs)
  if (probes.left + earned >= probesInHand) return { left: probesInHand, since: now }
  return { left: probes.left + earned, since: probes.since + earned * probeEarnedMs }
}

function stay(code: FactorReasonCode, { factorHundredths }: Tick): Verdict {
  return { code, factorHundredths }
}

function risen(code: FactorReasonCode, tick: Tick, factorHundredths: number, wall: Learned['wall']): Verdict {
  const rises = [...tick.learned.rises, { at: tick.now, fromHundredths: tick.factorHundredths }]
  return { code, factorHundredths, learned: { rises, evidence: 0, wall } }
}

/** Makes one step of the return to a level. The next ticks make the others. */
function stepBack(code: FactorReasonCode, tick: Tick, toHundredths: number, learned: Partial<Learned>): Verdict {
  const { factorHundredths, constants } = tick
  const next = Math.min(factorHundredths, Math.max(toHundredths, factorHundredths - constants.fallStepHundredths))
  const phase: Learned['phase'] = next <= toHundredths ? { kind: 'free' } : { kind: 'returning', toHundredths }
  return { code, factorHundredths: next, learned: { ...learned, phase } }
}

function waited(since: number | null, now: number, waitMs: number): boolean {
  return since === null || now - since >= waitMs
}

function stateAfter(tick: Tick, verdict: Verdict, history: FactorState['history']): FactorState {
  const { quietSince, now, constants } = tick
  const { factorHundredths } = verdict
  const hasMoved = factorHundredths !== tick.factorHundredths
  const lastMoveAt = hasMoved ? now : tick.lastMoveAt
  const learned = { ...tick.learned, ...verdict.learned }
  const reason = reasonOf(tick, verdict.code, { ...tick, factorHundredths, lastMoveAt, learned })
  return {
    format: FACTOR_FORMAT,
    factorHundredths,
    lastMoveAt,
    quietSince,
    tickedAt: now,
    reason,
    history: hasMoved ? [reason, ...history].slice(0, constants.historyLength) : history,
    learned,
  }
}

function reasonOf(
  { factorHundredths, counts, bounds, now, constants }: Tick,
  code: FactorReasonCode,
  after: Tick,
): FactorReason {
  const { wall } = after.learned
  return {
    code,
    at: now,
    fromHundredths: factorHundredths,
    toHundredths: after.factorHundredths,
    counts,
    bounds,
    capHundredths: wall && wall.lowHundredths - constants.riseStepHundredths,
    wall: wall && {
      lowHundredths: wall.lowHundredths,
      highHundredths: wall.highHundredths,
      retryAt: retryAt(after, wall),
    },
    nextFallAt: nextFallAt(after),
    nextRiseAt: nextRiseAt(after),
  }
}

function nextFallAt(after: Tick): number | null {
  const { factorHundredths, lastMoveAt, now, constants } = after
  if (factorHundredths <= constants.minHundredths) return null
  const isAnyTime = lastMoveAt === null || after.learned.phase.kind !== 'free' || recentRises(after).length > 0
  return isAnyTime ? now : Math.max(now, lastMoveAt + constants.fallWaitMs)
}

function nextRiseAt(after: Tick): number | null {
  const { factorHundredths, lastMoveAt, learned, now, constants } = after
  const { maxHundredths, riseStepHundredths, riseWaitMs } = constants
  if (factorHundredths >= maxHundredths) return null
  const waits = lastMoveAt === null ? now : Math.max(now, lastMoveAt + riseWaitMs)
  const { wall, phase } = learned
  if (phase.kind === 'listening') return Math.max(now, phase.until)
  const isAtWall = wall !== null && factorHundredths + riseStepHundredths >= wall.lowHundredths
  return isAtWall ? Math.max(waits, retryAt(after, wall)) : waits
}

/** When the wall can next be probed, in epoch milliseconds, at least `now`. */
function retryAt(after: Tick, wall: Wall): number {
  const { learned, now, constants } = after
  const { left, since } = probesAt(after)
  const earnedAt = left > 0 ? now : since + constants.probeEarnedMs
  const lastRiseAt = learned.rises.at(-1)?.at
  const shownAt = lastRiseAt === undefined ? now : lastRiseAt + blameMs(learned, constants)
  return Math.max(now, wall.retryAt, earnedAt, shownAt)
}
