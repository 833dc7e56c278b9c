import type { AdmittedDecision } from '../../decision/decision.ts'
import type { HeldReservation } from '../requests.ts'

/** Runs work with a reservation and settles by the outcome: commits if the work returns, cancels if it throws. */
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
    // The caller gets the error of the work. If the cancel fails, the tokens stay charged.
    await reservation.cancel().catch(() => undefined)
    throw error
  }
  stop()
  await reservation.commit()
  return { allowed: true, decision: reservation.decision, value }
}
