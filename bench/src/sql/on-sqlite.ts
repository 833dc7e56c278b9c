import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { quotaSchemaSql, sqliteStore, syncSqliteStore } from '@scoregw/quota-sql'
import Database from 'libsql'
import { type RateLimiterAbstract, RateLimiterSQLite } from 'rate-limiter-flexible'
import { COST, type LimiterOptions, oneLimit, quotaOn, type SqlDecider, sixLimits } from './decider.ts'

const FLOOR = 'SQLite: one prepared UPDATE of one counter'
export const ON_SQLITE = 'quota on SQLite: six counters'

/** All of them, the first the one to compare with; each on a file of its own, durable as far as a kill goes. */
export async function sqliteDeciders(): Promise<SqlDecider[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-sqlite-'))
  const databases: Database.Database[] = []
  const open = (name: string): Database.Database => {
    const database = new Database(join(folder, name))
    database.pragma('journal_mode = WAL')
    database.pragma('synchronous = NORMAL')
    databases.push(database)
    return database
  }
  const withTables = (name: string): Database.Database => {
    const database = open(name)
    database.exec(quotaSchemaSql({ dialect: 'sqlite' }))
    return database
  }
  const floor = open('floor')
  floor.exec('create table floor (key text primary key, points integer not null) without rowid')
  floor.exec("insert into floor values ('counter', 0)")
  const update = floor.prepare("update floor set points = points + ? where key = 'counter'")
  const flexible = open('flexible')
  // As better-sqlite3 has it: what libsql has besides would be taken for another client.
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
  const nothing = async (): Promise<void> => undefined
  return [
    { name: FLOOR, admit: async () => update.run(COST).changes === 1, stop: nothing },
    { name: ON_SQLITE, ...quotaOn(sqliteStore({ database: withTables('ours'), deadlineMs: 10_000 })) },
    { name: 'quota on SQLite, answering at once', ...quotaOn(syncSqliteStore({ database: withTables('sync') })) },
    { name: 'rate-limiter-flexible on SQLite: one limit', ...one, stop: nothing },
    {
      name: 'rate-limiter-flexible on SQLite: six limits, two unions',
      ...six,
      async stop() {
        for (const database of databases) database.close()
        rmSync(folder, { recursive: true, force: true })
      },
    },
  ]
}
