import type { FactorState } from '../store/factor-state.ts'
import type { AdaptiveConstants } from './constants.ts'

type Cap = FactorState['cap']

/** The time that the cap's next step takes. */
function stepMs(hundredths: number, capRecoveryMs: number, constants: AdaptiveConstants): number {
  return hundredths < 100 ? capRecoveryMs : constants.capRecoveryAboveMs
}

/** The cap as it has recovered by `now`: step by step, gone when it reaches the highest factor. */
export function recoveredCap(cap: Cap, capRecoveryMs: number, now: number, constants: AdaptiveConstants): Cap {
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
export function capAllowsFrom(
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
export function capAfterFall(state: FactorState, now: number, constants: AdaptiveConstants): Cap {
  const { lastRiseAt, cap, factorHundredths } = state
  if (lastRiseAt === null || now - lastRiseAt > constants.capAfterRiseMs) return cap
  return { hundredths: Math.max(constants.minHundredths, factorHundredths - constants.capBelowHundredths), since: now }
}

/** How long a step of recovery takes after a fall: longer with every relapse, short again after a good day. */
export function capRecoveryAfterFall(state: FactorState, now: number, constants: AdaptiveConstants): number {
  const { lastRiseAt, lastFallAt, capRecoveryMs } = state
  if (lastFallAt === null || lastRiseAt === null || lastRiseAt < lastFallAt) return capRecoveryMs
  if (now - lastFallAt > constants.relapseMs) return constants.capRecoveryMinMs
  return Math.min(2 * capRecoveryMs, constants.capRecoveryMaxMs)
}
