import { type Migration, Migrator } from 'kysely'
import { StartError } from '../start/start-error.ts'
import { tables } from './migrations/0001-tables.ts'
import type { Db } from './schema.ts'

/** In the order of their names. A database keeps the names that it has run: they are the version of its tables. */
const MIGRATIONS: Readonly<Record<string, Migration>> = { '0001-tables': { up: tables } }

/**
 * Creates the tables of a new database, all of them or none.
 *
 * @param isInTransaction whether the caller has begun a transaction with exclusive access to the database
 * @throws {StartError} if another version of the gateway made the tables
 */
export async function migrate(db: Db, isInTransaction: boolean): Promise<void> {
  const provider = { getMigrations: async () => ({ ...MIGRATIONS }) }
  const { error } = await new Migrator({ db, provider, disableTransactions: isInTransaction }).migrateToLatest()
  if (error === undefined) return
  if (error instanceof Error && /previously executed migration/.test(error.message)) {
    const mend =
      'was made by another version of the gateway; run that version, or name an empty database (docs/gateway/deployment.md#versions)'
    throw new StartError('the database', mend, error)
  }
  throw new Error('the database could not be migrated', { cause: error })
}
