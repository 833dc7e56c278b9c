import { setImmediate } from 'node:timers/promises'
import { postgresTests } from '@scoregw/postgres-server'
import { createQuota, definePolicy } from '@scoregw/quota'
import type { QuotaStore } from '@scoregw/quota/store'
import { manualClock } from '@scoregw/quota-testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { postgresStore, quotaSchemaSql, sqliteStore, syncSqliteStore } from '../src/index.ts'
import { TestDatabase } from './support/database.ts'
import { connectTo } from './support/sqlite.ts'

interface Made {
  readonly store: QuotaStore
  /** Makes the record of an owner's hold one that cannot be read. */
  damage(owner: string): unknown
}

const DAMAGE = `update quota_ids set record = '{"state":"reserved"'`

function onSqlite(make: (options: never) => unknown) {
  return (clock: ReturnType<typeof manualClock>): Made => {
    const database = connectTo(':memory:')
    database.exec(quotaSchemaSql({ dialect: 'sqlite' }))
    const store = make({ database, clock } as never) as QuotaStore
    return { store, damage: (owner) => database.exec(`${DAMAGE} where owner like '%${owner}%'`) }
  }
}

const postgres = postgresTests ? new TestDatabase() : undefined

function onPostgres(clock: ReturnType<typeof manualClock>): Made {
  const pool = postgres!.pool()
  const store = postgresStore({ pool, testClock: clock, deadlineMs: 10_000 })
  onTestFinished(() => store.close())
  return { store, damage: (owner) => pool.query(`${DAMAGE} where owner like '%${owner}%'`) }
}

const STORES: readonly (readonly [string, (clock: ReturnType<typeof manualClock>) => Made])[] = [
  ['SQLite', onSqlite(sqliteStore as never)],
  ['SQLite, answering at once', onSqlite(syncSqliteStore as never)],
  ...(postgresTests ? ([['PostgreSQL', onPostgres]] as const) : []),
]

const policy = definePolicy({
  limits: {
    hourly: { by: 'user', limit: 100, per: '1h' },
    all: { shared: 'all', limit: 100, per: '1h' },
    running: { shared: 'all', concurrency: 7 },
  },
  operations: { chat: {} },
})

describe.each(STORES)('an unreadable hold on %s', (_, make) => {
  it('an unreadable hold is skipped by the sweep with one warning and removed by a cancel or reset', async () => {
    const clock = manualClock()
    const { store, damage } = make(clock)
    const quota = createQuota({ policy, store, clock })
    const reserve = (subject: string) => quota.reserve({ subject, operation: 'chat', id: 'job', ttlMs: 1_000 })
    const slots = async () => (await quota.status('x')).limits.running?.used
    const warnings: string[] = []
    const warned = (warning: Error & { code?: string }) => void warnings.push(String(warning.code))
    process.on('warning', warned)
    onTestFinished(() => void process.off('warning', warned))

    const broken = await reserve('broken')
    await reserve('bent')
    for (let user = 0; user < 5; user++) {
      clock.advance(1)
      await reserve(`u${user}`)
    }
    await damage('broken')
    await damage('bent')
    clock.advance(2_000)
    await quota.holds.sweep()
    await quota.holds.sweep()
    await setImmediate()
    expect(await slots()).toBe(2)
    expect(warnings).toEqual(['damaged_hold', 'damaged_hold'])

    await expect(reserve('broken')).rejects.toMatchObject({ cause: { code: 'damaged_row' } })
    await broken.cancel()
    await quota.reset('bent')
    clock.advance(600_000)
    for (const subject of ['broken', 'bent']) expect((await reserve(subject)).status).toBe('reserved')
  })
})
