import type { AdmittedDecision, RefusedDecision } from '../decision/decision.ts'
import { QuotaError } from '../errors/quota-error.ts'
import { shown } from '../errors/shown.ts'
import { isNotDone } from '../store/not-done.ts'
import type { SettleRequest } from '../store/quota-store.ts'

/** How a reservation ends: tokens to give back, and under which name. */
type SettleCall<R> = (giveBack: number, as: SettleRequest['as']) => R

/** The calls of a handle, whichever way its store answers. */
interface HandleCalls<R> {
  commit(actual?: number): R
  cancel(): R
}

export type PendingReservation = HandleCalls<void | Promise<void>>

interface HeldFacts {
  readonly status: 'reserved'
  readonly allowed: true
  readonly decision: AdmittedDecision
}

/** Whether a settle that failed may be made again. */
export type MayRepeat = (error: unknown) => boolean

/** Under an id a repeat is harmless; without one it is only where nothing was done for certain. */
export function mayRepeat(hasId: boolean): MayRepeat {
  return (error) => hasId || isNotDone(error)
}

/** Tokens held under a decision, of a store that answers at once; settled once. */
export function heldNow(
  decision: AdmittedDecision,
  settle: SettleCall<void>,
  canRepeat: MayRepeat,
): HeldFacts & HandleCalls<void> {
  let settled: { readonly error?: unknown } | undefined

  function once(giveBack: number, as: SettleRequest['as']): void {
    if (settled !== undefined) {
      // As a promise would: what nobody knows the outcome of does not turn into a success.
      if ('error' in settled) throw settled.error
      return
    }
    settled = {}
    if (changesNothing(giveBack, as)) return
    try {
      settle(giveBack, as)
    } catch (error) {
      settled = canRepeat(error) ? undefined : { error }
      throw error
    }
  }

  return { ...factsOf(decision), ...callsOf(decision, once) }
}

/** The same of a store that answers later; calls while a settle is under way share its promise. */
export function heldLater(
  decision: AdmittedDecision,
  settle: SettleCall<Promise<void>>,
  canRepeat: MayRepeat,
): HeldFacts & HandleCalls<Promise<void>> {
  let settling: Promise<void> | undefined

  async function carryOut(giveBack: number, as: SettleRequest['as']): Promise<void> {
    if (!changesNothing(giveBack, as)) await settle(giveBack, as)
  }

  function once(giveBack: number, as: SettleRequest['as']): Promise<void> {
    if (settling !== undefined) return settling
    const mine = carryOut(giveBack, as)
    settling = mine
    mine.catch((error: unknown) => {
      if (canRepeat(error)) settling = undefined
    })
    return mine
  }

  const calls = callsOf(decision, once)
  return { ...factsOf(decision), commit: async (actual) => calls.commit(actual), cancel: async () => calls.cancel() }
}

/** A full commit changes no counter, and only this handle could cancel: nothing to tell the store. */
function changesNothing(giveBack: number, as: SettleRequest['as']): boolean {
  return as === 'committed' && giveBack === 0
}

function factsOf(decision: AdmittedDecision): HeldFacts {
  return { status: 'reserved', allowed: true, decision }
}

function callsOf<R>(decision: AdmittedDecision, once: SettleCall<R>): HandleCalls<R> {
  return {
    commit(actual = decision.cost) {
      checkActual(actual, decision.cost)
      return once(decision.cost - actual, 'committed')
    },
    cancel: () => once(decision.cost, 'cancelled'),
  }
}

/** The handle of a refused request. */
export function refusedReservation(decision: RefusedDecision): HandleCalls<void> & {
  readonly status: 'refused'
  readonly allowed: false
  readonly decision: RefusedDecision
} {
  return {
    status: 'refused',
    allowed: false,
    decision,
    commit() {
      throw new QuotaError('commit_refused', `"${decision.operation}" was refused: look at \`allowed\` before the work`)
    },
    cancel: () => undefined,
  }
}

/** The handle of a request whose id somebody else holds, or that was cancelled; it settles nothing. */
export function repeatedReservation(status: 'duplicate' | 'cancelled'): HandleCalls<void> & {
  readonly status: 'duplicate' | 'cancelled'
  readonly allowed: false
} {
  return { status, allowed: false, commit: () => undefined, cancel: () => undefined }
}

/** The same handle with calls that always answer by a promise. */
export function awaited<T extends PendingReservation>(
  reservation: T,
): Omit<T, 'commit' | 'cancel'> & HandleCalls<Promise<void>> {
  return {
    ...reservation,
    commit: async (actual) => reservation.commit(actual),
    cancel: async () => reservation.cancel(),
  }
}

function checkActual(actual: number, reserved: number): void {
  if (!Number.isSafeInteger(actual) || actual < 0) {
    throw new QuotaError('invalid_cost', `commit: expected a whole number of tokens, 0 or more, got ${shown(actual)}`)
  }
  if (actual <= reserved) return
  const message = `commit: ${actual} tokens are more than the ${reserved} reserved; reserve the most the work may cost`
  throw new QuotaError('commit_above_reservation', message)
}
