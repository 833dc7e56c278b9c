import type { QuotaErrorCode, Subject } from '@scoregw/quota'
import type { ModelNumbers } from './effective-limit.ts'
import type { ModelCalendar } from './model-cells.ts'
import type { ModelAmount, ModelCost } from './model-costs.ts'
import type { ModelDecision } from './model-decision.ts'

/** One request to the model. */
export interface ModelRequest {
  readonly subject: Subject
  readonly operation: string
  /** The cost, instead of the operation's price. Money is whole millionths. */
  readonly cost?: ModelCost | undefined
  readonly plan?: string | undefined
  /** Numbers of limits. */
  readonly limits?: ModelNumbers | undefined
}

/** A reservation request to the model. */
export interface ModelReserveRequest extends ModelRequest {
  readonly id?: string | undefined
  /** The lifetime of a hold. Absent: no hold. */
  readonly ttlMs?: number | undefined
}

/** The result of a reservation. */
export interface ModelReservation {
  readonly status: 'reserved' | 'resumed' | 'refused' | 'duplicate' | 'cancelled' | 'expired' | 'conflict'
  readonly decision?: ModelDecision | undefined
  /** When it expires. Present for a hold. */
  readonly endsAt?: number | undefined
}

/** The result of a call on a reservation: its value, or the code of its error. */
export type ModelAnswer<T> = { readonly value: T } | { readonly code: QuotaErrorCode }

/** The result of a commit. */
export interface ModelCommit {
  readonly charged: ModelAmount
  readonly uncharged: ModelAmount
}

/** The state shared by every model of one store. */
export interface ModelOptions {
  /** How long ids are remembered after their last use, in milliseconds. */
  readonly idTtlMs?: number | undefined
  /** The default lifetime of a hold, in milliseconds. */
  readonly holdTtlMs?: number | undefined
  /** The periods of calendar windows. */
  readonly calendar?: ModelCalendar | undefined
}
