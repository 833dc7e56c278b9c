import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { quotaSchemaSql, sqliteStore, syncSqliteStore } from '@scoregw/quota-sql'
import Database from 'libsql'
import { type RateLimiterAbstract, RateLimiterSQLite } from 'rate-limiter-flexible'
import type { Decider } from '../deciders/decider.ts'
import { COST, type LimiterOptions, oneLimit, sixLimits } from '../deciders/flexible.ts'
import { USUAL } from '../traffic/ordinary.ts'
import { deciderFor, type Traffic } from '../traffic/traffic.ts'
import { quotasFor } from './decider.ts'

export const ON_SQLITE = 'quota on SQLite: six counters'

/** SQLite files in a temporary folder. They survive a kill. */
export class SqliteFiles {
  readonly #folder = mkdtempSync(join(tmpdir(), 'bench-sqlite-'))
  readonly #databases: Database.Database[] = []

  open(): Database.Database {
    const database = new Database(join(this.#folder, String(this.#databases.length)))
    database.pragma('journal_mode = WAL')
    database.pragma('synchronous = NORMAL')
    this.#databases.push(database)
    return database
  }

  withTables(): Database.Database {
    const database = this.open()
    database.exec(quotaSchemaSql({ dialect: 'sqlite' }))
    return database
  }

  remove(): void {
    for (const database of this.#databases) database.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** All deciders; the others are compared with the first. Each has a separate file. */
export async function sqliteDeciders(files: SqliteFiles): Promise<Decider[]> {
  const flexible = files.open()
  // Only the members that better-sqlite3 has. With libsql's others, it would be taken for another client.
  const storeClient = {
    prepare: (text: string) => flexible.prepare(text),
    exec: (text: string) => flexible.exec(text),
    transaction: (work: () => unknown) => flexible.transaction(work),
  }
  const make = (options: LimiterOptions): Promise<RateLimiterAbstract> =>
    new Promise((resolve, reject) => {
      const all = { ...options, storeClient, storeType: 'better-sqlite3', tableName: 'flexible' }
      const limiter: RateLimiterAbstract = new RateLimiterSQLite(all, (error?: Error) =>
        error === undefined || error === null ? resolve(limiter) : reject(error),
      )
    })
  const [one, six] = [await oneLimit(make), await sixLimits(make)]
  const stop = (): void => undefined
  const store = sqliteStore({ database: files.withTables(), deadlineMs: 10_000 })
  const syncStore = syncSqliteStore({ database: files.withTables() })
  return [
    floor(files),
    await deciderFor(USUAL, ON_SQLITE, store),
    await deciderFor(USUAL, 'quota on SQLite, answering at once', syncStore),
    { name: 'rate-limiter-flexible on SQLite: one limit', ...one, stop },
    { name: 'rate-limiter-flexible on SQLite: six limits, two unions', ...six, stop },
  ]
}

export function floor(files: SqliteFiles): Decider {
  const database = files.open()
  database.exec('create table floor (key text primary key, points integer not null) without rowid')
  database.exec("insert into floor values ('counter', 0)")
  const update = database.prepare("update floor set points = points + ? where key = 'counter'")
  return {
    name: 'SQLite: one prepared UPDATE of one counter',
    admit: async () => update.run(COST).changes === 1,
    stop: () => undefined,
  }
}

/** An engine for each traffic, on a separate file. */
export function quotasOn(files: SqliteFiles, traffic: readonly Traffic[]): Promise<Decider[]> {
  return quotasFor(traffic, 'SQLite', () => sqliteStore({ database: files.withTables(), deadlineMs: 10_000 }))
}
