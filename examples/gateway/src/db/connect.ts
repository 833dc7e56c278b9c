import type { Announce } from './migrations/migrate.ts'
import { openPostgres } from './postgres.ts'
import type { Db } from './schema.ts'
import { openSqlite } from './sqlite.ts'

export interface DatabaseOptions {
  /** PostgreSQL's address, with credentials: not to be shown; absent: the embedded database. */
  readonly databaseUrl: string | undefined
  /** Folder of the embedded database. */
  readonly dataDir: string
}

/**
 * Opens the database that the configuration names, at the newest schema.
 *
 * @param announce called before an upgrade of the schema loses something
 */
export function openDatabase({ databaseUrl, dataDir }: DatabaseOptions, announce?: Announce): Promise<Db> {
  return databaseUrl === undefined ? openSqlite(dataDir, announce) : openPostgres(databaseUrl, { announce })
}
