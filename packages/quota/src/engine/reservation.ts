import type { AdmittedDecision, RefusedDecision } from '../decision/decision.ts'
import { QuotaError } from '../errors/quota-error.ts'
import type { MaybePromise, SettleRequest } from '../store/quota-store.ts'

/** How a reservation ends: tokens to give back, and under which name. */
export type Settle = (giveBack: number, as: SettleRequest['as']) => MaybePromise<void>

/** A held reservation whose calls answer as fast as its store does. */
export interface MaybeReservation {
  commit(actual?: number): MaybePromise<void>
  cancel(): MaybePromise<void>
}

/** Tokens held under a decision; settled once. */
export function held(decision: AdmittedDecision, settle: Settle): MaybeReservation & HeldFacts {
  let settled = false

  function once(giveBack: number, as: SettleRequest['as']): MaybePromise<void> {
    if (settled) return
    settled = true
    // A full commit changes no counter, and only this handle could cancel: nothing to tell the store.
    if (as === 'committed' && giveBack === 0) return
    return settle(giveBack, as)
  }

  return {
    status: 'reserved',
    allowed: true,
    decision,
    commit(actual = decision.cost) {
      checkActual(actual, decision.cost)
      return once(decision.cost - actual, 'committed')
    },
    cancel: () => once(decision.cost, 'cancelled'),
  }
}

interface HeldFacts {
  readonly status: 'reserved'
  readonly allowed: true
  readonly decision: AdmittedDecision
}

/** The handle of a refused request. */
export function turnedAway(decision: RefusedDecision): MaybeReservation & {
  readonly status: 'refused'
  readonly allowed: false
  readonly decision: RefusedDecision
} {
  return {
    status: 'refused',
    allowed: false,
    decision,
    commit() {
      throw new QuotaError('commit_refused', `"${decision.operation}" was refused: there is nothing to commit`)
    },
    cancel: () => undefined,
  }
}

/** The handle of a request whose id somebody else holds, or that was cancelled; it settles nothing. */
export function repeated(status: 'duplicate' | 'cancelled'): MaybeReservation & {
  readonly status: 'duplicate' | 'cancelled'
  readonly allowed: false
} {
  return { status, allowed: false, commit: () => undefined, cancel: () => undefined }
}

/** The same handle with calls that always answer by a promise. */
export function awaited<T extends MaybeReservation>(reservation: T): Omit<T, 'commit' | 'cancel'> & PromisedCalls {
  return {
    ...reservation,
    commit: async (actual) => reservation.commit(actual),
    cancel: async () => reservation.cancel(),
  }
}

interface PromisedCalls {
  commit(actual?: number): Promise<void>
  cancel(): Promise<void>
}

function checkActual(actual: number, reserved: number): void {
  if (!Number.isSafeInteger(actual) || actual < 0) {
    throw new QuotaError('invalid_cost', `commit: expected a whole number of tokens, 0 or more, got ${String(actual)}`)
  }
  if (actual <= reserved) return
  const message = `commit: ${actual} tokens are more than the ${reserved} reserved; reserve the most the work may cost`
  throw new QuotaError('commit_above_reservation', message)
}
