/** What leases came to in one process, since it began; all in tokens but the counts. */
export interface LeaseReport {
  /** Leases that are held now. */
  readonly outstandingLeases: number
  /** Tokens of theirs that are not spent. */
  readonly idleTokens: number
  /** Calls of the shared layers' script. */
  readonly grants: number
  /** Requests that were decided on a lease, without a call the shared layers. */
  readonly localDecisions: number
  /** Tokens that stay debited though they were not spent: their return failed, or it is not known what became of them. */
  readonly strandedTokens: number
  /**
   * Of the window that refused last: tokens below its limit, or leased and perhaps not spent, at its first
   * refusal. `undefined` before one.
   */
  readonly underUseAtFirstDenial: number | undefined
  /** Most tokens that were seen above a limit, as after one was lowered. */
  readonly overshootTokens: number
  /**
   * Times that the rows that all subjects share were found gone before their windows had ended, as after `FLUSHALL` or the
   * loss of a server with its data: what was counted in them is forgotten, and may be admitted once more.
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

  /** As they are now. */
  seen(): Omit<LeaseReport, 'outstandingLeases' | 'idleTokens'> {
    const { grants, localDecisions, strandedTokens, underUseAtFirstDenial, overshootTokens, counterLosses } = this
    return { grants, localDecisions, strandedTokens, underUseAtFirstDenial, overshootTokens, counterLosses }
  }
}
