import type { AdmittedDecision, RefusedDecision } from '../decision/decision.ts'
import type { WaitRefusal } from '../engine/events.ts'
import type { EmptyReservation, HeldReservation, RepeatedReservation, ReserveRequest } from '../engine/requests.ts'
import type { Counting, OneUnit } from '../policy/units.ts'
import type { Waits } from './options.ts'

/** A request that can wait. Engines of `simpleQuota()` have one operation, which needs no name. */
export type WaitRequest<Operation extends string = string, C extends Counting = OneUnit> = Waits &
  ([Operation] extends ['request']
    ? Omit<ReserveRequest<Operation, C>, 'operation'> & { readonly operation?: Operation | undefined }
    : ReserveRequest<Operation, C>)

/** Why there was no admission. */
export interface WaitRefused<C extends Counting = OneUnit> {
  readonly status: 'refused'
  readonly allowed: false
  readonly reason: WaitRefusal
  /** The engine's refusal. Absent where only the order of the queue kept the request waiting, and for `queue_full`. */
  readonly decision?: RefusedDecision<C> | undefined
  /** When to try again, in milliseconds, at least 1. */
  readonly retryAfterMs: number
}

/** A reservation of a queue. A refused reservation says why; it has nothing to settle. */
export type WaitedReservation<C extends Counting = OneUnit> =
  | HeldReservation<C>
  | RepeatedReservation<C>
  | (WaitRefused<C> & EmptyReservation<C>)

/** The value of the work, or why there was none. */
export type WaitedRun<T, C extends Counting = OneUnit> =
  | { readonly allowed: true; readonly decision: AdmittedDecision<C>; readonly value: T }
  | WaitRefused<C>
  | { readonly allowed: false; readonly status: RepeatedReservation['status']; readonly decision?: undefined }
