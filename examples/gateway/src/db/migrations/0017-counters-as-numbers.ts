import { quotaMigrations } from '@scoregw/quota-sql'
import { type Kysely, PostgresAdapter } from 'kysely'
import { COUNTERS } from './0010-counters.ts'

/** Counters become numbers under one key. They restart; settings and everything else stay. */
export async function countersAsNumbers(db: Kysely<unknown>): Promise<void> {
  const dialect = db.getExecutor().adapter instanceof PostgresAdapter ? 'postgres' : 'sqlite'
  const second = Object.values(quotaMigrations({ dialect, prefix: COUNTERS }))[1]
  await second?.up(db)
}
