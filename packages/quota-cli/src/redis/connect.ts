import { Cluster, Redis } from 'ioredis'
import { CliError, EXIT } from '../cli-error.ts'
import { plain } from '../text.ts'
import type { RedisAddress } from './address.ts'

/** A connection for looking: nothing is asked twice, and a server that is silent is told as one. */
export interface RedisConnection {
  /** To the server of the address. */
  readonly redis: Redis
  /** What a store takes: the same, or the whole cluster that it belongs to. */
  readonly client: Redis | Cluster
  /** Every server that may have keys. */
  servers(): readonly Redis[]
  close(): void
}

/**
 * @param patienceMs how long the server may take for anything, in milliseconds
 * @throws {CliError} `server`: what is wrong in one line, without credentials, and the mend
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
  // What ioredis tells by an event is told by the call, too.
  const heard: { error?: unknown } = {}
  redis.on('error', (error: unknown) => {
    heard.error ??= error
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
    throw connectionError(address, heard.error ?? error)
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

/** Parts of errors, what they mean, and what to do. */
const FAULTS: readonly (readonly [RegExp, string, string])[] = [
  [/ECONNREFUSED/, 'nothing listens there', 'start the server, or mend host and port'],
  [/ENOTFOUND|EAI_AGAIN/, 'there is no such host', 'mend the host'],
  [/NOAUTH|Authentication required/i, 'it wants a password', 'write redis://:password@host, or set REDIS_PASSWORD'],
  [/WRONGPASS|invalid password|invalid username/i, 'the password is wrong', 'mend the user or the password'],
  [/NOPERM/, 'the user may not ask what has to be asked', 'allow INFO, SCAN, TIME, EVALSHA and the keys of the prefix'],
  [/DB index is out of range/, 'it has no database of that number', 'mend the number behind the last /'],
  [
    /Protocol error|Unknown RESP|Parser|unexpected|Expected.*\$|ERR unknown command/i,
    'it answers, and is no Redis',
    'mend the port',
  ],
  [
    /wrong version number|SSL|TLS|certificate|EPROTO/i,
    'it does not speak TLS as asked',
    'write redis:// for a server without TLS, rediss:// with it',
  ],
  [/LOADING/, 'it is loading its data', 'ask again when it is done'],
  [
    /timed?\s?out|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH/i,
    'it does not answer',
    'look at the network, and whether this is a Redis',
  ],
  [
    /Connection is closed|ECONNRESET|EPIPE/,
    'it closed the connection',
    'look whether this is a Redis, and with or without TLS',
  ],
]

/** What went wrong with a server in one line. */
export function connectionError({ shown }: RedisAddress, error: unknown): CliError {
  const text = textOf(error)
  const [, what, mend] = FAULTS.find(([pattern]) => pattern.test(text)) ?? [undefined, plain(text, 120), undefined]
  return new CliError(`${shown}: ${what}`, { exitCode: EXIT.server, mend, cause: error })
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code, lastNodeError } = error as Error & { readonly code?: unknown; readonly lastNodeError?: unknown }
  return `${String(code ?? '')} ${error.message} ${lastNodeError instanceof Error ? lastNodeError.message : ''}`
}
