import { quotaMigrations } from '@scoregw/quota-sql'
import { type Kysely, PostgresAdapter } from 'kysely'

/** The beginning of the names of the counters' tables. */
export const COUNTERS = 'counter'

/** What the tokens are counted in. */
export async function counters(db: Kysely<unknown>): Promise<void> {
  const dialect = db.getExecutor().adapter instanceof PostgresAdapter ? 'postgres' : 'sqlite'
  // The first format; a later one is a migration of its own.
  const [first] = Object.values(quotaMigrations({ dialect, prefix: COUNTERS }))
  await first?.up(db)
}
