import * as z from 'zod'

const DEFAULT_PORT = '6379'

function isRedisUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, pathname, search, hash, username, password } = new URL(text)
  const isPlain = search === '' && hash === '' && /^\/?\d{0,5}$/.test(pathname)
  // A user without a password is most often a password without its colon.
  const hasCredentialsInFull = username === '' || password !== ''
  const isServer = ['redis:', 'rediss:'].includes(protocol) && hostname !== ''
  return isServer && isPlain && hasCredentialsInFull && isDecodable(username) && isDecodable(password)
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/** Where a Redis or Valkey is: `redis://user:password@host:port/database`, or `rediss://` for TLS. */
export const redisUrl = z
  .string()
  .refine(isRedisUrl, 'expected redis://:password@host:port/database or rediss://..., password and database optional')

/** What may be shown of such an address: host and port, and the database if one is named. */
export function redisAddress(url: string): string {
  const { hostname, port, pathname } = new URL(url)
  return `${hostname}:${port || DEFAULT_PORT}${pathname.length > 1 ? pathname : ''}`
}
