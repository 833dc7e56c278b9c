/** Begins what is not kept as it is. No user's id begins so. */
const MARK = '\u0001'
/** PostgreSQL has no text with these, and no database tells one half of a pair from another. */
const NOT_TEXT = /\0|\p{Surrogate}/u

/** A subject's key as a text column can hold it: different for different keys, and most as they are. */
export function keptKey(key: string): string {
  if (!key.startsWith(MARK) && !NOT_TEXT.test(key)) return key
  return `${MARK}${Buffer.from(key, 'utf16le').toString('hex')}`
}

/** The key that was kept. */
export function keyOf(kept: string): string {
  return kept.startsWith(MARK) ? Buffer.from(kept.slice(1), 'hex').toString('utf16le') : kept
}
