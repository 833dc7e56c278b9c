import { describe, expect, it } from 'vitest'
import { createQuota, memoryStore } from '../src/index.ts'
import type { SnapshotPart } from '../src/store.ts'
import { asAnotherProcess, type Fixture, fixture, flatBase, HOUR, testClock, testPolicy } from './support.ts'

const DAY = 24 * HOUR

describe('a memory store', () => {
  it('a memory store drops expired counters during calls, without a timer', () => {
    const { quota, store, clock } = fixture({ policy: testPolicy(flatBase(1e9, 1e9)) })
    for (let i = 0; i < 5_000; i++) quota.consumeSync({ subject: `old-${i}`, operation: 'write' })
    expect(store.size).toBe(5_001)
    clock.at += DAY + 60_000
    for (let i = 0; i < 5_000; i++) quota.consumeSync({ subject: `new-${i}`, operation: 'write' })
    expect(store.size).toBeLessThan(5_100)
    for (let i = 0; i < 5_000; i++) {
      if (quota.statusSync(`new-${i}`).windows.write![0]!.used !== 15) throw new Error(`lost new-${i}`)
    }
  })

  it('a memory store shrinks when only known subjects return', () => {
    const { quota, store, clock } = fixture({ policy: testPolicy(flatBase(1e9, 1e9)) })
    for (let i = 0; i < 1_000; i++) quota.consumeSync({ subject: `u-${i}`, operation: 'write' })
    clock.at += DAY + 60_000
    for (let i = 0; i < 80_000; i++) quota.consumeSync({ subject: 'u-0', operation: 'write', cost: 1 })
    expect(store.size).toBeLessThan(10)
  })

  it('a memory store keeps live counters, and new subjects beyond maxSubjects get the failure policy', async () => {
    const clock = testClock()
    const store = memoryStore({ clock, maxSubjects: 100 })
    const quota = createQuota({ policy: testPolicy(), store, clock, failurePolicy: { read: 'open', write: 'closed' } })
    for (let i = 0; i < 100; i++) quota.consumeSync({ subject: `u-${i}`, operation: 'write', cost: 1 })
    for (let i = 0; i < 100; i++) quota.consumeSync({ subject: `u-${i}`, operation: 'read', cost: 1 })
    const degraded: boolean[] = []
    quota.on('degraded', ({ allowed }) => degraded.push(allowed))

    expect(() => quota.consumeSync({ subject: 'new', operation: 'write' })).toThrowError(
      expect.objectContaining({ code: 'quota_unavailable', cause: expect.objectContaining({ code: 'store_full' }) }),
    )
    expect(quota.consumeSync({ subject: 'new', operation: 'read' })).toMatchObject({
      allowed: true,
      source: 'fallback',
    })
    const reservation = await quota.reserve({ subject: 'new', operation: 'read' })
    await reservation.cancel()
    expect(degraded).toEqual([false, true, true])

    expect(quota.statusSync('u-0').windows.write?.map(({ used }) => used)).toEqual([1, 1, 1, 100, 100, 100])
    expect(quota.consumeSync({ subject: 'u-0', operation: 'write' }).allowed).toBe(true)
    clock.at += DAY + 60_000
    expect(quota.consumeSync({ subject: 'new', operation: 'write' })).toMatchObject({ allowed: true, source: 'store' })
  })

  it('a memory store keeps at most maxIds live ids and drops expired ones', () => {
    const clock = testClock()
    const store = memoryStore({ clock, maxIds: 3 })
    const quota = createQuota({ policy: testPolicy(flatBase(1e6, 1e6)), store, clock, idTtlMs: 60_000 })
    for (const id of ['a', 'b', 'c']) quota.reserveSync({ subject: 'u', operation: 'write', id })
    expect(() => quota.reserveSync({ subject: 'u', operation: 'write', id: 'd' })).toThrowError(
      expect.objectContaining({ code: 'quota_unavailable' }),
    )
    expect(quota.statusSync('u').windows.write?.[0]?.used).toBe(45)
    clock.at += 120_000
    expect(quota.reserveSync({ subject: 'u', operation: 'write', id: 'd' }).status).toBe('reserved')
  })

  it('a memory store serves several policies and finds counters by name', () => {
    const store = memoryStore()
    const first = createQuota({ policy: testPolicy(), store })
    first.consumeSync({ subject: 'u', operation: 'write' })
    const layers = [{ name: 'personal', scope: 'P', shared: false }]
    const windows = [{ label: '10m', lengthMs: 600_000 }, ...[...testPolicy().windows].reverse()]
    const limits = { '10m': 100, '1h': 100, '5h': 100, '1d': 100 }
    const base = { personal: { read: limits, write: limits } }
    const second = createQuota({ policy: { ...testPolicy(), layers, windows, base }, store: asAnotherProcess(store) })
    second.consumeSync({ subject: 'u', operation: 'write' })
    const used = (quota: Fixture['quota']) =>
      quota.statusSync('u').windows.write!.map(({ layer, window, used }) => `${layer} ${window} ${used}`)
    expect(used(second)).toEqual(['personal 10m 15', 'personal 1d 30', 'personal 5h 30', 'personal 1h 30'])
    expect(used(first)).toEqual([
      'personal 1h 30',
      'personal 5h 30',
      'personal 1d 30',
      'site 1h 15',
      'site 5h 15',
      'site 1d 15',
    ])
  })

  it.each([[{ maxSubjects: 0 }], [{ maxIds: 1.5 }], [{ clock: {} }], [{ size: 1 }]])(
    'memoryStore() rejects the options %j',
    (options) => {
      expect(() => memoryStore(options as object)).toThrowError(expect.objectContaining({ code: 'invalid_options' }))
    },
  )
})

describe('snapshots', () => {
  function saved(parts: Iterable<SnapshotPart>): unknown[] {
    return JSON.parse(JSON.stringify([...parts])) as unknown[]
  }

  it('a restored snapshot has the counters, windows and ids', () => {
    const { quota, store, clock } = fixture({ policy: testPolicy(flatBase(1e6, 1e9)) })
    for (let i = 0; i < 2_500; i++) quota.consumeSync({ subject: `u-${i}`, operation: i % 2 ? 'read' : 'write' })
    quota.reserveSync({ subject: 'u-0', operation: 'write', id: 'attempt' })
    const parts = saved(store.snapshot())
    expect(parts).toHaveLength(3)

    const later = fixture({ policy: testPolicy(flatBase(1e6, 1e9)) })
    later.clock.at = clock.at + 1_000
    for (const part of parts) later.store.restore(part)
    for (const i of [0, 1, 999, 2_499]) {
      expect(later.quota.statusSync(`u-${i}`).windows).toEqual(quota.statusSync(`u-${i}`).windows)
    }
    expect(later.quota.reserveSync({ subject: 'u-0', operation: 'write', id: 'attempt' }).status).toBe('duplicate')
  })

  it('a snapshot leaves out expired counters, and restoring it doesn’t undo later charges', () => {
    const { quota, store, clock } = fixture()
    quota.consumeSync({ subject: 'u', operation: 'write' })
    const parts = saved(store.snapshot())
    quota.consumeSync({ subject: 'u', operation: 'write' })
    for (const part of parts) store.restore(part)
    expect(quota.statusSync('u').windows.write?.[0]?.used).toBe(30)
    clock.at += DAY + 60_000
    expect(saved(store.snapshot())).toEqual([])
  })

  it('a snapshot of another policy restores the shared windows and carries the others along', () => {
    const { store, quota } = fixture()
    quota.consumeSync({ subject: 'u', operation: 'write' })
    const windows = testPolicy().windows.map((w) => (w.label === '1h' ? { label: w.label, lengthMs: 5_000 } : w))
    const other = fixture({ policy: { ...testPolicy(), windows } })
    for (const part of saved(store.snapshot())) other.store.restore(part)
    expect(other.quota.statusSync('u').windows.write!.map(({ used }) => used)).toEqual([0, 15, 15, 0, 15, 15])
    const back = fixture()
    for (const part of saved(other.store.snapshot())) back.store.restore(part)
    expect(back.quota.statusSync('u').windows.write!.map(({ used }) => used)).toEqual([15, 15, 15, 15, 15, 15])
  })

  it('a snapshot of another version is rejected with a clear error and changes nothing', () => {
    const { store, quota } = fixture()
    quota.consumeSync({ subject: 'u', operation: 'write' })
    const [part] = saved(store.snapshot()) as SnapshotPart[]
    const empty = fixture()
    for (const format of [0, 1, 7]) {
      const message = expect.stringMatching(`snapshot has version ${format} .* reads version 2`)
      const error = expect.objectContaining({ code: 'other_version', message })
      expect(() => empty.store.restore({ ...part, format })).toThrowError(error)
    }
    expect(empty.store.size).toBe(0)
    expect(() => empty.store.restore({ ...part, format: undefined })).toThrowError(/format/)
  })

  it('a snapshot beyond the store’s room is rejected whole', () => {
    const { store, quota } = fixture()
    for (const subject of ['u', 'v', 'w']) quota.consumeSync({ subject, operation: 'write' })
    const small = memoryStore({ clock: testClock(), maxSubjects: 2 })
    const [part] = saved(store.snapshot())
    expect(() => small.restore(part)).toThrowError(expect.objectContaining({ code: 'store_full' }))
    expect(small.size).toBe(0)
  })

  it('restore() rejects values that aren’t snapshots', () => {
    const { store, quota } = fixture()
    quota.consumeSync({ subject: 'u', operation: 'write' })
    const [part] = saved(store.snapshot()) as SnapshotPart[]
    for (const nonsense of [null, {}, { ...part, rows: [[0, 'u', [1, 'x']]] }]) {
      expect(() => store.restore(nonsense)).toThrowError(expect.objectContaining({ code: 'invalid_options' }))
    }
    for (const row of [
      [9, 'u', part!.rows[0]![2]],
      [0, 'v', [1]],
    ]) {
      expect(() => store.restore({ ...part, rows: [row] })).toThrowError(
        expect.objectContaining({ code: 'invalid_options' }),
      )
    }
  })
})
