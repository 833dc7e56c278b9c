import { openPostgres } from './postgres.ts'
import type { Db } from './schema.ts'
import { openSqlite } from './sqlite.ts'

export interface DatabaseOptions {
  /** PostgreSQL's address. It contains credentials: never show it. Absent: the embedded database. */
  readonly databaseUrl: string | undefined
  /** The embedded database's folder. */
  readonly dataDir: string
}

/** Opens the configured database. A new one gets its tables. */
export function openDatabase({ databaseUrl, dataDir }: DatabaseOptions): Promise<Db> {
  return databaseUrl === undefined ? openSqlite(dataDir) : openPostgres(databaseUrl)
}
