import type { AdmittedDecision, RefusedDecision } from '../decision/decision.ts'
import type { WaitRefusal } from '../engine/events.ts'
import type { EmptyReservation, HeldReservation, RepeatedReservation, ReserveRequest } from '../engine/requests.ts'
import type { Counting, OneUnit } from '../policy/units.ts'
import type { Waits } from './options.ts'

/** A request that can wait. With the default operation, `request`, it needs no name. */
export type WaitRequest<Operation extends string = string, C extends Counting = OneUnit> = Waits &
  ([Operation] extends ['request']
    ? Omit<ReserveRequest<Operation, C>, 'operation'> & { readonly operation?: Operation | undefined }
    : ReserveRequest<Operation, C>)

/** Why a request wasn't admitted. */
export interface WaitRefused<C extends Counting = OneUnit> {
  readonly status: 'refused'
  readonly allowed: false
  readonly reason: WaitRefusal
  /** The engine's refusal. Absent for `queue_full`, and if only the order of the queue kept the request waiting. */
  readonly decision?: RefusedDecision<C> | undefined
  /** When to try again, in milliseconds, at least 1. */
  readonly retryAfterMs: number
}

/** A reservation from a queue. A refused one has the reason, and nothing to settle. */
export type WaitedReservation<C extends Counting = OneUnit> =
  | HeldReservation<C>
  | RepeatedReservation<C>
  | (WaitRefused<C> & EmptyReservation<C>)

/** The value of the work, or why it didn't run. */
export type WaitedRun<T, C extends Counting = OneUnit> =
  | { readonly allowed: true; readonly decision: AdmittedDecision<C>; readonly value: T }
  | WaitRefused<C>
  | { readonly allowed: false; readonly status: RepeatedReservation['status']; readonly decision?: undefined }
