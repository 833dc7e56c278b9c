import { Cluster, Redis } from 'ioredis'
import { CliError, EXIT } from '../cli-error.ts'
import { plain } from '../text.ts'
import type { RedisAddress } from './address.ts'

/** A connection for reading. No command is retried, and a server that does not answer is reported. */
export interface RedisConnection {
  /** Connected to the server of the address. */
  readonly redis: Redis
  /** The client to pass to a store: the same one, or one of the whole cluster. */
  readonly client: Redis | Cluster
  /** Every server that may have keys. */
  servers(): readonly Redis[]
  close(): void
}

/**
 * @param patienceMs the deadline of every answer, in milliseconds
 * @throws {CliError} `server` with the fault in one line, without credentials, and the fix
 */
export async function connectRedis(address: RedisAddress, patienceMs: number): Promise<RedisConnection> {
  const options = {
    ...credentialsOf(address),
    host: address.host,
    port: address.port,
    db: address.db,
    lazyConnect: true,
    connectTimeout: patienceMs,
    commandTimeout: patienceMs,
    maxRetriesPerRequest: 0,
    enableReadyCheck: false,
    retryStrategy: () => null,
  }
  const redis = new Redis(options)
  // ioredis emits the cause as an event, and often hides it in the call's rejection.
  const failure: { error?: unknown } = {}
  redis.on('error', (error: unknown) => {
    failure.error ??= error
  })
  try {
    await redis.connect()
    const info = await redis.info('cluster')
    const client = /cluster_enabled:1/.test(info) ? await clusterOf(address, patienceMs) : redis
    return {
      redis,
      client,
      servers: () => (client instanceof Cluster ? client.nodes('master') : [redis]),
      close: () => {
        if (client !== redis) client.disconnect()
        redis.disconnect()
      },
    }
  } catch (error) {
    redis.disconnect()
    throw connectionError(address, failure.error ?? error)
  }
}

function credentialsOf({ username, password, tls }: RedisAddress): object {
  return {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(tls ? { tls: {} } : {}),
  }
}

async function clusterOf(address: RedisAddress, patienceMs: number): Promise<Cluster> {
  const { host, port } = address
  const cluster = new Cluster([{ host, port }], {
    lazyConnect: true,
    clusterRetryStrategy: () => null,
    redisOptions: { ...credentialsOf(address), connectTimeout: patienceMs, commandTimeout: patienceMs },
  })
  cluster.on('error', () => undefined)
  await cluster.connect()
  return cluster
}

/** Patterns of error messages, what each means, and how to fix it. */
const FAULTS: readonly (readonly [RegExp, string, string])[] = [
  [/ECONNREFUSED/, 'nothing listens there', 'start the server, or correct host and port'],
  [/ENOTFOUND|EAI_AGAIN/, 'unknown host', 'correct the host name'],
  [/NOAUTH|Authentication required/i, 'it requires a password', 'write redis://:password@host, or set REDIS_PASSWORD'],
  [/WRONGPASS|invalid password|invalid username/i, 'the password is wrong', 'correct the user or the password'],
  [/NOPERM/, 'the user lacks permissions', 'allow INFO, SCAN, TIME, EVALSHA and the keys of the prefix'],
  [/DB index is out of range/, 'it has no database of that number', 'correct the number behind the last /'],
  [
    /Protocol error|Unknown RESP|Parser|unexpected|Expected.*\$|ERR unknown command/i,
    'it answers, but is not a Redis',
    'correct the port',
  ],
  [
    /wrong version number|SSL|TLS|certificate|EPROTO/i,
    'the TLS handshake failed',
    'write redis:// for a server without TLS, rediss:// with it',
  ],
  [/LOADING/, 'it is loading its data', 'try again when it is done'],
  [
    /timed?\s?out|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH/i,
    'it does not answer',
    'check the network, and that this is a Redis',
  ],
  [
    /Connection is closed|ECONNRESET|EPIPE/,
    'it closed the connection',
    'check that this is a Redis, and whether it uses TLS',
  ],
]

/** A connection failure in one line. */
export function connectionError({ shown }: RedisAddress, error: unknown): CliError {
  const text = textOf(error)
  const [, what, remedy] = FAULTS.find(([pattern]) => pattern.test(text)) ?? [undefined, plain(text, 120), undefined]
  return new CliError(`${shown}: ${what}`, { exitCode: EXIT.server, remedy, cause: error })
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code, lastNodeError } = error as Error & { readonly code?: unknown; readonly lastNodeError?: unknown }
  return `${String(code ?? '')} ${error.message} ${lastNodeError instanceof Error ? lastNodeError.message : ''}`
}
