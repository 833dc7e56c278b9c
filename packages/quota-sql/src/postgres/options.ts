import type { Clock } from '@scoregw/quota'
import { aClock, type Checks, having, optional, optionsParser, wholeNumber, withDefault } from '@scoregw/quota/options'
import { prefixCheck } from '../schema/options.ts'
import { CONNECT_TIMEOUT_MS } from './first-connection.ts'
import type { PostgresPool } from './pool.ts'

/** The options of {@link postgresStore}. */
export interface PostgresStoreOptions {
  /**
   * Where connections come from, a `Pool` of pg: the counters use one at a time. Best a pool of their own with
   * `pipeline: true`, where nothing else makes them wait. It stays the caller's to end.
   */
  readonly pool: PostgresPool
  /**
   * The beginning of every table's name, the same as of the migrations.
   * @default 'quota'
   */
  readonly prefix?: string | undefined
  /**
   * How long a call may take, in milliseconds, 10 to 10,000. After it the call rejects with `store_error`, and the engine
   * answers by its failure policy.
   * @default 250
   */
  readonly deadlineMs?: number | undefined
  /**
   * How long connecting may take, in milliseconds, 10 to 60,000. While the pool's first connection is being made and
   * nothing has failed yet, calls wait for it, and `deadlineMs` counts from then on. `await store.ready()` before the
   * first call waits in their place.
   * @default 2,000
   */
  readonly connectTimeoutMs?: number | undefined
  /** Stands in for the server's clock, in tests. Every store on the same tables needs the same one. */
  readonly testClock?: Clock | undefined
}

/** Options after their check, defaults filled in. */
export type ParsedPostgresStoreOptions = PostgresStoreOptions & {
  readonly prefix: string
  readonly deadlineMs: number
  readonly connectTimeoutMs: number
}

/** Names of options of other libraries' stores. */
const WORDS: Readonly<Record<string, string>> = {
  storeClient: 'use `pool`',
  client: 'use `pool`, a Pool of pg',
  connectionString: 'pass `pool`: new Pool({ connectionString })',
  url: 'pass `pool`: new Pool({ connectionString })',
  tableName: 'use `prefix`, the beginning of every name',
  timeout: 'use `deadlineMs`',
}

function checks(): Checks<ParsedPostgresStoreOptions> {
  return {
    pool: having<PostgresPool>(['connect'], 'a pool of connections, new Pool(...) of pg'),
    prefix: withDefault(prefixCheck(), 'quota'),
    deadlineMs: withDefault(wholeNumber(10, 10_000, 'milliseconds'), 250),
    connectTimeoutMs: withDefault(wholeNumber(10, 60_000, 'milliseconds'), CONNECT_TIMEOUT_MS),
    testClock: optional(aClock()),
  }
}

/** @throws {QuotaError} `invalid_options` naming every fault */
export const parsePostgresStoreOptions: (options: unknown) => ParsedPostgresStoreOptions =
  /* @__PURE__ */ optionsParser('postgresStore()', checks, { words: WORDS })
