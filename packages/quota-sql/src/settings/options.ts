import type { Clock } from '@scoregw/quota'
import { aClock, type Checks, having, optionsParser, wholeNumber, withDefault } from '@scoregw/quota/options'
import { systemClock } from '@scoregw/quota/store'
import type { QueryExecutorProvider } from 'kysely'
import { prefixCheck } from '../schema/options.ts'

/** What a Kysely has, as far as the settings need it. */
export interface SettingsDatabase extends QueryExecutorProvider {
  transaction(): { execute<T>(work: (transaction: QueryExecutorProvider) => Promise<T>): Promise<T> }
}

/** What {@link sqlSettings} takes. */
export interface SqlSettingsOptions {
  /** A Kysely on the database that has the tables, of either dialect. */
  readonly db: SettingsDatabase
  /**
   * The beginning of every table's name, the same as of the migrations and of the counters.
   * @default 'quota'
   */
  readonly prefix?: string | undefined
  /**
   * How often other processes' changes are looked for while somebody watches, in milliseconds, 10 to 1,000.
   * @default 250
   */
  readonly pollMs?: number | undefined
  /**
   * What the record of changes takes its times from.
   * @default the machine's clock
   */
  readonly clock?: Clock | undefined
}

/** Options after their check, defaults filled in. */
export type ParsedSqlSettingsOptions = SqlSettingsOptions & {
  readonly prefix: string
  readonly pollMs: number
  readonly clock: Clock
}

function checks(): Checks<ParsedSqlSettingsOptions> {
  return {
    db: having<SettingsDatabase>(['transaction', 'getExecutor'], 'a Kysely'),
    prefix: withDefault(prefixCheck(), 'quota'),
    pollMs: withDefault(wholeNumber(10, 1_000, 'milliseconds'), 250),
    clock: withDefault(aClock(), systemClock),
  }
}

/** @throws {QuotaError} `invalid_options` naming every fault */
export const parseSqlSettingsOptions: (options: unknown) => ParsedSqlSettingsOptions = /* @__PURE__ */ optionsParser(
  'sqlSettings()',
  checks,
)
