import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgresTests } from '@scoregw/postgres-server'
import { createQuota, definePolicy, type QuotaStore } from '@scoregw/quota'
import { manualClock } from '@scoregw/quota-testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { postgresStore, quotaSchemaSql, sqliteStore } from '../src/index.ts'
import { postgresStore as oldPostgresStore, sqliteStore as oldSqliteStore } from './fixtures/version-e2afa9a1.js'
import { TestDatabase } from './support/database.ts'
import { connectTo } from './support/sqlite.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** A policy with a window of an hour, and buckets that the version before does not know. */
function policyWith(buckets: readonly string[]) {
  return definePolicy({
    windows: [...buckets.map((label) => ({ label, burst: 20 })), { label: '1h' }],
    categories: ['all'],
    layers: [{ name: 'user' }],
    operations: { go: { category: 'all', cost: 1 } },
    base: { user: { all: Object.fromEntries([...buckets.map((label) => [label, 100]), ['1h', 1_000]]) } },
  })
}

interface Opened {
  readonly stores: readonly [old: QuotaStore, present: QuotaStore]
  /** When rows may be deleted, epoch milliseconds; `null`: not before a version that knows all of their cells says when. */
  readonly ends: () => unknown
}

/** The version before, and this one with buckets, at work on one database. */
function both({ stores: [old, present] }: Opened) {
  const engine = (store: QuotaStore, buckets: readonly string[]) => {
    const quota = createQuota({ policy: policyWith(buckets), store, logger: false })
    closing.push(() => quota.close())
    const request = { subject: 'u', operation: 'go' } as const
    return {
      spend: (cost: number) => quota.consume({ ...request, cost }),
      hold: (cost: number) => quota.reserve({ ...request, cost, ttlMs: 60_000 }),
      used: async () =>
        Object.fromEntries((await quota.status('u')).windows.all.map((each) => [each.window, each.used])),
    }
  }
  return { old: engine(old, []), present: engine(present, ['1m', '1d']) }
}

function cases(open: (clock: ReturnType<typeof manualClock>) => Opened | Promise<Opened>): void {
  it('the previous version leaves an unknown bucket’s tokens and refill unchanged', async () => {
    const clock = manualClock()
    const { old, present } = both(await open(clock))
    expect((await present.spend(15)).allowed).toBe(true)
    expect((await old.spend(3)).allowed).toBe(true)
    expect(await present.used()).toEqual({ '1m': 15, '1d': 15, '1h': 18 })
    clock.advance(6_000)
    expect((await old.spend(1)).allowed).toBe(true)
    expect(await present.used()).toEqual({ '1m': 5, '1d': 15, '1h': 19 })
    expect((await present.spend(6)).allowed).toBe(false)
    expect((await present.spend(5)).allowed).toBe(true)
    expect(await old.used()).toEqual({ '1h': 24 })
  })

  it('the previous version keeps a row with an unknown bucket forever', async () => {
    const clock = manualClock()
    const opened = await open(clock)
    const { old, present } = both(opened)
    const twoDays = 2 * 86_400_000
    const startedAt = clock.now()
    await present.spend(20)
    expect(await opened.ends()).toBeGreaterThanOrEqual(startedAt + twoDays)
    clock.advance(2 * 3_600_000)
    await old.spend(1)
    expect(await opened.ends()).toBeNull()
    // 100 a day: 8 came back in two hours.
    expect(await present.used()).toEqual({ '1m': 0, '1d': 12, '1h': 1 })
    await present.spend(1)
    // PostgreSQL adds to a row and leaves its end as it is: it is kept longer.
    expect((await opened.ends()) ?? Number.POSITIVE_INFINITY).toBeGreaterThanOrEqual(startedAt + twoDays)
  })

  it('the previous version gives a hold’s tokens back to an unknown bucket', async () => {
    const clock = manualClock()
    const { old, present } = both(await open(clock))
    const held = await present.hold(12)
    await old.spend(2)
    expect(await present.used()).toEqual({ '1m': 12, '1d': 12, '1h': 14 })
    await held.cancel()
    expect(await present.used()).toEqual({ '1m': 0, '1d': 0, '1h': 2 })
  })
}

describe('the version before buckets and this one on one SQLite file', () => {
  cases((clock) => {
    const folder = mkdtempSync(join(tmpdir(), 'quota-versions-'))
    closing.push(() => rmSync(folder, { recursive: true, force: true }))
    const connect = () => {
      const database = connectTo(join(folder, 'quota.sqlite'))
      closing.push(() => database.close())
      return database
    }
    const admin = connect()
    admin.exec(quotaSchemaSql({ dialect: 'sqlite' }))
    return {
      stores: [oldSqliteStore({ database: connect(), clock }), sqliteStore({ database: connect(), clock })],
      ends: () => (admin.prepare('select ends_at from quota_rows').get() as { ends_at: unknown }).ends_at,
    }
  })
})

describe.runIf(postgresTests)('the version before buckets and this one on one PostgreSQL', () => {
  const database = new TestDatabase()
  cases(async (clock) => {
    const pool = database.pool()
    await pool.query('delete from quota_rows; delete from quota_ids; delete from quota_settings')
    const options = { testClock: clock, deadlineMs: 10_000 }
    const stores = [
      oldPostgresStore({ pool: database.pool(), ...options }),
      postgresStore({ pool: database.pool(), ...options }),
    ] as const
    await Promise.all(stores.map((store) => store.ready()))
    const ends = async (): Promise<unknown> => {
      const { rows } = await pool.query('select ends_at::float8 from quota_rows')
      return rows[0].ends_at
    }
    return { stores, ends }
  })
})
