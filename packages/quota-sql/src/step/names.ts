/** The first character of a name that is not stored unchanged. */
const MARK = '\u0001'
/** PostgreSQL has no text with these, and no database distinguishes lone surrogates. */
const NOT_TEXT = /\0|\p{Surrogate}/u

/** Text that a column can store. Different texts stay different, and most stay unchanged. */
export function keptText(text: string): string {
  if (!text.startsWith(MARK) && !NOT_TEXT.test(text)) return text
  return `${MARK}${Buffer.from(text, 'utf16le').toString('hex')}`
}

/** The original of a {@link keptText}. */
export function textOf(kept: string): string {
  return kept.startsWith(MARK) ? Buffer.from(kept.slice(1), 'hex').toString('utf16le') : kept
}
