import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { quotaSchemaSql, sqliteStore, syncSqliteStore } from '@scoregw/quota-sql'
import Database from 'libsql'
import { RateLimiterSQLite } from 'rate-limiter-flexible'
import type { Decider } from '../deciders/decider.ts'
import { COST, flexibleOne, flexibleSix, type LimiterOptions, whenReady } from '../deciders/flexible.ts'
import { USUAL } from '../traffic/ordinary.ts'
import { deciderFor, type Traffic } from '../traffic/traffic.ts'

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
  const make = (options: LimiterOptions) =>
    whenReady(
      (ready) =>
        new RateLimiterSQLite({ ...options, storeClient, storeType: 'better-sqlite3', tableName: 'flexible' }, ready),
    )
  const [one, six] = [await flexibleOne(make), await flexibleSix(make)]
  const stop = (): void => undefined
  const store = sqliteStore({ database: files.withTables(), deadlineMs: 10_000 })
  const syncStore = syncSqliteStore({ database: files.withTables() })
  return [
    floor(files),
    await deciderFor(USUAL, { name: ON_SQLITE, store }),
    await deciderFor(USUAL, { name: 'quota on SQLite, answering at once', store: syncStore }),
    { name: 'rate-limiter-flexible on SQLite: one limit', admit: one, stop },
    { name: 'rate-limiter-flexible on SQLite: six limits, two unions', admit: six, stop },
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
  return Promise.all(
    traffic.map((each) => {
      const store = sqliteStore({ database: files.withTables(), deadlineMs: 10_000 })
      return deciderFor(each, { name: `quota on SQLite: ${each.name}`, store })
    }),
  )
}
