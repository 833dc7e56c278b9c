import type { QuotaErrorCode, Subject } from '@scoregw/quota'
import type { ModelCalendar } from './model-cells.ts'
import type { ModelDecision } from './model-decision.ts'

/** One request to the model. */
export interface ModelRequest {
  readonly subject: Subject
  readonly operation: string
  /** Tokens instead of the operation's price. */
  readonly cost?: number | undefined
  readonly plan?: string | undefined
}

/** A request of the model whose tokens are settled later. */
export interface ModelReserveRequest extends ModelRequest {
  readonly id?: string | undefined
  /** Makes it a hold. */
  readonly ttlMs?: number | undefined
}

/** What a reservation of the model came to. */
export interface ModelReservation {
  readonly status: 'reserved' | 'refused' | 'duplicate' | 'cancelled' | 'expired' | 'conflict'
  readonly decision?: ModelDecision | undefined
  /** Of a hold: when it ends. */
  readonly endsAt?: number | undefined
}

/** What a call on a reservation came to: its value, or the code of what it threw. */
export type ModelAnswer<T> = { readonly value: T } | { readonly code: QuotaErrorCode }

/** What a commit of the model came to, in tokens. */
export interface ModelCommit {
  readonly charged: number
  readonly uncharged: number
}

/** The state shared by every model of one store. */
export interface ModelOptions {
  /** How long ids are remembered after their last use, in milliseconds. */
  readonly idTtlMs?: number | undefined
  /** How long holds last that do not say so, in milliseconds. */
  readonly holdTtlMs?: number | undefined
  /** The periods of calendar windows. */
  readonly calendar?: ModelCalendar | undefined
}
