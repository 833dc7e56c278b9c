import { type Checks, having, optionsParser } from '@scoregw/quota/options'
import type { QueryExecutorProvider } from 'kysely'
import { type ParsedWatchOptions, type WatchOptions, watchChecks, watchFaults } from '../watch/options.ts'

/** What {@link sqlFactor} takes. */
export interface SqlFactorOptions extends WatchOptions {
  /** A Kysely on the database that has the tables, of either dialect. */
  readonly db: QueryExecutorProvider
}

/** Options after their check, defaults filled in. */
export type ParsedSqlFactorOptions = SqlFactorOptions & ParsedWatchOptions

function checks(): Checks<ParsedSqlFactorOptions> {
  return { db: having<QueryExecutorProvider>(['getExecutor'], 'a Kysely'), ...watchChecks() }
}

/** @throws {QuotaError} `invalid_options` naming every fault */
export const parseSqlFactorOptions: (options: unknown) => ParsedSqlFactorOptions = /* @__PURE__ */ optionsParser(
  'sqlFactor()',
  checks,
  { between: watchFaults },
)
