import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createQuota } from '@scoregw/quota'
import type { QuotaStore } from '@scoregw/quota/store'
import { manualClock } from '@scoregw/quota-testkit'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { postgresStore, quotaSchemaSql, sqliteStore, syncSqliteStore } from '../src/index.ts'
import { connectTo } from './support/sqlite.ts'

const opened: { close(): unknown }[] = []
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'quota-places-'))
})
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close()
  rmSync(folder, { recursive: true, force: true })
})

function file(name: string, isNew = true) {
  const database = connectTo(name === ':memory:' ? name : join(folder, name))
  opened.push(database)
  if (isNew) database.exec(quotaSchemaSql({ dialect: 'sqlite' }))
  return database
}

function warningsOf(store: QuotaStore, limit: number): readonly string[] {
  const warnings: string[] = []
  const logger = { warn: (message: string) => void warnings.push(message), error: () => undefined }
  opened.push(createQuota({ limits: { api: { by: 'user', limit, per: '15m' } }, store, logger }))
  return warnings
}

describe('limiters on one database', () => {
  it('limiters conflict on connections to one SQLite file and not otherwise', () => {
    warningsOf(sqliteStore({ database: file('one') }), 100)
    expect(warningsOf(syncSqliteStore({ database: file('one', false) }), 5)).toEqual([
      expect.stringContaining('with the limits 100 and 5'),
    ])
    expect(warningsOf(sqliteStore({ database: file('two') }), 5)).toEqual([])
    expect(warningsOf(sqliteStore({ database: file(':memory:') }), 7)).toEqual([])
    expect(warningsOf(sqliteStore({ database: file(':memory:') }), 8)).toEqual([])
  })

  it('limiters conflict on pools of one PostgreSQL database and prefix and not otherwise', () => {
    const pool = (options: pg.PoolConfig) => {
      const made = new pg.Pool(options)
      opened.push({ close: () => made.end() })
      return made
    }
    const parts = { host: 'db.internal', port: 5433, database: 'app' }
    warningsOf(postgresStore({ pool: pool(parts) }), 100)
    const url = pool({ connectionString: 'postgres://me:secret@db.internal:5433/app' })
    const [warning] = warningsOf(postgresStore({ pool: url }), 5)
    expect(warning).toContain('with the limits 100 and 5')
    expect(warning).not.toContain('secret')
    expect(warningsOf(postgresStore({ pool: url, prefix: 'other' }), 5)).toEqual([])
    expect(warningsOf(postgresStore({ pool: pool({ ...parts, database: 'test' }) }), 5)).toEqual([])
  })
})

describe('the clock of an SQLite store', () => {
  const ONE = { hourly: { by: 'user', limit: 1, per: '1h' } } as const

  it('a custom clock is rejected for an SQLite file, which uses the machine’s clock', () => {
    const store = syncSqliteStore({ database: file('clock') })
    expect(() => createQuota({ limits: ONE, store, clock: manualClock() })).toThrow(
      expect.objectContaining({ code: 'invalid_options', message: expect.stringContaining("the machine's clock") }),
    )
  })

  it('an SQLite store with a custom clock gives it to the engine', () => {
    const clock = manualClock()
    const quota = createQuota({ limits: ONE, store: syncSqliteStore({ database: file('clock'), clock }) })
    expect(quota.consumeSync({ subject: 'u' }).allowed).toBe(true)
    clock.advance('1h')
    expect(quota.consumeSync({ subject: 'u' }).allowed).toBe(true)
  })
})
