import { migrateQuota, sqliteStore, sqlSettings } from '@scoregw/quota-sql'
import { Kysely, type SqliteDatabase, SqliteDialect } from 'kysely'
import Database from 'libsql'
import { dumpSqlite } from '../sql-text.ts'
import { engineOf, type Place } from './place.ts'

/** An SQLite database with the tables of `@scoregw/quota-sql`. */
export async function sqlitePlace(): Promise<Place> {
  const database = new Database(':memory:')
  const db = new Kysely({ dialect: new SqliteDialect({ database: database as unknown as SqliteDatabase }) })
  const closers: (() => Promise<void>)[] = []
  return {
    async open(policy, clock, process) {
      await migrateQuota(db, { dialect: 'sqlite', prefix: policy })
      const store = sqliteStore({ database, db, prefix: policy, clock })
      const settingsStore = sqlSettings({ db, prefix: policy, clock })
      const party = engineOf(policy, clock, process, { store, settingsStore })
      closers.push(async () => {
        await party.quota.close()
        await settingsStore.close()
      })
      return party
    },
    dump: async () => dumpSqlite(database),
    load: async (stored) => void database.exec(stored as string),
    async close() {
      for (const close of closers) await close()
      await db.destroy()
    },
  }
}
