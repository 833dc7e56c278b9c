/** Prefix of the fingerprint of a hold without a caller's id. */
const HOLD_MARK = 'hold '

/** Prefixes of an operation's fingerprints, before the cost: with an id, and for a hold without one. */
export interface Uses {
  readonly id: string
  readonly hold: string
}

/** One object for all reservations of an operation, as records keep the text. */
export function usesOf(operation: string): Uses {
  return { id: `${operation}:`, hold: `${HOLD_MARK}${operation}:` }
}

/** The operation in a fingerprint. */
export function operationOf(fingerprint: string): string {
  const use = fingerprint.startsWith(HOLD_MARK) ? fingerprint.slice(HOLD_MARK.length) : fingerprint
  return use.slice(0, use.lastIndexOf(':'))
}
