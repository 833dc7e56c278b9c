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
} from '@scoregw/quota/options'
import { systemClock } from '@scoregw/quota/store'
import { prefixCheck } from '../schema/options.ts'
import type { SqliteConnection, TransactionQueue } from './database.ts'

/** The options of {@link syncSqliteStore}. */
export interface SyncSqliteStoreOptions {
  /** The connection: that of better-sqlite3, libsql or `node:sqlite`. It stays the caller's to close. */
  readonly database: SqliteConnection
  /**
   * The beginning of every table's name, the same as of the migrations.
   * @default 'quota'
   */
  readonly prefix?: string | undefined
  /**
   * Where the time comes from.
   * @default the machine's clock
   */
  readonly clock?: Clock | undefined
}

/** The options of {@link sqliteStore}. */
export interface SqliteStoreOptions extends SyncSqliteStoreOptions {
  /**
   * The Kysely that works on the same connection, where there is one: counters then wait for its transactions, and it for
   * theirs.
   * @default the connection is the store's alone
   */
  readonly db?: TransactionQueue | undefined
  /**
   * How long a call may take, in milliseconds, 10 to 10,000: as long as another process may write. After it the call
   * rejects with `store_error`, and the engine answers by its failure policy.
   * @default 1000
   */
  readonly deadlineMs?: number | undefined
  /**
   * How durable charges are, where that differs from the connection's: `normal` outlives a kill of the
   * process, `full` a power cut as well, at the price of waiting for the disk.
   * @default as the connection has it
   */
  readonly synchronous?: 'normal' | 'full' | undefined
}

type ParsedSync = SyncSqliteStoreOptions & { readonly prefix: string; readonly clock: Clock }
/** Options after their check, defaults filled in. */
export type ParsedSqliteStoreOptions = ParsedSync & SqliteStoreOptions & { readonly deadlineMs: number }

/** Names of options of other libraries' stores. */
const WORDS: Readonly<Record<string, string>> = {
  storeClient: 'use `database`',
  client: 'use `database`',
  filename: 'pass `database`: new Database(filename)',
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
    deadlineMs: withDefault(wholeNumber(10, 10_000, 'milliseconds'), 1_000),
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
