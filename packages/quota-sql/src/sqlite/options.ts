import type { Clock } from '@scoregw/quota'
import {
  aClock,
  type Checks,
  having,
  oneOf,
  optional,
  optionsParser,
  wholeNumber,
  withDefault,
} from '@scoregw/quota/internal'
import { systemClock } from '@scoregw/quota/store'
import { prefixCheck } from '../schema/options.ts'
import type { SqliteConnection, TransactionQueue } from './file.ts'

/** The options of {@link syncSqliteStore}. */
export interface SyncSqliteStoreOptions {
  /** The connection, from better-sqlite3, libsql or `node:sqlite`. You close it. */
  readonly database: SqliteConnection
  /**
   * The beginning of every table's name. Use the same as for the migrations.
   *
   * @default 'quota'
   */
  readonly prefix?: string | undefined
  /**
   * The clock that decisions use.
   *
   * @default the machine's clock
   */
  readonly clock?: Clock | undefined
}

/** The options of {@link sqliteStore}. */
export interface SqliteStoreOptions extends SyncSqliteStoreOptions {
  /**
   * Your Kysely on the same connection, if you have one. The counters and its transactions then wait for each other.
   *
   * @default no one else uses the connection
   */
  readonly db?: TransactionQueue | undefined
  /**
   * Deadline of a call in milliseconds, 10 to 60,000, including the wait for other writing processes. After it the call
   * rejects with `store_error`, and the failure policy decides.
   *
   * @default 1000
   */
  readonly deadlineMs?: number | undefined
  /**
   * How durable charges are. `normal` survives a kill of the process. `full` also survives a power cut, but waits for
   * the disk.
   *
   * @default the connection's setting
   */
  readonly synchronous?: 'normal' | 'full' | undefined
}

type ParsedSync = SyncSqliteStoreOptions & { readonly prefix: string; readonly clock: Clock }
/** Options after their check, defaults filled in. */
export type ParsedSqliteStoreOptions = ParsedSync & SqliteStoreOptions & { readonly deadlineMs: number }

/** Names that other libraries' stores use for these options. */
const WORDS: Readonly<Record<string, string>> = {
  storeClient: 'use `database`',
  client: 'use `database`',
  filename: 'pass `database`: new Database(filename)',
  path: 'pass `database`: new Database(path)',
  tableName: 'use `prefix`, the beginning of every name',
  timeout: 'use `deadlineMs`',
}

function syncChecks(): Checks<ParsedSync> {
  return {
    database: having<SqliteConnection>(['prepare', 'exec'], 'a connection of better-sqlite3, libsql or node:sqlite'),
    prefix: withDefault(prefixCheck(), 'quota'),
    clock: withDefault(aClock(), systemClock),
  }
}

function checks(): Checks<ParsedSqliteStoreOptions> {
  return {
    ...syncChecks(),
    db: optional(having<TransactionQueue>(['connection'], 'a Kysely on the same connection')),
    deadlineMs: withDefault(wholeNumber(10, 60_000, 'milliseconds'), 1_000),
    synchronous: optional(oneOf<'normal' | 'full'>('normal', 'full')),
  }
}

/** @throws {QuotaError} `invalid_options` naming every fault */
export const parseSqliteStoreOptions: (options: unknown) => ParsedSqliteStoreOptions = /* @__PURE__ */ optionsParser(
  'sqliteStore()',
  checks,
  { words: WORDS },
)

/** @throws {QuotaError} `invalid_options` naming every fault */
export const parseSyncSqliteStoreOptions: (options: unknown) => ParsedSync = /* @__PURE__ */ optionsParser(
  'syncSqliteStore()',
  syncChecks,
  { words: WORDS },
)
