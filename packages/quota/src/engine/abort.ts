import type { MaybeReservation } from './reservation.ts'

/** Waits for a reservation or the signal, whichever comes first; a reservation that comes too late is cancelled. */
export function orAborted(pending: Promise<MaybeReservation>, signal: AbortSignal): Promise<MaybeReservation> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      reject(signal.reason as Error)
      // Nobody holds the handle any more. A cancel that fails leaves the tokens charged, as an unsettled one does.
      pending.then((late) => late.cancel()).catch(() => undefined)
    }
    signal.addEventListener('abort', onAbort, { once: true })
    pending.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
