import { join } from 'node:path'
import { postgresTests } from '@scoregw/postgres-server'
import { Kysely, Migrator, PostgresDialect, type SqliteDatabase, SqliteDialect, sql } from 'kysely'
import Database from 'libsql'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { MIGRATIONS } from '../src/db/migrations/migrate.ts'
import { tempDir, testGateway } from './support/gateway.ts'
import { postgresServer } from './support/postgres.ts'

/** Brings a database to what a version left that counted in texts, with two counters or none. */
async function asBefore(db: Kysely<unknown>, counters: number): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => ({ ...MIGRATIONS }) } })
  const { error } = await migrator.migrateTo('0016-upload-sessions')
  if (error !== undefined) throw error
  for (let n = 0; n < counters; n++) {
    await sql`insert into counter_rows values ('personal', 'read', ${`user-${n}`}, '[]', null)`.execute(db)
  }
  await db.destroy()
}

const warningsOf = (log: readonly string[]): string[] =>
  log
    .map((line) => JSON.parse(line) as { level: number; msg: string })
    .flatMap(({ level, msg }) => (level >= 40 ? [msg] : []))

const LOST = expect.stringContaining('this upgrade cannot carry on 2 counters of the version before')

describe('upgrades that lose counters', () => {
  it.each([
    [2, [LOST]],
    [0, []],
  ])('an upgrade of an embedded database with %s counters is announced: %s', async (counters, announced) => {
    const dataDir = tempDir()
    const file = new Database(join(dataDir, 'gateway.sqlite'))
    await asBefore(
      new Kysely({ dialect: new SqliteDialect({ database: file as unknown as SqliteDatabase }) }),
      counters,
    )
    const { log, stop } = await testGateway({ dataDir })
    expect(warningsOf(log)).toEqual(announced)
    await stop()
    const again = await testGateway({ dataDir })
    expect(warningsOf(again.log)).toEqual([])
  })

  it.runIf(postgresTests)('an upgrade on PostgreSQL is announced once', async () => {
    const postgres = await postgresServer()
    const url = await postgres.createDatabase()
    const pool = new pg.Pool({ connectionString: url, max: 1 })
    await asBefore(new Kysely({ dialect: new PostgresDialect({ pool }) }), 2)
    const env = { DATABASE_URL: url, QUOTA_STORE: 'postgres' }
    const { log, stop } = await testGateway({ env })
    expect(warningsOf(log)).toEqual([LOST])
    await stop()
    const again = await testGateway({ env })
    expect(warningsOf(again.log)).toEqual([])
  })
})
