import {
  type Check,
  type Checks,
  type Fault,
  having,
  optionsParser,
  textLike,
  withDefault,
} from '@scoregw/quota/internal'
import { isNodeRedis, type RedisClient } from '../connection/connection.ts'

/** Names that clients and other libraries' stores use for these options. */
export const WORDS: Readonly<Record<string, string>> = {
  redis: 'use `client`',
  storeClient: 'use `client`',
  sendCommand: 'use `client`, an ioredis or node-redis client',
  url: 'pass `client`: new Redis(url)',
  host: 'pass `client`: new Redis({ host, port })',
  port: 'pass `client`: new Redis({ host, port })',
  keyPrefix: 'use `prefix`',
  nameSpace: 'use `prefix`',
  timeout: 'use `deadlineMs`',
  commandTimeout: 'use `deadlineMs`',
}

/** Options of every store on Redis. */
export interface KeyOptions {
  readonly client: RedisClient
  readonly prefix: string
}

export function keyChecks(): Checks<KeyOptions> {
  return { client: clientCheck(), prefix: withDefault(prefixCheck(), 'quota') }
}

const TAKEN =
  'an ioredis client, new Redis(...) or new Cluster(...), ' +
  'or a node-redis client (5.12.1 or later) of one server, createClient(...)'

function clientCheck(): Check<RedisClient> {
  return having(['duplicate', 'defineCommand'], TAKEN, (client) => isNodeRedis(client) || isAddress(client))
}

function isAddress(client: object): boolean {
  return 'url' in client && 'token' in client
}

/** An HTTP address instead of a client gets its own message. */
export function clientFaults({ client }: KeyOptions): readonly Fault[] {
  const message =
    'expected a client with a connection; by HTTP only redisRestStore() of @scoregw/quota-redis/rest works'
  return isAddress(client) ? [{ path: 'client', message }] : []
}

/** Braces would end the hash tag that keeps a prefix's keys in one slot. */
export function prefixCheck(): Check<string> {
  return textLike(/^[^{}\p{C}]{1,64}$/u, '1 to 64 characters without braces or control characters')
}

/** Checks options with a client and a prefix. @param call for example `redisFactor()` */
export function keyOptionsParser(call: string): (options: unknown) => KeyOptions {
  return optionsParser(call, keyChecks, { words: WORDS, between: clientFaults })
}
