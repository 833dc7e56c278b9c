import type { Clock } from '@scoregw/quota'
import * as z from 'zod'
import type { RedisClient } from '../client/client-types.ts'
import type { EvictionPolicy, RedisLogger } from '../client/eviction-policy.ts'
import { clientOption, parseOptions, prefixOption } from '../client/options.ts'

/** What {@link redisStore} takes. */
export interface RedisStoreOptions {
  /**
   * Tells which server, or which cluster; the store works on connections of its own and leaves this one alone. On a
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
   * What to do about a server that may evict counters: `require-noeviction` refuses to work (`unsafe_eviction`), `warn`
   * works and says so.
   * @default 'require-noeviction'
   */
  readonly evictionPolicy?: EvictionPolicy | undefined
  /**
   * Where warnings go.
   * @default `process.emitWarning`
   */
  readonly logger?: RedisLogger | undefined
  /** Stands in for the server's clock, in tests. Every store on the same keys needs the same one. */
  readonly testClock?: Clock | undefined
}

/** Options after their check, defaults filled in. */
export type ParsedRedisStoreOptions = RedisStoreOptions & {
  readonly prefix: string
  readonly deadlineMs: number
  readonly evictionPolicy: EvictionPolicy
}

function having<T>(method: keyof T & string, error: string): z.ZodType<T> {
  return z.custom<T>((value) => typeof (value as Record<string, unknown> | undefined)?.[method] === 'function', {
    error,
  })
}

const schema: z.ZodType<ParsedRedisStoreOptions> = z.strictObject({
  client: clientOption,
  prefix: prefixOption.default('quota'),
  // Above a second a silent line is given up before the deadline.
  deadlineMs: z.int().min(10).max(1_000).default(150),
  evictionPolicy: z
    .enum(['require-noeviction', 'warn'], { error: 'expected require-noeviction or warn' })
    .default('require-noeviction'),
  logger: having<RedisLogger>('warn', 'expected a logger: an object with warn()').optional(),
  testClock: having<Clock>('now', 'expected a clock: an object with now(), epoch milliseconds').optional(),
})

/** @throws {QuotaError} `invalid_options` naming every fault */
export function parseRedisStoreOptions(options: RedisStoreOptions): ParsedRedisStoreOptions {
  return parseOptions('redisStore()', schema, options)
}
