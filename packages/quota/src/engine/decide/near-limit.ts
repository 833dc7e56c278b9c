import type { Demand } from '../../decision/decide.ts'
import type { AdmittedDecision, UncountedWindow, WindowStatus } from '../../decision/decision.ts'
import type { Threshold } from '../../policy/settings.ts'
import { hundredths } from '../../policy/values.ts'
import type { NearLimit } from '../requests.ts'

/**
 * The limits that a charge took across thresholds. Each charge is counted once and in one order by the store, so exactly
 * one makes each crossing, whichever process asked for it: nobody needs to remember what was told.
 *
 * @param units of the policy
 * @param demand what was charged
 */
export function crossings(
  units: readonly string[],
  decision: AdmittedDecision,
  { costs }: Pick<Demand, 'costs'>,
  thresholds: readonly Threshold[],
): NearLimit[] {
  const { subject, windows } = decision
  return windows.filter(isCounted).flatMap((window) => {
    const { unit = units[0]! } = window
    const charged = window.kind === 'concurrency' ? costs.at(-1)! : costs[units.indexOf(unit)]!
    return thresholds
      .filter((threshold) => threshold.unit === undefined || threshold.unit === unit)
      .filter((threshold) => crosses(window, charged, threshold))
      .map((threshold) => ({ subject, decision, window, threshold }))
  })
}

function isCounted(window: WindowStatus | UncountedWindow): window is WindowStatus {
  return window.used !== null
}

function crosses({ limit, used }: WindowStatus, charged: number, threshold: Threshold): boolean {
  if (limit === 'unlimited' || charged === 0) return false
  const isNear = (tokens: number): boolean =>
    'left' in threshold ? limit - tokens <= threshold.left : tokens * 100 >= limit * hundredths(threshold.share)!
  return isNear(used) && !isNear(used - charged)
}
