import type { Clock, QuotaLogger } from '@scoregw/quota'
import {
  aClock,
  aLogger,
  type Check,
  type Checks,
  type Fault,
  having,
  oneOf,
  optional,
  optionsParser,
  textLike,
  wholeNumber,
  withDefault,
} from '@scoregw/quota/internal'
import { CONNECT_TIMEOUT_MS, type EvictionPolicy, isNodeRedis, type RedisClient } from '../connection/connection.ts'

/** Options of every store on Redis. */
export interface ClientOptions {
  /**
   * Your client for the server or cluster. The store copies its connection settings, opens its own connections, and
   * leaves this client alone. In a cluster all keys of a prefix are on one server.
   */
  readonly client: RedisClient
  /**
   * The beginning of every key. Use the same for counters and settings. The client's own `keyPrefix` is ignored.
   *
   * @default 'quota'
   */
  readonly prefix?: string | undefined
}

/** The options of {@link redisStore}. */
export interface RedisStoreOptions extends ClientOptions {
  /**
   * Deadline of a call in milliseconds, 10 to 60,000. After it the call rejects with `store_error`, and the failure
   * policy decides.
   *
   * @default 1,000
   */
  readonly deadlineMs?: number | undefined
  /**
   * Deadline of connecting in milliseconds, 10 to 60,000. Calls wait for the first connection, as long as nothing has
   * failed; `deadlineMs` starts after that. To wait at startup instead, await `store.ready()`.
   *
   * @default 2,000
   */
  readonly connectTimeoutMs?: number | undefined
  /**
   * The reaction to a server that may evict counters: `require-noeviction` refuses to work (`unsafe_eviction`), `warn` logs
   * a warning and works.
   *
   * @default 'require-noeviction'
   */
  readonly evictionPolicy?: EvictionPolicy | undefined
  /**
   * Receives warnings; `false` silences it.
   *
   * @default the console
   */
  readonly logger?: QuotaLogger | false | undefined
  /** Replaces the server's clock in tests. Every store on the same keys needs the same one. */
  readonly testClock?: Clock | undefined
}

/** Options of {@link redisSettings}, {@link redisBroadcast} and {@link redisFactor}. */
export interface RedisSettingsOptions extends ClientOptions {
  /**
   * Receives warnings; `false` silences it.
   *
   * @default the console
   */
  readonly logger?: QuotaLogger | false | undefined
}

// Checks --------------------------------------------------------------------------------------------------------------

type KeyOptions = ClientOptions & { readonly prefix: string }

type ParsedSettingsOptions = KeyOptions & { readonly logger: QuotaLogger }

/** Options after their check, defaults filled in. */
export type ParsedRedisStoreOptions = Omit<RedisStoreOptions, 'logger'> &
  ParsedSettingsOptions & {
    readonly deadlineMs: number
    readonly connectTimeoutMs: number
    readonly evictionPolicy: EvictionPolicy
  }

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

function keyChecks(): Checks<KeyOptions> {
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
function clientFaults({ client }: KeyOptions): readonly Fault[] {
  const message =
    'expected a client with a connection; by HTTP only redisRestStore() of @scoregw/quota-redis/rest works'
  return isAddress(client) ? [{ path: 'client', message }] : []
}

/** Braces would end the hash tag that keeps a prefix's keys in one slot. */
export function prefixCheck(): Check<string> {
  return textLike(/^[^{}\p{C}]{1,64}$/u, '1 to 64 characters without braces or control characters')
}

/** Checks options with a client and a prefix. @param call for example `redisOutcomes()` */
export function keyOptionsParser(call: string): (options: unknown) => KeyOptions {
  return optionsParser(call, keyChecks, { words: WORDS, between: clientFaults })
}

/** Checks options of stores that announce changes. @param call for example `redisSettings()` */
export function settingsOptionsParser(call: string): (options: unknown) => ParsedSettingsOptions {
  return optionsParser(call, settingsChecks, { words: WORDS, between: clientFaults })
}

/** @param call for example `redisStore()` @throws {QuotaError} `invalid_options` naming every fault */
export function parseStoreOptions(call: string, options: unknown): ParsedRedisStoreOptions {
  return optionsParser(call, storeChecks, { words: WORDS, between: clientFaults })(options)
}

function settingsChecks(): Checks<ParsedSettingsOptions> {
  return { ...keyChecks(), logger: aLogger() }
}

function storeChecks(): Checks<ParsedRedisStoreOptions> {
  return {
    ...settingsChecks(),
    deadlineMs: withDefault(wholeNumber(10, 60_000, 'milliseconds'), 1_000),
    connectTimeoutMs: withDefault(wholeNumber(10, 60_000, 'milliseconds'), CONNECT_TIMEOUT_MS),
    evictionPolicy: withDefault(oneOf<EvictionPolicy>('require-noeviction', 'warn'), 'require-noeviction'),
    testClock: optional(aClock()),
  }
}
