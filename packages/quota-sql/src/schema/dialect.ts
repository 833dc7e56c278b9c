import { type QueryExecutorProvider, sql } from 'kysely'
import { withoutPlugins } from './kysely.ts'
import type { SqlDialect } from './tables.ts'

/** How a Kysely writes a name and a value, by dialect. */
const WRITTEN: Readonly<Record<string, SqlDialect>> = { '"a" $1': 'postgres', '"a" ?': 'sqlite' }

/** The dialect of a Kysely; `undefined` if this package doesn't support it. */
export function dialectOf(db: QueryExecutorProvider): SqlDialect | undefined {
  return WRITTEN[sql`${sql.ref('a')} ${1}`.compile(withoutPlugins(db)).sql]
}
