import { quotaMigrations } from '@scoregw/quota-sql'
import { type Kysely, PostgresAdapter } from 'kysely'

/** The prefix of the counters' tables. */
export const COUNTERS = 'counter'

/** The tables of the counters. */
export async function counters(db: Kysely<unknown>): Promise<void> {
  const dialect = db.getExecutor().adapter instanceof PostgresAdapter ? 'postgres' : 'sqlite'
  const [first] = Object.values(quotaMigrations({ dialect, prefix: COUNTERS }))
  await first?.up(db)
}
