import type { Decision } from '../decision/decision.ts'
import type { HeldTokens } from './metered-request.ts'

/** A decision of the engine, and the tokens it holds. */
export interface Taken {
  readonly decision: Decision
  readonly held: HeldTokens | undefined
}

/** The decision of a reservation, and what it holds. */
export function takenOf(reservation: { readonly decision?: Decision | undefined }): Taken {
  // Only a reservation with an id can lack a decision.
  const decision = reservation.decision as Decision
  return { decision, held: decision.allowed ? (reservation as unknown as HeldTokens) : undefined }
}

/** What can't be refunded. */
export function uncancellable(decision: Decision): Taken {
  return { decision, held: undefined }
}
