import type { Clock, QuotaLogger } from '@scoregw/quota'
import {
  aClock,
  aLogger,
  type Checks,
  oneOf,
  optional,
  optionsParser,
  wholeNumber,
  withDefault,
} from '@scoregw/quota/internal'
import { CONNECT_TIMEOUT_MS, type EvictionPolicy, type RedisClient } from '../connection/connection.ts'
import { clientFaults, keyChecks, WORDS } from './key-options.ts'

/** The options of {@link redisStore}. */
export interface RedisStoreOptions {
  /**
   * Your client for the server or cluster. The store copies its connection settings, opens its own connections, and
   * leaves this client alone. In a cluster all keys of a prefix are on one server.
   */
  readonly client: RedisClient
  /**
   * The beginning of every key. Use the same as for the settings. The client's own `keyPrefix` is ignored.
   *
   * @default 'quota'
   */
  readonly prefix?: string | undefined
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

/** Options after their check, defaults filled in. */
export type ParsedRedisStoreOptions = Omit<RedisStoreOptions, 'logger'> & {
  readonly logger: QuotaLogger
  readonly prefix: string
  readonly deadlineMs: number
  readonly connectTimeoutMs: number
  readonly evictionPolicy: EvictionPolicy
}

function checks(): Checks<ParsedRedisStoreOptions> {
  return {
    ...keyChecks(),
    deadlineMs: withDefault(wholeNumber(10, 60_000, 'milliseconds'), 1_000),
    connectTimeoutMs: withDefault(wholeNumber(10, 60_000, 'milliseconds'), CONNECT_TIMEOUT_MS),
    evictionPolicy: withDefault(oneOf<EvictionPolicy>('require-noeviction', 'warn'), 'require-noeviction'),
    logger: aLogger(),
    testClock: optional(aClock()),
  }
}

/** @param call for example `redisStore()` @throws {QuotaError} `invalid_options` naming every fault */
export function parseStoreOptions(call: string, options: unknown): ParsedRedisStoreOptions {
  return optionsParser(call, checks, { words: WORDS, between: clientFaults })(options)
}
