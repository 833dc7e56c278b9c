import type { Clock } from '@scoregw/quota'
import { aClock, aFunction, type Checks, having, optional, optionsParser, withDefault } from '@scoregw/quota/options'
import { systemClock } from '@scoregw/quota/store'
import type { QueryExecutorProvider } from 'kysely'
import { type ParsedWatchOptions, type WatchOptions, watchChecks, watchFaults } from '../watch/options.ts'

/** What a Kysely has, as far as the settings need it. */
export interface SettingsDatabase<Transaction extends QueryExecutorProvider = QueryExecutorProvider>
  extends QueryExecutorProvider {
  transaction(): { execute<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> }
}

/** A write of settings. */
export interface SettingsWrite {
  /** Whose settings: a subject's of a layer; `undefined`: everybody's. */
  readonly subject: { readonly layer: string; readonly key: string } | undefined
  /** Who wrote them; `null`: not given. */
  readonly by: string | null
  /** When, epoch milliseconds. */
  readonly at: number
  /** Documents before and after; `null`: nothing stored. */
  readonly before: unknown
  readonly after: unknown
}

/** The options of {@link sqlSettings}. */
export interface SqlSettingsOptions<Transaction extends QueryExecutorProvider = QueryExecutorProvider>
  extends WatchOptions {
  /** A Kysely on the database that has the tables, of either dialect. */
  readonly db: SettingsDatabase<Transaction>
  /**
   * What the record of changes takes its times from.
   * @default the machine's clock
   */
  readonly clock?: Clock | undefined
  /**
   * Called at the end of each write's transaction: what it does there, for example for an audit, is committed with the change,
   * or neither is. When it rejects nothing is written, and the write rejects with the same. Writers of all processes wait
   * for it.
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
  { between: watchFaults },
)
