import type { Clock } from '@scoregw/quota'
import { aClock, aFunction, type Checks, having, optional, optionsParser, withDefault } from '@scoregw/quota/internal'
import { systemClock } from '@scoregw/quota/store'
import type { QueryExecutorProvider } from 'kysely'
import { databaseFaults, type ParsedWatchOptions, type WatchOptions, watchChecks } from '../watch/watched.ts'

/** The members of a Kysely that the settings need. */
export interface SettingsDatabase<Transaction extends QueryExecutorProvider = QueryExecutorProvider>
  extends QueryExecutorProvider {
  transaction(): { execute<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> }
}

/** A write of settings. */
export interface SettingsWrite {
  /** The layer and subject; `undefined` for the settings of all subjects. */
  readonly subject: { readonly layer: string; readonly key: string } | undefined
  /** Who wrote them; `null` if not given. */
  readonly by: string | null
  /** When they were written, epoch milliseconds. */
  readonly at: number
  /** Documents before and after; `null` if nothing is stored. */
  readonly before: unknown
  readonly after: unknown
}

/** The options of {@link sqlSettings}. */
export interface SqlSettingsOptions<Transaction extends QueryExecutorProvider = QueryExecutorProvider>
  extends WatchOptions {
  /** A Kysely, of either dialect, on the database with the tables. */
  readonly db: SettingsDatabase<Transaction>
  /**
   * The clock for the record of changes.
   *
   * @default the machine's clock
   */
  readonly clock?: Clock | undefined
  /**
   * Called at the end of each write's transaction. What it writes there, for example an audit entry, is committed
   * together with the change. If it rejects, nothing is written, and the write rejects with its error. Writers of all
   * processes wait for it.
   */
  readonly onWrite?: ((transaction: Transaction, write: SettingsWrite) => Promise<void>) | undefined
}

/** Options after their check, defaults filled in. */
export type ParsedSqlSettingsOptions = SqlSettingsOptions & ParsedWatchOptions & { readonly clock: Clock }

function checks(): Checks<ParsedSqlSettingsOptions> {
  return {
    ...watchChecks(),
    db: having<SettingsDatabase>(['transaction', 'getExecutor'], 'a Kysely'),
    clock: withDefault(aClock(), systemClock),
    onWrite: optional(aFunction()),
  }
}

/** @throws {QuotaError} `invalid_options` naming every fault */
export const parseSqlSettingsOptions: (options: unknown) => ParsedSqlSettingsOptions = /* @__PURE__ */ optionsParser(
  'sqlSettings()',
  checks,
  { between: databaseFaults },
)
