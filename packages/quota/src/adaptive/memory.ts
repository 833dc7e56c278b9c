import type { AdaptiveCounts, FactorMemory, FactorState } from '../store/factor-store.ts'
import type { AdaptiveConstants } from './constants.ts'
import { evidenceOf, RECENT_MINUTES, recently, WINDOW_MINUTES } from './rates.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** Only rises within this time are blamed for errors: the window, and a service that takes twice as long to show them. */
const BLAME_MS = 90 * MINUTE_MS
/** The same on a service that is slower than that. No rise is remembered for longer. */
const BLAME_MAX_MS = 8 * HOUR_MS
/** Evidence is capped here: it is certain enough, and more would take long to decay. */
const MAX_EVIDENCE = 20
/** Errors must stay high at the lowest factor for so long, several times what slow services take to recover. */
export const VAIN_AFTER_MS: number = 6 * HOUR_MS

export const NOTHING_LEARNED: FactorMemory = {
  rises: [],
  failed: null,
  retryWaitMs: 0,
  trial: null,
  returningTo: null,
  troubleSince: null,
  troubleMs: 0,
  evidence: 0,
  quietSince: null,
  vainRate: null,
  vainWaitMs: VAIN_AFTER_MS,
}

/** How far back rises are blamed for errors, in milliseconds: twice the time that the last errors took to pass. */
export function blameMs({ troubleMs }: FactorMemory): number {
  return Math.min(BLAME_MAX_MS, Math.max(BLAME_MS, 2 * troubleMs))
}

/** Brings the previous state to `now`. It may be from long ago, or from a clock that was ahead. */
export function broughtTo(now: number, before: FactorState): FactorState {
  const state = before.tickedAt !== null && before.tickedAt > now ? clockSteppedBack(before, now) : before
  const isGap = state.tickedAt === null || now - state.tickedAt > WINDOW_MINUTES * MINUTE_MS
  return isGap ? afterGap(state) : state
}

/** After a gap, old observations are stale. A trial goes home and is repeated later. */
function afterGap(state: FactorState): FactorState {
  const { memory, factorHundredths } = state
  const { trial, returningTo } = memory
  const home = trial !== null && trial.homeHundredths < factorHundredths ? trial.homeHundredths : returningTo
  const forgotten = { trial: null, troubleSince: null, evidence: 0, quietSince: null }
  return { ...state, memory: { ...memory, ...forgotten, returningTo: home } }
}

/** Moves times that a fast clock wrote to at most now. Otherwise they would freeze the factor until then. */
function clockSteppedBack(state: FactorState, now: number): FactorState {
  const { memory, lastMoveAt } = state
  const { trial, failed, retryWaitMs, rises } = memory
  const past = (instant: number | null): number | null => instant && Math.min(now, instant)
  return {
    ...state,
    tickedAt: now,
    lastMoveAt: past(lastMoveAt),
    memory: {
      ...memory,
      trial: trial && { ...trial, endsAt: Math.min(now, trial.endsAt) },
      failed: failed && { ...failed, retryAt: Math.min(now + retryWaitMs, failed.retryAt) },
      rises: rises.map(({ at, fromHundredths }) => ({ at: Math.min(now, at), fromHundredths })),
      troubleSince: past(memory.troubleSince),
      quietSince: past(memory.quietSince),
    },
  }
}

/** Adds a tick's counts: evidence against the level, and whether errors began or passed. */
export function observed(
  { memory, tickedAt }: FactorState,
  { counts, areErrorsHigh, now }: { counts: AdaptiveCounts; areErrorsHigh: boolean; now: number },
  { lowRate, highRate, minCalls }: AdaptiveConstants,
): FactorMemory {
  // Each recent minute is counted by five ticks, so each tick adds a fifth of the evidence.
  const minutes = tickedAt === null ? 1 : Math.min(RECENT_MINUTES, (now - tickedAt) / MINUTE_MS)
  const added =
    (minutes / RECENT_MINUTES) *
    evidenceOf({ calls: counts.recentCalls, errors: counts.recentErrors }, lowRate, highRate)
  const seen: FactorMemory = {
    ...memory,
    rises: memory.rises.filter(({ at }) => now - at <= BLAME_MAX_MS),
    evidence: Math.min(MAX_EVIDENCE, Math.max(0, memory.evidence + added)),
    quietSince: counts.calls < minCalls ? (memory.quietSince ?? now) : null,
  }
  if (areErrorsHigh) return { ...seen, troubleSince: memory.troubleSince ?? now }
  const { calls, errors } = recently(counts)
  if (memory.troubleSince === null || errors >= highRate * calls) return seen
  return { ...seen, troubleSince: null, troubleMs: now - memory.troubleSince }
}
