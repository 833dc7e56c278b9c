import type { RefusedDecision } from '../decision/decision.ts'
import { runAsync } from '../engine/decide/task.ts'
import type { WaitRefusal } from '../engine/events.ts'
import type { Quota } from '../engine/quota.ts'
import type { ReserveRequest } from '../engine/requests.ts'
import { refusedCalls } from '../engine/reservations/handle.ts'
import { QuotaError } from '../errors/quota-error.ts'
import type { Counting } from '../policy/units.ts'
import type { WaitedReservation } from './requests.ts'

/** Used if it is unknown when a limit opens. */
const RETRY_MS = 1_000

/** Makes the result of a refusal. A request that never tried reads its limits. */
export async function refused(
  quota: Quota,
  request: ReserveRequest,
  { refusal: reason, decision: known }: { refusal: WaitRefusal; decision?: RefusedDecision | undefined },
): Promise<WaitedReservation<Counting>> {
  let decision = known
  if (decision === undefined && reason !== 'queue_full') {
    const peeked = await quota.peek(request).catch(() => undefined)
    if (peeked?.allowed === false) decision = peeked
  }
  const retryAfterMs = decision?.retryAfterMs ?? RETRY_MS
  return {
    status: 'refused',
    allowed: false,
    reason,
    decision,
    retryAfterMs,
    ...refusedCalls(runAsync, request.operation),
  }
}

export function closed(): QuotaError {
  return new QuotaError('quota_closed', 'the queue was closed while this request waited, or before')
}
