import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgresTests } from '@scoregw/postgres-server'
import { createQuota, definePolicy } from '@scoregw/quota'
import type { QuotaStore } from '@scoregw/quota/store'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { migrateQuota, postgresStore, sqliteStore, sqlSettings } from '../src/index.ts'
import { TestDatabase } from './support/database.ts'
import { kyselyOnPool } from './support/pool.ts'
import { connectTo, kyselyOn } from './support/sqlite.ts'

const policy = definePolicy({ limits: { hourly: { by: 'user', limit: 100, per: '1h' } }, operations: { read: {} } })
const request = { subject: 'u', operation: 'read' } as const

async function settlesMeanwhile(store: QuotaStore, settingsStore: ReturnType<typeof sqlSettings>): Promise<void> {
  const quota = createQuota({ policy, store, settingsStore, failurePolicy: { read: 'closed' }, logger: false })
  onTestFinished(() => quota.close())
  await quota.ready()
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  for (let time = 0; time < 2; time++) {
    const many = await Promise.all(Array.from({ length: 5 }, () => quota.consume(request)))
    expect(many.every(({ allowed }) => allowed)).toBe(true)
    await (await quota.reserve({ ...request, id: `id${time}` })).cancel()
    await quota.settings.update({ mode: 'lenient' })
    expect((await quota.status('u')).subject).toBe('u')
    vi.useRealTimers()
  }
}

describe('a test that replaces the timers', () => {
  it('calls on SQLite settle before, meanwhile and afterwards', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'scoregw-fake-'))
    const database = connectTo(join(dir, 'quota.db'))
    onTestFinished(async () => {
      database.close()
      await rm(dir, { recursive: true })
    })
    const db = kyselyOn(database)
    await migrateQuota(db, { dialect: 'sqlite' })
    await settlesMeanwhile(sqliteStore({ database }), sqlSettings({ db }))
  })

  describe.runIf(postgresTests)('on PostgreSQL', () => {
    const database = new TestDatabase()

    it('calls on PostgreSQL settle before, meanwhile and afterwards', async () => {
      const pool = database.pool()
      const db = kyselyOnPool(pool)
      await settlesMeanwhile(postgresStore({ pool }), sqlSettings({ db }))
    })

    it('a lock that is held meanwhile ends calls at their deadline', async () => {
      const pool = database.pool()
      const quota = createQuota({
        policy,
        store: postgresStore({ pool, deadlineMs: 500 }),
        failurePolicy: { read: 'closed' },
        logger: false,
      })
      onTestFinished(() => quota.close())
      await quota.consume(request)
      const blocker = await pool.connect()
      onTestFinished(() => blocker.release(true))
      await blocker.query('begin; lock table quota_rows in access exclusive mode')
      vi.useFakeTimers()
      onTestFinished(() => void vi.useRealTimers())
      await expect(quota.consume(request)).rejects.toMatchObject({ code: 'quota_unavailable' })
    })
  })
})
