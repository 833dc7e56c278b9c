import { type Checks, having, optionsParser, wholeNumber, withDefault } from '@scoregw/quota/options'
import type { QueryExecutorProvider } from 'kysely'
import { prefixCheck } from '../schema/options.ts'

/** What {@link sqlFactor} takes. */
export interface SqlFactorOptions {
  /** A Kysely on the database that has the tables, of either dialect. */
  readonly db: QueryExecutorProvider
  /**
   * The beginning of every table's name, the same as of the migrations.
   * @default 'quota'
   */
  readonly prefix?: string | undefined
  /**
   * How often it is looked whether another process has moved the factor while somebody watches, in milliseconds, 10 to
   * 1,000.
   * @default 250
   */
  readonly pollMs?: number | undefined
}

/** Options after their check, defaults filled in. */
export type ParsedSqlFactorOptions = SqlFactorOptions & { readonly prefix: string; readonly pollMs: number }

function checks(): Checks<ParsedSqlFactorOptions> {
  return {
    db: having<QueryExecutorProvider>(['getExecutor'], 'a Kysely'),
    prefix: withDefault(prefixCheck(), 'quota'),
    pollMs: withDefault(wholeNumber(10, 1_000, 'milliseconds'), 250),
  }
}

/** @throws {QuotaError} `invalid_options` naming every fault */
export const parseSqlFactorOptions: (options: unknown) => ParsedSqlFactorOptions = /* @__PURE__ */ optionsParser(
  'sqlFactor()',
  checks,
)
