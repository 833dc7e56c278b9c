import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgresTests } from '@scoregw/postgres-server'
import { createQuota, definePolicy } from '@scoregw/quota'
import type { FactorState } from '@scoregw/quota/adaptive'
import type { QuotaStore } from '@scoregw/quota/store'
import type { Kysely as Kysely28 } from 'kysely'
import { Kysely, PostgresDialect, type SqliteDatabase, SqliteDialect, sql } from 'kysely27'
import type pg from 'pg'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { TestDatabase } from './support/database.ts'
import { connectTo } from './support/sqlite.ts'

const policy = definePolicy({ limits: { hourly: { by: 'user', limit: 100, per: '1h' } }, operations: { read: {} } })

type Library = typeof import('../src/index.ts')

describe('kysely 0.27.0, the oldest that the package accepts', () => {
  let library: Library
  beforeEach(async () => {
    vi.resetModules()
    vi.doMock('kysely', () => import('kysely27'))
    library = await import('../src/index.ts')
    // What the package imports by that name.
    expect((await import('kysely')).sql).toBe(sql)
  })
  afterEach(() => {
    vi.doUnmock('kysely')
    vi.resetModules()
  })

  async function works(
    dialect: SqliteDialect | PostgresDialect,
    store: (library: Library) => QuotaStore,
  ): Promise<void> {
    const db = new Kysely<unknown>({ dialect }) as unknown as Kysely28<unknown>
    const isPostgres = dialect instanceof PostgresDialect
    await library.migrateQuota(db, { dialect: isPostgres ? 'postgres' : 'sqlite' })
    const settingsStore = library.sqlSettings({ db })
    const quota = createQuota({ policy, store: store(library), settingsStore, failurePolicy: { read: 'closed' } })
    onTestFinished(() => quota.close())
    for (const version of [1, 2]) {
      expect((await quota.settings.update({ limits: { hourly: version } })).settings.version).toBe(version)
    }
    expect(await quota.consume({ subject: 'u', operation: 'read' })).toMatchObject({
      allowed: true,
      settingsVersion: 2,
    })
    const factor = library.sqlFactor({ db })
    onTestFinished(() => factor.close())
    expect(await factor.compareAndSet(0, 1, {} as FactorState)).toBe(true)
    const outcomes = library.sqlOutcomes({ db })
    expect(await outcomes.read(0, 10)).toEqual([])
  }

  it('serves settings, factor and outcomes on SQLite', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'scoregw-peers-'))
    const database = connectTo(join(dir, 'quota.db'))
    onTestFinished(async () => {
      database.close()
      await rm(dir, { recursive: true })
    })
    const dialect = new SqliteDialect({ database: database as unknown as SqliteDatabase })
    await works(dialect, ({ sqliteStore }) => sqliteStore({ database }))
  })

  describe.runIf(postgresTests)('on PostgreSQL', () => {
    const database = new TestDatabase()

    it('serves settings, factor and outcomes on PostgreSQL', async () => {
      const pool: pg.Pool = database.pool()
      await works(new PostgresDialect({ pool }), ({ postgresStore }) => postgresStore({ pool }))
    })
  })
})
