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
} from '@scoregw/quota/options'
import { CONNECT_TIMEOUT_MS, type RedisClient } from '../connection/connection.ts'
import type { EvictionPolicy } from '../connection/eviction-policy.ts'
import { clientFaults, keyChecks, WORDS } from './key-options.ts'

/** The options of {@link redisStore}. */
export interface RedisStoreOptions {
  /**
   * Names the server or cluster; the store works on connections of its own and leaves this one alone. On a
   * cluster all keys of a prefix are on one server.
   */
  readonly client: RedisClient
  /**
   * The beginning of every key, the same as of the settings that go with it. The client's own `keyPrefix` is not used.
   * @default 'quota'
   */
  readonly prefix?: string | undefined
  /**
   * How long a call may take, in milliseconds, 10 to 1,000. After it the call rejects with `store_error`, and the engine
   * answers by its failure policy.
   * @default 150
   */
  readonly deadlineMs?: number | undefined
  /**
   * How long connecting may take, in milliseconds, 10 to 60,000. While the first connection is being made and nothing has
   * failed yet, calls wait for it, and `deadlineMs` counts from then on. `await store.ready()` before the first call waits
   * in their place.
   * @default 2,000
   */
  readonly connectTimeoutMs?: number | undefined
  /**
   * What to do about a server that may evict counters: `require-noeviction` refuses to work (`unsafe_eviction`), `warn`
   * works and says so.
   * @default 'require-noeviction'
   */
  readonly evictionPolicy?: EvictionPolicy | undefined
  /**
   * Receives warnings; `false` silences it.
   * @default the console
   */
  readonly logger?: QuotaLogger | false | undefined
  /** Stands in for the server's clock, in tests. Every store on the same keys needs the same one. */
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
    // Above a second a silent connection is given up before the deadline.
    deadlineMs: withDefault(wholeNumber(10, 1_000, 'milliseconds'), 150),
    connectTimeoutMs: withDefault(wholeNumber(10, 60_000, 'milliseconds'), CONNECT_TIMEOUT_MS),
    evictionPolicy: withDefault(oneOf<EvictionPolicy>('require-noeviction', 'warn'), 'require-noeviction'),
    logger: aLogger(),
    testClock: optional(aClock()),
  }
}

/** @throws {QuotaError} `invalid_options` naming every fault */
export const parseRedisStoreOptions: (options: unknown) => ParsedRedisStoreOptions = /* @__PURE__ */ optionsParser(
  'redisStore()',
  checks,
  { words: WORDS, between: clientFaults },
)

/** @throws {QuotaError} `invalid_options` naming every fault */
export const parseLeasedStoreOptions: (options: unknown) => ParsedRedisStoreOptions = /* @__PURE__ */ optionsParser(
  'leasedRedisStore()',
  checks,
  { words: WORDS, between: clientFaults },
)
