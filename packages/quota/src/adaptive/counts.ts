import type { AdaptiveCounts } from '../store/factor-state.ts'
import type { MinuteOutcomes } from '../store/outcome-store.ts'

/**
 * What the law looks at, from the minutes of its window: refusals and the service's own 503s about quotas are left out,
 * since they tell of quotas and not of health.
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
