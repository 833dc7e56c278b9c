import type { Counting, RefusedDecision } from '@scoregw/quota'
import { refusalMessage } from '@scoregw/quota/http'

/** Thrown when a quota refuses a model call. The model wasn't called, and nothing was charged. */
export class QuotaRefusedError<C extends Counting = Counting> extends Error {
  override readonly name = 'QuotaRefusedError'
  /** The refusal. Pass it to `quotaExceededBody()` for the body of a 429. */
  readonly decision: RefusedDecision<C>
  /** Milliseconds until the same call may be admitted; `null`: it can never be. */
  readonly retryAfterMs: number | null

  constructor(decision: RefusedDecision<C>) {
    super(refusalMessage(decision as RefusedDecision))
    this.decision = decision
    this.retryAfterMs = decision.retryable ? decision.retryAfterMs : null
  }
}

/** Thrown for a call whose id was already charged, or belongs to another caller. The model wasn't called. */
export class QuotaRepeatedError extends Error {
  override readonly name = 'QuotaRepeatedError'
  readonly id: string

  constructor(id: string) {
    super(`the call id ${JSON.stringify(id)} was already used; its answer went to the first caller`)
    this.id = id
  }
}
