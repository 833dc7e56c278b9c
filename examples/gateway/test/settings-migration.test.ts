import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { manualClock } from '@scoregw/quota-testkit'
import { Kysely, Migrator, type SqliteDatabase, SqliteDialect } from 'kysely'
import Database from 'libsql'
import { expect, it } from 'vitest'
import { first } from '../src/db/migrations/0001-first.ts'
import type { Tables } from '../src/db/schema.ts'
import { openSqlite } from '../src/db/sqlite.ts'
import { SqlSettings } from '../src/quota/sql-settings.ts'
import { START, tempDir } from './support/gateway.ts'
import { closedInTheEnd } from './support/test-database.ts'

it('settings from before there were revisions have one each, and are what they were', async () => {
  const dataDir = join(tempDir(), 'old')
  mkdirSync(dataDir)
  const file = new Database(join(dataDir, 'gateway.sqlite'))
  const old = new Kysely<Tables>({ dialect: new SqliteDialect({ database: file as unknown as SqliteDatabase }) })
  const provider = { getMigrations: async () => ({ '0001-first': { up: first } }) }
  expect((await new Migrator({ db: old, provider }).migrateToLatest()).error).toBeUndefined()
  const rows = ['', 'a', 'b'].map((key) => {
    return { layer: key === '' ? '' : 'personal', key, version: 4, document: JSON.stringify({ of: key }) }
  })
  await old.insertInto('quota_settings').values(rows).execute()
  await old.destroy()

  const settings = await SqlSettings.open(await closedInTheEnd(openSqlite(dataDir)), manualClock(START))
  const read = [
    await settings.read(),
    await settings.readSubject('personal', 'a'),
    await settings.readSubject('personal', 'b'),
  ]
  const revision: unknown = expect.stringMatching(/^[\w-]{22}$/)
  expect(read).toEqual(['', 'a', 'b'].map((key) => ({ document: { of: key }, version: 4, revision })))
  expect(new Set(read.map((each) => each?.revision)).size).toBe(3)
  expect(await settings.write({ of: 'everybody' }, { ifRevision: read[0]?.revision })).toMatchObject({ version: 5 })
})
