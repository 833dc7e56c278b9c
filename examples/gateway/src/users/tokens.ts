import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import * as z from 'zod'

/** The prefix of all gateway tokens. */
export const TOKEN_PREFIX = 'gw_'

/** The label of the demo's credentials. They are deleted or replaced with the demo. */
export const DEMO_LABEL = 'demo'

/** Returns a new credential of 256 random bits. */
export function newToken(prefix: string = TOKEN_PREFIX): string {
  return `${prefix}${randomBytes(32).toString('base64url')}`
}

/** A shorter credential isn't random enough to show a part of it. */
const LEAST_SHOWN_OF = 16

/** The end of a credential, for people who have several. */
export function lastFour(credential: string): string {
  return credential.length < LEAST_SHOWN_OF ? '' : credential.slice(-4)
}

/** What lists show of every credential, beside its id and name. */
export const shownOfCredentials = {
  lastFour: z.string().describe('The last four characters; empty for a short one.'),
  createdAt: z.iso.datetime(),
  lastUsedAt: z.iso.datetime().nullable().describe('Up to ten minutes late; `null`: never.'),
  expiresAt: z.iso.datetime().nullable().describe('Set when it was rotated; `null`: never.'),
} satisfies z.ZodRawShape

/** A credential as it is stored, without its name and hash. Instants are epoch milliseconds. */
export interface ShownCredential {
  readonly id: string
  readonly lastFour: string
  readonly createdAt: number
  readonly lastUsedAt: number | null
  readonly expiresAt: number | null
}

/** The columns of {@link ShownCredential}. */
export const SHOWN_COLUMNS = [
  'id',
  'last_four as lastFour',
  'created_at as createdAt',
  'last_used_at as lastUsedAt',
  'expires_at as expiresAt',
] as const

/** A listed credential with its instants as text. */
export function withTexts<T extends ShownCredential>({ createdAt, lastUsedAt, expiresAt, ...rest }: T) {
  const textOf = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString())
  return {
    ...rest,
    createdAt: new Date(createdAt).toISOString(),
    lastUsedAt: textOf(lastUsedAt),
    expiresAt: textOf(expiresAt),
  }
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
