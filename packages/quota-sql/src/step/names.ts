/** Begins a name that is not stored as it is. */
const MARK = '\u0001'
/** PostgreSQL has no text with these, and no database distinguishes one half of a pair from another. */
const NOT_TEXT = /\0|\p{Surrogate}/u

/** Text as a column can hold it: different for different texts, and most as they are. */
export function keptText(text: string): string {
  if (!text.startsWith(MARK) && !NOT_TEXT.test(text)) return text
  return `${MARK}${Buffer.from(text, 'utf16le').toString('hex')}`
}

/** The text that was kept. */
export function textOf(kept: string): string {
  return kept.startsWith(MARK) ? Buffer.from(kept.slice(1), 'hex').toString('utf16le') : kept
}
