import type { AdmittedDecision } from '../../decision/decision.ts'
import type { HeldReservation } from '../requests.ts'

/** Works under a reservation and settles it by the outcome: commits what returns, cancels what throws. */
export async function worked<T>(
  reservation: HeldReservation,
  work: (reservation: HeldReservation) => T | PromiseLike<T>,
): Promise<{ readonly allowed: true; readonly decision: AdmittedDecision; readonly value: T }> {
  const stop = reservation.keepAlive()
  let value: T
  try {
    value = await work(reservation)
  } catch (error) {
    stop()
    // The caller gets what the work threw; tokens whose cancel failed stay charged.
    await reservation.cancel().catch(() => undefined)
    throw error
  }
  stop()
  await reservation.commit()
  return { allowed: true, decision: reservation.decision, value }
}
