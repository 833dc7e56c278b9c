import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** Text that every gateway token begins with. */
export const TOKEN_PREFIX = 'gw_'

/** Credentials with this label are the demo's, and go when the demo goes or gets others. */
export const DEMO_LABEL = 'demo'

/** A new credential of 256 random bits. */
export function newToken(prefix: string = TOKEN_PREFIX): string {
  return `${prefix}${randomBytes(32).toString('base64url')}`
}

/** The stored form of a token. A token is random, so that one round of SHA-256 gives nothing to guess at. */
export function tokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/**
 * Compares hashes of tokens in constant time. The index look-up leaks how much of a *hash* matches, of which an
 * attacker can choose no more than a few bits; the comparison leaks nothing further.
 */
export function isSameHash(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a), Buffer.from(b))
}
