import type { PendingReservation } from '../reservations/handle.ts'

/**
 * Waits for a reservation or the signal. Whichever comes first decides, for good: a reservation that comes later is
 * cancelled, a signal that comes later changes nothing.
 */
export function orAborted<R extends PendingReservation>(pending: PromiseLike<R>, signal: AbortSignal): Promise<R> {
  return new Promise((resolve, reject) => {
    let isDecided = false
    /** Whether the caller comes first, and nobody else will. */
    const first = (): boolean => {
      if (isDecided) return false
      isDecided = true
      signal.removeEventListener('abort', onAbort)
      return true
    }
    const onAbort = (): void => {
      if (first()) reject(signal.reason as Error)
    }
    signal.addEventListener('abort', onAbort)
    // A signal that came before anybody listened is not told again.
    if (signal.aborted) onAbort()
    pending.then(
      (reservation) => {
        if (first()) resolve(reservation)
        // Nobody holds the handle any more. A cancel that fails leaves the tokens charged, as an unsettled one does.
        else Promise.resolve(reservation.cancel()).catch(() => undefined)
      },
      (error: unknown) => {
        if (first()) reject(error)
      },
    )
  })
}
