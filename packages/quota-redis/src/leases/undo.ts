import { isToSettle } from '@scoregw/quota/internal'
import type { SettleRequest } from '@scoregw/quota/store'
import { refundsOfStates } from '../counters/charges.ts'
import type { Counters } from '../counters/counters.ts'
import { newMark } from '../counters/record.ts'

/**
 * Undoes an admission. Unlike a cancellation, it closes windows that it opened and nothing else used, and forgets the
 * id.
 *
 * @param takenAt the time of the reply that admitted it, epoch milliseconds
 */
export async function undo(counters: Counters, request: SettleRequest, takenAt: number): Promise<void> {
  const { subject, id } = request
  const { keys, changes } = counters
  const refunds = refundsOfStates(request, keys).map((refund) => ({ ...refund, closes: refund.startedAt >= takenAt }))
  if (id === undefined) return counters.refund(refunds)
  await changes.change(keys.recordPlace(subject, id.id), (record) => {
    if (!isToSettle(record, id)) return { result: undefined }
    const after = { ...record, mark: newMark(), state: 'cancelled' } as const
    return { result: undefined, change: { after, keepMs: 0, refunds } }
  })
}
