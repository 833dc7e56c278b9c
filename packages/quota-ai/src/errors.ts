import type { Counting, RefusedDecision } from '@scoregw/quota'
import { refusalMessage } from '@scoregw/quota/http'

/** A call of a model that a quota refuses: the model was not called, and nothing was charged. */
export class QuotaRefusedError<C extends Counting = Counting> extends Error {
  override readonly name = 'QuotaRefusedError'
  /** Why; `quotaExceededBody(error.decision)` is the body of a 429. */
  readonly decision: RefusedDecision<C>
  /** Milliseconds until the same call may be admitted; `null`: never, by these limits. */
  readonly retryAfterMs: number | null

  constructor(decision: RefusedDecision<C>) {
    super(refusalMessage(decision as RefusedDecision))
    this.decision = decision
    this.retryAfterMs = decision.retryable ? decision.retryAfterMs : null
  }
}

/** A call under an id that was charged before, or is another caller's: the model was not called. */
export class QuotaRepeatedError extends Error {
  override readonly name = 'QuotaRepeatedError'
  readonly id: string

  constructor(id: string) {
    super(`the call ${JSON.stringify(id)} was made before: its answer is with who made it`)
    this.id = id
  }
}
