import { setImmediate } from 'node:timers/promises'
import { createQuota, type MemoryStore, memoryStore, type SyncQuota } from '@scoregw/quota'
import { type ManualClock, manualClock } from '@scoregw/quota-testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Db } from '../src/db/schema.ts'
import { openSqlite } from '../src/db/sqlite.ts'
import { createLogger } from '../src/log/logger.ts'
import {
  type GatewayPolicy,
  gatewayPolicy,
  gatewayPolicyOf,
  LAYERS,
  type OperationName,
  WINDOWS,
} from '../src/quota/policy.ts'
import { SavedCounters } from '../src/quota/saved-counters.ts'
import { HOUR_MS, START, tempDir } from './support/gateway.ts'

interface Process {
  readonly db: Db
  readonly store: MemoryStore
  readonly quota: SyncQuota<OperationName>
  readonly counters: SavedCounters
}

async function start(
  dataDir: string,
  clock: ManualClock,
  policy: GatewayPolicy = gatewayPolicy,
  log: string[] = [],
): Promise<Process> {
  const db = await openSqlite(dataDir)
  onTestFinished(() => db.destroy())
  const store = memoryStore({ clock })
  const quota = createQuota({ policy, store, clock })
  const counters = new SavedCounters({
    db,
    store,
    clock,
    logger: createLogger('info', { write: (line) => log.push(line) }),
  })
  await counters.restore()
  return { db, store, quota, counters }
}

const rows = (db: Db): Promise<unknown[]> => db.selectFrom('quota_counter_snapshots').selectAll().execute()

describe('saved counters', () => {
  it('counters are exact after a restart', async () => {
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

  it('counters of windows that ended meanwhile are dropped', async () => {
    const [dataDir, clock] = [tempDir(), manualClock(START)]
    const before = await start(dataDir, clock)
    before.quota.consumeSync({ subject: 'a', operation: 'music.upsert' })
    await before.counters.save()
    clock.advance(24 * HOUR_MS)
    expect((await start(dataDir, clock)).quota.statusSync('a').windows.write?.every(({ used }) => used === 0)).toBe(
      true,
    )
  })

  it('counters survive a changed policy as far as it has their names, and a change back', async () => {
    const [dataDir, clock] = [tempDir(), manualClock(START)]
    const before = await start(dataDir, clock)
    before.quota.consumeSync({ subject: 'a', operation: 'music.upsert' })
    await before.counters.save()
    const [hour, , day] = WINDOWS
    const other = gatewayPolicyOf(
      [{ label: '1m', lengthMs: 60_000, tokens: { read: 20, write: 20 } }, hour!, { ...day!, lengthMs: 25 * HOUR_MS }],
      [
        { name: 'campus', scope: 'Campus', shared: true, times: { every: 5 } },
        { ...LAYERS[0]!, scope: 'Yours' },
      ],
    )
    const changed = await start(dataDir, clock, other)
    const usedBy = ({ quota }: Process): unknown =>
      quota.statusSync('a').windows.write?.map(({ layer, window, used }) => [layer, window, used])
    expect(usedBy(changed)).toEqual([
      ...['1m', '1h', '1d'].map((window) => ['campus', window, 0]),
      ...[0, 15, 0].map((used, index) => ['personal', ['1m', '1h', '1d'][index], used]),
    ])
    clock.advance(1_000)
    changed.quota.consumeSync({ subject: 'a', operation: 'ticket.clear' })
    await changed.counters.save()
    const back = await start(dataDir, clock)
    expect(usedBy(back)).toEqual([
      ...[20, 15, 15].map((used, index) => ['personal', WINDOWS[index]!.label, used]),
      ...[15, 15, 15].map((used, index) => ['site', WINDOWS[index]!.label, used]),
    ])
    // And what only the changed policy knows was carried through.
    await back.counters.save()
    expect(usedBy(await start(dataDir, clock, other))).toEqual([
      ...['1m', '1h', '1d'].map((window) => ['campus', window, 5]),
      ...[5, 20, 5].map((used, index) => ['personal', ['1m', '1h', '1d'][index], used]),
    ])
  })

  it('counters of another version or unreadable parts are reported and don’t prevent the start', async () => {
    const [dataDir, clock, log] = [tempDir(), manualClock(START), [] as string[]]
    const before = await start(dataDir, clock)
    for (const subject of ['a', 'b']) before.quota.consumeSync({ subject, operation: 'music.upsert' })
    await before.counters.save()
    const { content, snapshot_id } = await before.db
      .selectFrom('quota_counter_parts')
      .selectAll()
      .executeTakeFirstOrThrow()
    const other = JSON.stringify({ ...JSON.parse(content), format: 3 })
    const unreadable = [other, '{', JSON.stringify({ rows: [], ids: [] }), JSON.stringify([1, 2])]
    const parts = unreadable.map((content, at) => ({ snapshot_id, part: at + 1, content }))
    await before.db.insertInto('quota_counter_parts').values(parts).execute()
    const { quota } = await start(dataDir, clock, gatewayPolicy, log)
    const used = (subject: string): unknown => quota.statusSync(subject).windows.write?.map((each) => each.used)
    expect([used('a'), used('b'), used('c')]).toEqual([
      [15, 15, 15, 30, 30, 30],
      [15, 15, 15, 30, 30, 30],
      [0, 0, 0, 30, 30, 30],
    ])
    const reported = log.map((line) => JSON.parse(line) as { part: number; error: string })
    expect(reported.map(({ part }) => part)).toEqual([1, 2, 3, 4])
    expect(JSON.stringify(reported[0])).toContain('other_version')
  })

  it('counters are saved in parts that replace the previous save', async () => {
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

  it('unchanged counters aren’t saved again', async () => {
    const [dataDir, clock] = [tempDir(), manualClock(START)]
    const { db, counters, quota } = await start(dataDir, clock)
    quota.consumeSync({ subject: 'a', operation: 'music.upsert' })
    await counters.save()
    const saved = await rows(db)
    clock.advance(1_000)
    await counters.save()
    expect(await rows(db)).toEqual(saved)
  })

  it('an interrupted save is ignored and cleaned up later', async () => {
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

  it('concurrent saves run one after the other, so an older one never replaces a newer', async () => {
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
