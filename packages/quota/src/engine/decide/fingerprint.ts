/** Prefix of the fingerprint of a hold without a caller's id. */
const HOLD_MARK = 'hold '

/** Prefixes of an operation's fingerprints, before the cost: with an id, and for a hold without one. */
export interface Uses {
  readonly id: string
  readonly hold: string
}

/** Records keep these texts, so all reservations of an operation share one object. */
export function usesOf(operation: string): Uses {
  return { id: `${operation}:`, hold: `${HOLD_MARK}${operation}:` }
}

/** Returns the operation in a fingerprint. */
export function operationOf(fingerprint: string): string {
  const use = fingerprint.startsWith(HOLD_MARK) ? fingerprint.slice(HOLD_MARK.length) : fingerprint
  return use.slice(0, use.lastIndexOf(':'))
}
