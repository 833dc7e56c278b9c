import { setImmediate } from 'node:timers/promises'
import { createQuota, type MemoryStore, memoryStore, type Quota } from '@scoregw/quota'
import { type ManualClock, manualClock } from '@scoregw/quota-testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Db } from '../src/db/schema.ts'
import { openSqlite } from '../src/db/sqlite.ts'
import { gatewayPolicy, type OperationName } from '../src/quota/policy.ts'
import { SavedCounters } from '../src/quota/saved-counters.ts'
import { HOUR_MS, START, tempDir } from './support/gateway.ts'

interface Process {
  readonly db: Db
  readonly store: MemoryStore
  readonly quota: Quota<OperationName>
  readonly counters: SavedCounters
}

async function start(dataDir: string, clock: ManualClock): Promise<Process> {
  const db = await openSqlite(dataDir)
  onTestFinished(() => db.destroy())
  const store = memoryStore({ clock })
  const quota = createQuota({ policy: gatewayPolicy, store, clock })
  const counters = new SavedCounters(db, store, clock)
  await counters.restore()
  return { db, store, quota, counters }
}

const rows = (db: Db): Promise<unknown[]> => db.selectFrom('quota_counter_snapshots').selectAll().execute()

describe('saved counters', () => {
  it('are there after a restart, exactly', async () => {
    const [dataDir, clock] = [tempDir(), manualClock(START)]
    const before = await start(dataDir, clock)
    for (const subject of ['a', 'b', '玩家']) before.quota.consumeSync({ subject, operation: 'music.upsert' })
    clock.advance(HOUR_MS + 5)
    before.quota.consumeSync({ subject: 'a', operation: 'user.music' })
    await before.counters.save()
    const after = await start(dataDir, clock)
    for (const subject of ['a', 'b', '玩家', 'nobody']) {
      expect(after.quota.statusSync(subject)).toEqual(before.quota.statusSync(subject))
    }
    expect(after.quota.statusSync('a').windows.write?.map(({ used }) => used)).toEqual([0, 15, 15, 0, 45, 45])
  })

  it('of windows that ended meanwhile are gone', async () => {
    const [dataDir, clock] = [tempDir(), manualClock(START)]
    const before = await start(dataDir, clock)
    before.quota.consumeSync({ subject: 'a', operation: 'music.upsert' })
    await before.counters.save()
    clock.advance(24 * HOUR_MS)
    expect((await start(dataDir, clock)).quota.statusSync('a').windows.write?.every(({ used }) => used === 0)).toBe(
      true,
    )
  })

  it('come in parts, and replace what was saved before', async () => {
    const [dataDir, clock] = [tempDir(), manualClock(START)]
    const before = await start(dataDir, clock)
    for (let user = 0; user < 2_500; user++)
      before.quota.consumeSync({ subject: `user-${user}`, operation: 'user.music', cost: 1 })
    await before.counters.save()
    await before.quota.reset('user-7')
    await before.counters.save()
    expect(await rows(before.db)).toHaveLength(1)
    const parts = await before.db.selectFrom('quota_counter_parts').select('part').execute()
    expect(parts.map(({ part }) => part)).toEqual([0, 1, 2])
    const after = await start(dataDir, clock)
    expect(after.store.size).toBe(before.store.size)
    expect(after.quota.statusSync('user-2499').windows.read?.[3]?.used).toBe(2_500)
    expect(after.quota.statusSync('user-7').windows.read?.[0]?.used).toBe(0)
  })

  it('that did not change are not written again', async () => {
    const [dataDir, clock] = [tempDir(), manualClock(START)]
    const { db, counters, quota } = await start(dataDir, clock)
    quota.consumeSync({ subject: 'a', operation: 'music.upsert' })
    await counters.save()
    const saved = await rows(db)
    clock.advance(1_000)
    await counters.save()
    expect(await rows(db)).toEqual(saved)
  })

  it('of a save that was broken off do not count, and are cleared away in time', async () => {
    const [dataDir, clock] = [tempDir(), manualClock(START)]
    const before = await start(dataDir, clock)
    before.quota.consumeSync({ subject: 'a', operation: 'music.upsert' })
    await before.counters.save()
    const broken = { id: 'broken', saved_at: START + 1, is_complete: 0 as const }
    await before.db.insertInto('quota_counter_snapshots').values(broken).execute()
    await before.db.insertInto('quota_counter_parts').values({ snapshot_id: 'broken', part: 0, content: '{' }).execute()
    const after = await start(dataDir, clock)
    expect(after.quota.statusSync('a').windows.write?.[0]?.used).toBe(15)
    after.quota.consumeSync({ subject: 'a', operation: 'music.upsert' })
    await after.counters.save()
    expect(await rows(after.db)).toHaveLength(2)
    clock.advance(600_002)
    after.quota.consumeSync({ subject: 'a', operation: 'music.upsert' })
    await after.counters.save()
    expect(await rows(after.db)).toHaveLength(1)
    expect(
      await after.db
        .selectFrom('quota_counter_parts')
        .select('snapshot_id')
        .where('snapshot_id', '=', 'broken')
        .execute(),
    ).toEqual([])
  })

  it('are saved one save after the other, so that an older one never replaces a newer', async () => {
    const [dataDir, clock] = [tempDir(), manualClock(START)]
    const { counters, quota } = await start(dataDir, clock)
    await quota.settings.update({ layers: { site: { enabled: false } } })
    for (let user = 0; user < 5_000; user++) quota.consumeSync({ subject: `user-${user}`, operation: 'music.upsert' })
    const long = counters.save()
    await setImmediate()
    // The long save is past the counters of reads. When all else has ended, the next save has little to do.
    clock.advance(25 * HOUR_MS)
    quota.consumeSync({ subject: 'a', operation: 'user.music' })
    await Promise.all([long, counters.save()])
    expect((await start(dataDir, clock)).quota.statusSync('a').windows.read?.[0]?.used).toBe(4)
  })
})
