import { boundsOf } from '../../src/adaptive/rates.ts'
import type { AdaptiveCounts, FactorReason, FactorReasonCode, FactorState } from '../../src/adaptive.ts'

// The law before walls, as its processes run it: to compare with, and to tick by turns with the law of today.

/** The fields that it copies from tick to tick; it knows no others. */
export type FormerState = Omit<FactorState, 'learned'>

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const [LOWEST, HIGHEST] = [75, 150]
const [LOW_RATE, HIGH_RATE] = [0.005, 0.02]

export const FORMER_START: FormerState = {
  factorHundredths: 100,
  cap: null,
  capRecoveryMs: 30 * MINUTE,
  lastMoveAt: null,
  lastRiseAt: null,
  lastFallAt: null,
  quietSince: null,
  tickedAt: null,
  reason: null,
  history: [],
}

export function formerLaw(before: FormerState, counts: AdaptiveCounts, now: number): FormerState {
  const isTicking = before.tickedAt !== null && now - before.tickedAt <= 30 * MINUTE
  const quietSince = isTicking && before.quietSince !== null ? before.quietSince : now
  const state: FormerState = {
    factorHundredths: before.factorHundredths,
    cap: recoveredCap(before.cap, before.capRecoveryMs, now),
    capRecoveryMs: before.capRecoveryMs,
    lastMoveAt: before.lastMoveAt,
    lastRiseAt: before.lastRiseAt,
    lastFallAt: before.lastFallAt,
    quietSince: counts.calls < 200 ? quietSince : null,
    tickedAt: now,
    reason: before.reason,
    history: before.history,
  }
  const bounds = boundsOf(counts, 1.96)
  const [code, toHundredths] = judged(state, counts, bounds, now)
  const after = afterMove(state, code, toHundredths, now)
  const fromHundredths = state.factorHundredths
  const capHundredths = after.cap?.hundredths ?? null
  const times = { nextFallAt: null, nextRiseAt: null }
  const reason: FactorReason = { code, at: now, fromHundredths, toHundredths, counts, bounds, capHundredths, ...times }
  return { ...after, reason, history: after === state ? state.history : [reason, ...state.history].slice(0, 50) }
}

function judged(
  state: FormerState,
  counts: AdaptiveCounts,
  bounds: FactorReason['bounds'],
  now: number,
): [FactorReasonCode, number] {
  const { factorHundredths, lastMoveAt, quietSince, cap } = state
  const isPast = (since: number | null, ms: number): boolean => since === null || now - since >= ms
  const risen = (code: FactorReasonCode, wanted: number): [FactorReasonCode, number] => {
    const allowed = Math.min(wanted, cap?.hundredths ?? wanted)
    return allowed > factorHundredths ? [code, allowed] : ['capped', factorHundredths]
  }
  if (bounds.low > HIGH_RATE && counts.recentCalls >= 20 && bounds.recentLow > HIGH_RATE) {
    if (factorHundredths <= LOWEST) return ['at_limit', factorHundredths]
    if (!isPast(lastMoveAt, 5 * MINUTE)) return ['waiting', factorHundredths]
    return ['errors_high', Math.max(LOWEST, factorHundredths - 10)]
  }
  if (quietSince !== null) {
    const isDue = factorHundredths !== 100 && isPast(quietSince, 30 * MINUTE) && isPast(lastMoveAt, 30 * MINUTE)
    if (!isDue) return ['quiet', factorHundredths]
    if (factorHundredths > 100) return ['quiet_fall', Math.max(100, factorHundredths - 5)]
    return bounds.low >= LOW_RATE
      ? ['quiet', factorHundredths]
      : risen('quiet_rise', Math.min(100, factorHundredths + 5))
  }
  const recentlyLow = counts.recentErrors < LOW_RATE * counts.recentCalls
  const seemsLow = counts.errors < LOW_RATE * counts.calls && bounds.high < HIGH_RATE
  const isLow =
    factorHundredths >= 100
      ? bounds.high < LOW_RATE && recentlyLow
      : seemsLow && (recentlyLow || bounds.recentLow < LOW_RATE)
  if (!isLow) return ['steady', factorHundredths]
  if (factorHundredths >= HIGHEST) return ['at_limit', factorHundredths]
  if (!isPast(lastMoveAt, 30 * MINUTE)) return ['waiting', factorHundredths]
  return risen('errors_low', Math.min(HIGHEST, factorHundredths + 5))
}

function afterMove(state: FormerState, code: FactorReasonCode, factorHundredths: number, now: number): FormerState {
  if (factorHundredths === state.factorHundredths) return state
  const moved = { ...state, factorHundredths, lastMoveAt: now }
  if (factorHundredths > state.factorHundredths) return { ...moved, lastRiseAt: now }
  if (code === 'quiet_fall') return moved
  const { lastRiseAt, lastFallAt, capRecoveryMs } = state
  const isBlamed = lastRiseAt !== null && now - lastRiseAt <= 90 * MINUTE
  const isRelapse = lastFallAt !== null && lastRiseAt !== null && lastRiseAt >= lastFallAt
  const relapsed = isRelapse && now - lastFallAt <= 24 * HOUR ? Math.min(2 * capRecoveryMs, 4 * HOUR) : 30 * MINUTE
  return {
    ...moved,
    lastFallAt: now,
    cap: isBlamed ? { hundredths: Math.max(LOWEST, state.factorHundredths - 5), since: now } : state.cap,
    capRecoveryMs: isRelapse ? relapsed : capRecoveryMs,
  }
}

/** Step by step, gone when it reaches the highest factor. */
function recoveredCap(cap: FormerState['cap'], capRecoveryMs: number, now: number): FormerState['cap'] {
  if (cap === null) return null
  let { hundredths, since } = cap
  while (hundredths < HIGHEST) {
    since += hundredths < 100 ? capRecoveryMs : 4 * HOUR
    if (since > now) return { hundredths, since: since - (hundredths < 100 ? capRecoveryMs : 4 * HOUR) }
    hundredths += 5
  }
  return null
}
