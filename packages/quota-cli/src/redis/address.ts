import { usageError } from '../cli-error.ts'

/** A Redis address, parsed. */
export interface RedisAddress {
  readonly host: string
  readonly port: number
  readonly username: string | undefined
  readonly password: string | undefined
  readonly db: number
  readonly tls: boolean
  /** The address without credentials, for display. */
  readonly shown: string
}

const REMEDY = 'write redis://host:6379, rediss://user:password@host:6380/0; a password may be in REDIS_PASSWORD'

/**
 * @param env may contain `REDIS_PASSWORD`, which keeps the password off the command line
 * @throws {CliError} `usage`, without any part of an invalid address
 */
export function redisAddress(text: string, env: Readonly<Record<string, string | undefined>> = {}): RedisAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !['redis:', 'rediss:'].includes(url.protocol) || url.hostname === '') {
    throw usageError('not the address of a Redis', REMEDY)
  }
  const db = url.pathname.replace(/^\//, '')
  if (!/^\d{0,4}$/.test(db)) throw usageError('the path of the address is not a database number', REMEDY)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = url.port === '' ? 6379 : Number(url.port)
  return {
    host,
    port,
    username: decoded(url.username),
    password: decoded(url.password) ?? env.REDIS_PASSWORD,
    db: Number(db),
    tls: url.protocol === 'rediss:',
    shown: `${url.protocol}//${url.hostname}:${port}${db === '' ? '' : `/${db}`}`,
  }
}

function decoded(text: string): string | undefined {
  if (text === '') return undefined
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
