import type { AdaptiveCounts, FactorState, Learned } from '../store/factor-store.ts'
import type { AdaptiveConstants } from './constants.ts'
import { areErrorsLow, type Bounds, evidenceOf } from './rates.ts'

const MINUTE_MS = 60_000

/** Evidence is capped here: it is certain enough, and more would take long to decay. */
const MAX_EVIDENCE = 20

export const NOTHING_LEARNED: Learned = {
  phase: { kind: 'free' },
  wall: null,
  rises: [],
  trouble: null,
  responseMs: 0,
  probeWaitMs: 0,
  probes: null,
  evidence: 0,
  lowSince: null,
}

/** How far back rises are blamed for errors, in milliseconds: twice the time that the last errors took to pass. */
export function blameMs({ responseMs }: Learned, constants: AdaptiveConstants): number {
  return Math.min(constants.blameMaxMs, Math.max(constants.blameMs, 2 * responseMs))
}

/** The lowest level that these rises make a suspect. */
export function firstSuspect(
  rises: Learned['rises'],
  { minHundredths, riseStepHundredths }: AdaptiveConstants,
): number {
  return Math.max(minHundredths, Math.min(...rises.map(({ fromHundredths }) => fromHundredths))) + riseStepHundredths
}

/** How long no probe is made after one more failure, in milliseconds. */
export function longerWait(probeWaitMs: number, { probeWaitMinMs, probeWaitMaxMs }: AdaptiveConstants): number {
  return Math.min(probeWaitMaxMs, Math.max(probeWaitMinMs, 2 * probeWaitMs))
}

/** Brings the previous state to `now`. It may come from long ago, or from a clock that was ahead. */
export function broughtTo(now: number, before: FactorState, constants: AdaptiveConstants): FactorState {
  const isAhead = before.tickedAt !== null && before.tickedAt > now
  const state = isAhead ? clockSteppedBack(before, now, constants) : before
  const isGap = state.tickedAt === null || now - state.tickedAt > constants.windowMinutes * MINUTE_MS
  return isGap ? afterGap(state) : state
}

/** Adds a tick's counts: evidence against the level, how long errors have been low, and whether errors have passed. */
export function observed(
  state: FactorState,
  counts: AdaptiveCounts,
  bounds: Bounds,
  now: number,
  constants: AdaptiveConstants,
): Learned {
  const { learned, factorHundredths, tickedAt } = state
  const { lowRate, highRate, recentMinutes, blameMaxMs } = constants
  const { recentErrors, recentCalls } = counts
  const isProbe = learned.phase.kind === 'probing' || learned.phase.kind === 'listening'
  // After a rise, errors of 2 % prove nothing yet. A probe can be repeated, so it is judged more strictly.
  const [lower, higher] = isProbe ? [lowRate, highRate] : [2 * lowRate, 1.5 * highRate]
  // Each recent minute is counted by five ticks, so each tick adds a fifth of the evidence.
  const minutes = tickedAt === null ? 1 : Math.min(recentMinutes, (now - tickedAt) / MINUTE_MS)
  const added = (minutes / recentMinutes) * evidenceOf(recentErrors, recentCalls, lower, higher)
  const seen = troublePassed(
    {
      ...learned,
      rises: learned.rises.filter(({ at }) => now - at <= blameMaxMs),
      evidence: Math.min(MAX_EVIDENCE, Math.max(0, learned.evidence + added)),
      lowSince: areErrorsLow(factorHundredths, counts, bounds, constants) ? (learned.lowSince ?? now) : null,
    },
    counts,
    now,
    constants,
  )
  return belowItsWall(seen, factorHundredths, constants)
}

/** If the wall moved down to the factor, or to the level that it returns to, the factor returns to below the wall. */
function belowItsWall(learned: Learned, factorHundredths: number, constants: AdaptiveConstants): Learned {
  const { phase, wall } = learned
  if (wall === null || (phase.kind !== 'free' && phase.kind !== 'returning')) return learned
  const level = phase.kind === 'returning' ? phase.toHundredths : factorHundredths
  const toHundredths = Math.max(constants.minHundredths, wall.lowHundredths - constants.riseStepHundredths)
  return level > toHundredths ? { ...learned, phase: { kind: 'returning', toHundredths } } : learned
}

/**
 * Once errors are no longer high, the time since the first fall shows how slow the service is. If it is slower than
 * assumed, earlier rises are suspects too, and the wall moves down.
 */
function troublePassed(learned: Learned, counts: AdaptiveCounts, now: number, constants: AdaptiveConstants): Learned {
  const { trouble, wall } = learned
  if (trouble === null || counts.recentErrors >= constants.highRate * counts.recentCalls) return learned
  const passed = { ...learned, trouble: null, responseMs: Math.max(now - trouble.since, learned.responseMs / 2) }
  const blamed = trouble.rises.filter(({ at }) => trouble.since - at <= blameMs(passed, constants))
  if (blamed.length === 0) return passed
  const lowHundredths = firstSuspect(blamed, constants)
  if (wall !== null) {
    return lowHundredths < wall.lowHundredths
      ? { ...passed, wall: { ...wall, lowHundredths, probed: 'never' } }
      : passed
  }
  const probeWaitMs = longerWait(learned.probeWaitMs, constants)
  const highHundredths = Math.max(trouble.fromHundredths, lowHundredths)
  return {
    ...passed,
    probeWaitMs,
    wall: { lowHundredths, highHundredths, retryAt: now + probeWaitMs, probed: 'never' },
  }
}

/** After a gap, old observations are stale. A probe returns home and is repeated later. */
function afterGap(state: FactorState): FactorState {
  const { learned } = state
  let { phase } = learned
  if (phase.kind === 'probing') phase = { kind: 'returning', toHundredths: phase.homeHundredths }
  if (phase.kind === 'listening') phase = { kind: 'free' }
  return { ...state, quietSince: null, learned: { ...learned, phase, trouble: null, evidence: 0, lowSince: null } }
}

/** Moves times that a fast clock wrote to at most now. Otherwise they would freeze the factor until then. */
function clockSteppedBack(state: FactorState, now: number, constants: AdaptiveConstants): FactorState {
  const { learned } = state
  const { phase, wall, trouble, probes } = learned
  const notAfter = (latest: number, instant: number): number => Math.min(latest, instant)
  const past = (instant: number | null): number | null => instant && notAfter(now, instant)
  return {
    ...state,
    tickedAt: now,
    lastMoveAt: past(state.lastMoveAt),
    quietSince: past(state.quietSince),
    learned: {
      ...learned,
      phase: 'until' in phase ? { ...phase, until: notAfter(now + constants.listenMs, phase.until) } : phase,
      wall: wall && { ...wall, retryAt: notAfter(now + constants.probeWaitMaxMs, wall.retryAt) },
      rises: learned.rises.map((rise) => ({ ...rise, at: notAfter(now, rise.at) })),
      trouble: trouble && { ...trouble, since: notAfter(now, trouble.since) },
      probes: probes && { ...probes, since: notAfter(now, probes.since) },
      lowSince: past(learned.lowSince),
    },
  }
}
