import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type PostgresServer, postgresTests, startPostgres } from '@scoregw/postgres-server'
import { sqlFactor, sqlOutcomes } from '@scoregw/quota-sql'
import { manualClock } from '@scoregw/quota-testkit'
import { Kysely, Migrator, PostgresDialect, type SqliteDatabase, SqliteDialect, sql } from 'kysely'
import Database from 'libsql'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { COUNTERS } from '../src/db/migrations/0010-counters.ts'
import type { FormerTables } from '../src/db/migrations/former-tables.ts'
import { MIGRATIONS } from '../src/db/migrations/migrate.ts'
import { openPostgres } from '../src/db/postgres.ts'
import type { Db } from '../src/db/schema.ts'
import { openSqlite } from '../src/db/sqlite.ts'
import { settingsOn } from '../src/quota/settings.ts'
import { START, tempDir } from './support/gateway.ts'
import { closedInTheEnd } from './support/test-database.ts'

const REVISION: unknown = expect.stringMatching(/^[\w-]{22}$/)
const MINUTE = Math.floor(START / 60_000)

/** Brings a database to the schema of then. */
async function migratedTo(last: string, db: Kysely<FormerTables>): Promise<void> {
  const names = Object.keys(MIGRATIONS).filter((name) => name <= last)
  const provider = { getMigrations: async () => Object.fromEntries(names.map((name) => [name, MIGRATIONS[name]!])) }
  expect((await new Migrator({ db, provider }).migrateToLatest()).error).toBeUndefined()
}

function oldSqlite(dataDir: string): Kysely<FormerTables> {
  mkdirSync(dataDir)
  const file = new Database(join(dataDir, 'gateway.sqlite'))
  return new Kysely({ dialect: new SqliteDialect({ database: file as unknown as SqliteDatabase }) })
}

it('settings without revisions get one each and keep their content', async () => {
  const dataDir = join(tempDir(), 'old')
  const old = oldSqlite(dataDir)
  await migratedTo('0001-first', old)
  const rows = ['', 'a', 'b'].map((key) => {
    return { layer: key === '' ? '' : 'personal', key, version: 4, document: JSON.stringify({ of: key }) }
  })
  await old.insertInto('quota_settings').values(rows).execute()
  await old.destroy()

  const settings = settingsOn(await closedInTheEnd(openSqlite(dataDir)), manualClock(START))
  const read = [
    await settings.read(),
    await settings.readSubject('personal', 'a'),
    await settings.readSubject('personal', 'b'),
  ]
  expect(read).toEqual(['', 'a', 'b'].map((key) => ({ document: { of: key }, version: 4, revision: REVISION })))
  expect(new Set(read.map((each) => each?.revision)).size).toBe(3)
  expect(await settings.write({ of: 'everybody' }, { ifRevision: read[0]?.revision })).toMatchObject({ version: 5 })
})

const OUTCOMES = { code_zero: 1, client_error: 2, server_error: 3, business_fail: 4, refused: 5, quota_unavailable: 6 }

/** What a gateway has that kept its settings in tables of its own. */
async function fill(old: Kysely<FormerTables>): Promise<void> {
  const kept = [
    { layer: '', key: '', version: 7, revision: 'A'.repeat(22), document: '{"mode":"lenient"}' },
    { layer: 'personal', key: '\u000161000000', version: 2, revision: 'B'.repeat(22), document: '{"bypass":[]}' },
    { layer: 'personal', key: 'gone', version: 3, revision: 'C'.repeat(22), document: null },
  ]
  await old.insertInto('quota_settings').values(kept).execute()
  const changes = Array.from({ length: 40 }, (_, index) => {
    const who = { changed_by: index % 2 === 0 ? null : 'admin', changed_at: START + index }
    return { seq: index + 1, layer: '', key: '', revision: `r${index}`, before: null, after: '{}', ...who }
  })
  await old.insertInto('quota_changes').values(changes).execute()
  await old.updateTable('quota_change_counter').set({ last_seq: 40 }).execute()
  const minutes = [MINUTE - 1, MINUTE].map((minute) => ({ minute, calls: 2 ** 40, ...OUTCOMES }))
  await old.insertInto('outcome_minutes').values(minutes).execute()
  const state = JSON.stringify({ factorHundredths: 90 })
  await old.insertInto('adaptive_factor').values({ id: 1, version: 9, minute: MINUTE, state }).execute()
}

async function expectAll(db: Db): Promise<void> {
  const settings = settingsOn(db, manualClock(START))
  expect(await settings.read()).toEqual({ document: { mode: 'lenient' }, version: 7, revision: 'A'.repeat(22) })
  expect(await settings.readSubject('personal', 'a\0')).toMatchObject({ version: 2, revision: 'B'.repeat(22) })
  expect(await settings.readSubject('personal', 'gone')).toBeUndefined()
  expect(await settings.writeSubject('personal', 'gone', {}, {})).toMatchObject({ version: 4 })
  const { rows } = await sql<{ seq: number; revision: string; changed_by: string | null }>`
    select seq, revision, changed_by from ${sql.table(`${COUNTERS}_changes`)} order by seq`.execute(db)
  expect([rows.length, rows[39], rows[40]?.seq]).toEqual([41, { seq: 40, revision: 'r39', changed_by: 'admin' }, 41])
  expect(await sqlOutcomes({ db, prefix: COUNTERS }).read(0, MINUTE + 1)).toEqual(
    [MINUTE - 1, MINUTE].map((minute) => {
      const failed = { codeZero: 1, clientError: 2, serverError: 3, businessFail: 4 }
      return { minute, calls: 2 ** 40, ...failed, refused: 5, quotaUnavailable: 6 }
    }),
  )
  const factor = { version: 9, minute: MINUTE, state: { factorHundredths: 90 } }
  expect(await sqlFactor({ db, prefix: COUNTERS }).read()).toEqual(factor)
  const names = (await db.introspection.getTables()).map(({ name }) => name)
  expect(names.filter((name) => /^(?:quota_(?:settings|change)|outcome_minutes|adaptive_)/.test(name))).toEqual([])
}

describe('settings, factor and outcomes in the gateway’s former tables', () => {
  it('the embedded database’s former tables are migrated', async () => {
    const dataDir = join(tempDir(), 'old')
    const old = oldSqlite(dataDir)
    await migratedTo('0010-counters', old)
    await fill(old)
    await old.destroy()
    await expectAll(await closedInTheEnd(openSqlite(dataDir)))
  })

  describe.runIf(postgresTests)('on PostgreSQL', () => {
    let postgres: PostgresServer
    beforeAll(async () => {
      postgres = await startPostgres()
    })
    afterAll(() => postgres.stop())

    it('a PostgreSQL database’s former tables are migrated', async () => {
      const url = await postgres.createDatabase()
      const pool = new pg.Pool({ connectionString: url, max: 1 })
      const old = new Kysely<FormerTables>({ dialect: new PostgresDialect({ pool }) })
      await migratedTo('0010-counters', old)
      await fill(old)
      await old.destroy()
      await expectAll(await closedInTheEnd(openPostgres(url)))
    })
  })
})
