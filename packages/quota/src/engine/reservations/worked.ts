import type { AdmittedDecision } from '../../decision/decision.ts'
import { QuotaError } from '../../errors/quota-error.ts'
import { kindOf } from '../../errors/shown.ts'
import type { HeldReservation } from '../requests.ts'

/**
 * Checks the arguments of `run`. A request that is a function has its own error.
 *
 * @throws {QuotaError} `invalid_options` if there is no work
 */
export function checkWork(request: unknown, work: unknown): void {
  if (typeof work === 'function' || typeof request === 'function') return
  const message = `run(request, work): expected a function for the work, got ${kindOf(work)}`
  throw new QuotaError('invalid_options', message)
}

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
