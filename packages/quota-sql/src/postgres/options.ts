import type { Clock } from '@scoregw/quota'
import { aClock, type Checks, having, optional, optionsParser, wholeNumber, withDefault } from '@scoregw/quota/internal'
import { prefixCheck, schemaCheck } from '../schema/options.ts'
import type { PostgresPool } from './pool.ts'
import { CONNECT_TIMEOUT_MS } from './session.ts'

/** The options of {@link postgresStore}. */
export interface PostgresStoreOptions {
  /**
   * Provides connections: a `Pool` of pg. The counters use one at a time. Best give them their own pool with `pipeline:
   * true`, so that they wait for nothing else. You end the pool.
   */
  readonly pool: PostgresPool
  /**
   * The beginning of every table's name, the same as in the migrations.
   *
   * @default 'quota'
   */
  readonly prefix?: string | undefined
  /**
   * PostgreSQL only: the schema that has the tables, as in the migrations.
   *
   * @default the first one of the connection's `search_path`
   */
  readonly schema?: string | undefined
  /**
   * Deadline of a call in milliseconds, 10 to 60,000. After it the call rejects with `store_error`, and the failure
   * policy decides.
   *
   * @default 1,000
   */
  readonly deadlineMs?: number | undefined
  /**
   * Deadline of connecting in milliseconds, 10 to 60,000. Calls wait for the pool's first connection, as long as
   * nothing has failed; `deadlineMs` starts after that. To wait at startup instead, await `store.ready()`.
   *
   * @default 2,000
   */
  readonly connectTimeoutMs?: number | undefined
  /** Replaces the server's clock in tests. Every store on the same tables needs the same one. */
  readonly testClock?: Clock | undefined
}

/** Options after their check, defaults filled in. */
export type ParsedPostgresStoreOptions = PostgresStoreOptions & {
  readonly prefix: string
  readonly deadlineMs: number
  readonly connectTimeoutMs: number
}

/** Names that other libraries' stores use for these options. */
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
    schema: schemaCheck(),
    deadlineMs: withDefault(wholeNumber(10, 60_000, 'milliseconds'), 1_000),
    connectTimeoutMs: withDefault(wholeNumber(10, 60_000, 'milliseconds'), CONNECT_TIMEOUT_MS),
    testClock: optional(aClock()),
  }
}

/** pg can't read the numbers of binary answers as others do, and has no way to switch it off for a query. */
function poolFaults({ pool }: ParsedPostgresStoreOptions): { path: string; message: string }[] {
  if (pool.options?.binary !== true) return []
  return [{ path: 'pool', message: 'its answers are binary: give the counters a pool without `binary: true`' }]
}

/** @throws {QuotaError} `invalid_options` naming every fault */
export const parsePostgresStoreOptions: (options: unknown) => ParsedPostgresStoreOptions =
  /* @__PURE__ */ optionsParser('postgresStore()', checks, { words: WORDS, between: poolFaults })
