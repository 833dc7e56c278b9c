import { startPostgres } from '@scoregw/postgres-server'
import { migrateQuota, postgresStore, sqlSettings } from '@scoregw/quota-sql'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { dumpPostgres, loadPostgres } from '../sql-text.ts'
import { engineOf, type Place } from './place.ts'

/** A PostgreSQL server with the tables of `@scoregw/quota-sql`. */
export async function postgresPlace(): Promise<Place> {
  const server = await startPostgres()
  const url = await server.createDatabase()
  const closers: (() => Promise<void>)[] = []
  return {
    async open(policy, clock, process) {
      const pool = new pg.Pool({ connectionString: url, max: 4 })
      const db = new Kysely({ dialect: new PostgresDialect({ pool }) })
      await migrateQuota(db, { dialect: 'postgres', prefix: policy })
      const store = postgresStore({ pool, prefix: policy, deadlineMs: 10_000, testClock: clock })
      const settingsStore = sqlSettings({ db, prefix: policy, clock })
      const party = engineOf(policy, clock, process, { store, settingsStore })
      closers.push(async () => {
        await party.quota.close()
        await settingsStore.close()
        await db.destroy()
      })
      await store.ready()
      return party
    },
    dump: () => dumpPostgres(url),
    load: (stored) => loadPostgres(url, stored as string),
    async close() {
      await Promise.all(closers.map((close) => close()))
      await server.stop()
    },
  }
}
