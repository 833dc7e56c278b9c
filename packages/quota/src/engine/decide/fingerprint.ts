/** Begins the fingerprint of a hold that has no id of the caller's. */
const HOLD_MARK = 'hold '

/** How fingerprints of an operation begin, before the text of a cost: of an id, and of a hold without one. */
export interface Uses {
  readonly id: string
  readonly hold: string
}

/** One for all reservations of an operation: records keep the text. */
export function usesOf(operation: string): Uses {
  return { id: `${operation}:`, hold: `${HOLD_MARK}${operation}:` }
}

/** The operation that a fingerprint is of. */
export function operationOf(fingerprint: string): string {
  const use = fingerprint.startsWith(HOLD_MARK) ? fingerprint.slice(HOLD_MARK.length) : fingerprint
  return use.slice(0, use.lastIndexOf(':'))
}
