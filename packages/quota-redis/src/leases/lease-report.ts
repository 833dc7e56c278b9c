/** One process's use of leases since it started. Amounts are tokens, except for counts. */
export interface LeaseReport {
  /** How many leases are held now. */
  readonly outstandingLeases: number
  /** Their tokens that aren't spent yet. */
  readonly idleTokens: number
  /** Calls of the shared layers' script. */
  readonly grants: number
  /** Requests decided by a lease, without a call to the shared layers. */
  readonly localDecisions: number
  /** Tokens that stay debited although they weren't spent: their return failed, or its outcome is unknown. */
  readonly strandedTokens: number
  /**
   * For the window that last refused: tokens below its limit, or leased and perhaps unspent, when it first refused.
   * `undefined` before that.
   */
  readonly underUseAtFirstDenial: number | undefined
  /** The most tokens seen above a limit, for example after it was lowered. */
  readonly overshootTokens: number
  /**
   * How often shared rows were found missing before their windows ended, for example after `FLUSHALL` or the loss of a
   * server. What they had counted is lost and may be admitted again.
   */
  readonly counterLosses: number
}

/** The counters behind a {@link LeaseReport}. */
export class LeaseCounts {
  grants = 0
  localDecisions = 0
  strandedTokens = 0
  underUseAtFirstDenial: number | undefined
  overshootTokens = 0
  counterLosses = 0

  /** The counters now. */
  seen(): Omit<LeaseReport, 'outstandingLeases' | 'idleTokens'> {
    const { grants, localDecisions, strandedTokens, underUseAtFirstDenial, overshootTokens, counterLosses } = this
    return { grants, localDecisions, strandedTokens, underUseAtFirstDenial, overshootTokens, counterLosses }
  }
}
