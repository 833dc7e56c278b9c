import { sha256 } from './sha256.ts'
import type { Subject } from './units.ts'

/** The longest key that stores get as it is, in bytes of UTF-8. */
const MAX_BYTES = 200
/** A UTF-16 unit has at most three bytes in UTF-8, so shorter texts needn't be measured. */
const SURELY_SHORT = Math.floor(MAX_BYTES / 3)
/** The start of a hashed key. A caller's own key that starts like this is hashed too, so the two never collide. */
const MARK = 'sha256:'

/** Returns the key that counts for a text: itself, or its marked SHA-256 above 200 bytes. */
export function countedKey(text: string): string {
  if (!isHashed(text)) return text
  return `${MARK}${sha256(new TextEncoder().encode(text))}`
}

/** Returns the subject that counts. Long keys are hashed, in each layer on its own. */
export function countedSubject(subject: Subject): Subject {
  if (typeof subject === 'string') return countedKey(subject)
  for (const key in subject) {
    if (isHashed(subject[key] ?? ''))
      return Object.fromEntries(Object.entries(subject).map(([layer, text]) => [layer, text && countedKey(text)]))
  }
  return subject
}

function isHashed(text: string): boolean {
  if (text.startsWith(MARK)) return true
  if (text.length <= SURELY_SHORT) return false
  return text.length > MAX_BYTES || new TextEncoder().encode(text).length > MAX_BYTES
}
