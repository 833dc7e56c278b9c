import { postgresTests } from '@scoregw/postgres-server'
import { createQuota } from '@scoregw/quota'
import { scoreGatewayPolicy } from '@scoregw/quota/score-gateway'
import { describeSettingsStore, SETTINGS_STORE_CASES, type SettingsFactory } from '@scoregw/quota-testkit'
import { type Kysely, sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { postgresStore, quotaSchemaSql, sqlSettings } from '../src/index.ts'
import { TestDatabase } from './support/database.ts'
import { kyselyOnPool } from './support/pool.ts'
import { connectTo, kyselyOn } from './support/sqlite.ts'

const TABLES = ['quota_settings', 'quota_changes', 'quota_change_counter']

/** Two clients of the same new tables, as two processes have them. */
function factoryOn(open: () => Kysely<unknown>): SettingsFactory {
  let db: Kysely<unknown> | undefined
  return async () => {
    db ??= open()
    const admin = db
    const empty = async (): Promise<void> => {
      for (const table of TABLES.slice(0, 2)) await sql`delete from ${sql.table(table)}`.execute(admin)
      await sql`update quota_change_counter set last_seq = 0`.execute(admin)
    }
    await empty()
    const [store, peer] = [sqlSettings({ db, pollMs: 100 }), sqlSettings({ db, pollMs: 100 })]
    const kept = (name: string) => sql.table(`kept_${name}`)
    return {
      store,
      peer,
      capabilities: ['loss', 'backup'],
      loseData: empty,
      async backup() {
        for (const name of TABLES) {
          await sql`drop table if exists ${kept(name)}`.execute(admin)
          await sql`create table ${kept(name)} as select * from ${sql.table(name)}`.execute(admin)
        }
      },
      async restore() {
        await admin.transaction().execute(async (transaction) => {
          for (const name of TABLES) {
            await sql`delete from ${sql.table(name)}`.execute(transaction)
            await sql`insert into ${sql.table(name)} select * from ${kept(name)}`.execute(transaction)
          }
        })
      },
      async stop() {
        await Promise.all([store.close(), peer.close()])
      },
    }
  }
}

describe('settings in SQLite', () => {
  const cases = describeSettingsStore(
    { describe, it },
    factoryOn(() => {
      const database = connectTo(':memory:')
      database.exec(quotaSchemaSql({ dialect: 'sqlite' }))
      return kyselyOn(database)
    }),
  )

  it('the SQLite settings pass the conformance suite', () => expect(cases).toBe(SETTINGS_STORE_CASES.length))
})

describe.runIf(postgresTests)('settings in PostgreSQL', () => {
  const database = new TestDatabase()
  describeSettingsStore(
    { describe, it },
    factoryOn(() => kyselyOnPool(database.pool())),
  )

  it('settings that one process changed apply to every other process’s next decision', async () => {
    const db = kyselyOnPool(database.pool())
    const policy = scoreGatewayPolicy()
    const engine = () =>
      createQuota({
        policy,
        store: postgresStore({ pool: database.pool(), deadlineMs: 5_000 }),
        settingsStore: sqlSettings({ db }),
      })
    const [first, second] = [engine(), engine()]
    const ask = async (): Promise<boolean> => (await second.consume({ subject: 'u', operation: 'read' })).allowed
    expect(await ask()).toBe(true)
    const nothing = Object.fromEntries(policy.limits.map(({ name }) => [name, 0]))
    await first.settings.update({ mode: 'custom', custom: nothing })
    expect(await ask()).toBe(false)
    await first.settings.update({ mode: 'normal' })
    expect(await ask()).toBe(true)
    await Promise.all([first.close(), second.close()])
  })
})
