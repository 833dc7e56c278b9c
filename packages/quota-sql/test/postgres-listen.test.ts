import { postgresTests } from '@scoregw/postgres-server'
import { createQuota, type Quota } from '@scoregw/quota'
import { initialFactor } from '@scoregw/quota/adaptive'
import { scoreGatewayPolicy } from '@scoregw/quota/score-gateway'
import { type Kysely, sql } from 'kysely'
import type pg from 'pg'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { postgresStore, sqlFactor, sqlSettings } from '../src/index.ts'
import { TestDatabase } from './support/database.ts'
import { kyselyOnPool, poolOf } from './support/pool.ts'

/** No poll happens while a test lasts: every change reported by then came by a notification. */
const NEVER_MS = 60_000
/** A net for a busy machine, far below {@link NEVER_MS}. */
const SOON = { timeout: 15_000, interval: 5 }
const MINUTE = Date.UTC(2026, 7, 6, 14) / 60_000

describe.runIf(postgresTests)('changes announced by PostgreSQL', () => {
  const database = new TestDatabase()
  const LISTENING = `select pid from pg_stat_activity where query like 'listen %'`
  const listening = async (): Promise<number[]> =>
    (await database.pool({ max: 1 }).query(LISTENING)).rows.map(({ pid }: { pid: number }) => pid)

  /** As a process of its own has it. */
  function engine(pollMs = NEVER_MS) {
    const pool = poolOf(database.url, { max: 4 })
    const [db, listen]: [Kysely<unknown>, pg.Pool] = [kyselyOnPool(pool), pool]
    const settings = sqlSettings({ db, listen, pollMs })
    const factor = sqlFactor({ db, listen, pollMs })
    const store = postgresStore({ pool, deadlineMs: 5_000 })
    const quota = createQuota({ policy: scoreGatewayPolicy(), store, settingsStore: settings, adaptive: { factor } })
    let ended: Promise<void> | undefined
    const end = (): Promise<void> => (ended ??= quota.close().then(() => pool.end()))
    onTestFinished(end)
    return { quota, settings, factor, db, end }
  }
  const limitOf = async (quota: Quota<'read' | 'write'>, subject: string): Promise<unknown> =>
    (await quota.status(subject)).limits['personal-write-1h']?.limit
  const overridden = (limit: number) => ({ limits: { 'personal-write-1h': limit } })

  afterEach(async () => {
    const admin = database.pool({ max: 1 })
    await admin.query('delete from quota_settings; delete from quota_changes; delete from quota_factor')
  })

  it('changes apply in every engine immediately, whatever the poll interval', async () => {
    const [one, two] = [engine(), engine()]
    for (const { quota } of [one, two]) await quota.ready()
    await expect.poll(listening, SOON).toHaveLength(2)
    for (const limit of [7, 8, 9]) {
      await one.quota.subjects.set('u', overridden(limit))
      await expect.poll(() => limitOf(two.quota, 'u'), SOON).toBe(limit)
    }
    await one.quota.settings.update({ mode: 'adaptive' })
    for (const [version, hundredths] of [90, 75].entries()) {
      const moved = { ...initialFactor(), factorHundredths: hundredths }
      expect(await one.factor.compareAndSet(version, MINUTE + version, moved)).toBe(true)
      const limit = Math.floor((60 * hundredths) / 100)
      await expect.poll(() => limitOf(two.quota, 'v'), SOON).toBe(limit)
    }
    // A move that was refused or rolled back notifies no watcher.
    expect(await one.factor.compareAndSet(0, MINUTE, initialFactor())).toBe(false)
  })

  it('changes apply again after the connection was killed, including those made meanwhile', async () => {
    const [one, two] = [engine(), engine()]
    for (const { quota } of [one, two]) await quota.ready()
    await expect.poll(listening, SOON).toHaveLength(2)
    for (const limit of [3, 4]) {
      const admin = database.pool({ max: 1 })
      await limitOf(two.quota, 'u')
      await admin.query(`select pg_terminate_backend(pid) from (${LISTENING}) l`)
      await one.quota.subjects.set('u', overridden(limit))
      await expect.poll(() => limitOf(two.quota, 'u'), SOON).toBe(limit)
    }
    await database.server.kill()
    await database.server.restart()
    await expect.poll(listening, SOON).toHaveLength(2)
    await one.quota.subjects.set('u', overridden(5))
    await expect.poll(() => limitOf(two.quota, 'u'), SOON).toBe(5)
  })

  it('a poll finds changes without a notification', async () => {
    const [silent, other] = [engine(100), engine(100)]
    for (const { quota } of [silent, other]) await quota.ready()
    await silent.quota.subjects.set('u', overridden(3))
    await expect.poll(() => limitOf(other.quota, 'u'), SOON).toBe(3)
    // As a version would write that does not notify.
    await sql`update quota_settings set revision = 'x', document = ${JSON.stringify(overridden(6))}`.execute(silent.db)
    await sql`update quota_change_counter set last_seq = last_seq + 1`.execute(silent.db)
    await sql`insert into quota_changes (seq, layer, subject, revision, changed_at)
      select last_seq, 'personal', 'u', 'x', 0 from quota_change_counter`.execute(silent.db)
    await expect.poll(() => limitOf(other.quota, 'u'), SOON).toBe(6)
  })

  it('watching uses one connection of the pool and frees it when the last watcher stops', async () => {
    const { quota, settings, factor, end } = engine()
    await quota.ready()
    await expect.poll(listening, SOON).toHaveLength(1)
    const stops = [settings.watch(() => undefined), factor.watch(() => undefined)]
    for (const stop of stops) stop()
    expect(await listening()).toHaveLength(1)
    await end()
    await expect.poll(listening, SOON).toHaveLength(0)
  })
})
