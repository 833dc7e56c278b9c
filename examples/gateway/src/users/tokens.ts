import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** The prefix of all gateway tokens. */
export const TOKEN_PREFIX = 'gw_'

/** The label of the demo's credentials. They are deleted or replaced with the demo. */
export const DEMO_LABEL = 'demo'

/** Returns a new credential of 256 random bits. */
export function newToken(prefix: string = TOKEN_PREFIX): string {
  return `${prefix}${randomBytes(32).toString('base64url')}`
}

/** Returns the stored form of a token. Tokens are random, so one round of SHA-256 suffices. */
export function tokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/**
 * Compares token hashes in constant time. The index lookup leaks how much of a *hash* matches, but attackers can choose
 * only a few of its bits. The comparison leaks nothing more.
 */
export function isSameHash(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a), Buffer.from(b))
}
