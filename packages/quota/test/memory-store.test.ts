import { describe, expect, it } from 'vitest'
import { createQuota, memoryStore } from '../src/index.ts'
import type { SnapshotPart } from '../src/memory/memory-store.ts'
import {
  asAnotherProcess,
  flatLimits,
  gateway,
  gatewayPolicy,
  HOUR,
  testClock,
  usedByWrites,
  usedIn,
} from './support.ts'

const DAY = 24 * HOUR

describe('a memory store', () => {
  it('a memory store drops expired counters during calls, without a timer', () => {
    const { quota, store, clock } = gateway({ policy: gatewayPolicy(flatLimits(1e9, 1e9)) })
    for (let i = 0; i < 5_000; i++) quota.consumeSync({ subject: `old-${i}`, operation: 'write' })
    expect(store.size).toBe(5_001)
    clock.at += DAY + 60_000
    for (let i = 0; i < 5_000; i++) quota.consumeSync({ subject: `new-${i}`, operation: 'write' })
    expect(store.size).toBeLessThan(5_100)
    for (let i = 0; i < 5_000; i++) {
      if (quota.statusSync(`new-${i}`).limits['personal-write-1h']!.used !== 15) throw new Error(`lost new-${i}`)
    }
  })

  it('a memory store keeps live counters, and new subjects beyond maxSubjects get the failure policy', async () => {
    const clock = testClock()
    const store = memoryStore({ clock, maxSubjects: 100 })
    const quota = createQuota({
      policy: gatewayPolicy(),
      store,
      clock,
      failurePolicy: { read: 'open', write: 'closed' },
    })
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

    expect(usedByWrites(quota.statusSync('u-0'))).toEqual([1, 1, 1, 100, 100, 100])
    expect(quota.consumeSync({ subject: 'u-0', operation: 'write' }).allowed).toBe(true)
    clock.at += DAY + 60_000
    expect(quota.consumeSync({ subject: 'new', operation: 'write' })).toMatchObject({ allowed: true, source: 'store' })
  })

  it('a memory store keeps at most maxIds live ids and drops expired ones', () => {
    const clock = testClock()
    const store = memoryStore({ clock, maxIds: 3 })
    const quota = createQuota({ policy: gatewayPolicy(flatLimits(1e6, 1e6)), store, clock, idTtlMs: 60_000 })
    for (const id of ['a', 'b', 'c']) quota.reserveSync({ subject: 'u', operation: 'write', id })
    expect(() => quota.reserveSync({ subject: 'u', operation: 'write', id: 'd' })).toThrowError(
      expect.objectContaining({ code: 'quota_unavailable' }),
    )
    expect(quota.statusSync('u').limits['personal-write-1h']?.used).toBe(45)
    clock.at += 120_000
    expect(quota.reserveSync({ subject: 'u', operation: 'write', id: 'd' }).status).toBe('reserved')
  })

  it('a memory store serves several policies and finds counters by name', () => {
    const store = memoryStore()
    const first = createQuota({ policy: gatewayPolicy(), store })
    first.consumeSync({ subject: 'u', operation: 'write' })
    const second = createQuota({
      unit: 'tokens',
      limits: {
        'personal-write-10m': { by: 'personal', limit: 100, per: '10m' },
        'personal-write-1d': { by: 'personal', limit: 100, per: '1d' },
        'personal-write-5h': { by: 'personal', limit: 100, per: '5h' },
        renamed: { by: 'personal', limit: 100, per: '1h', formerly: 'personal-write-1h' },
      },
      operations: { write: { cost: 15 } },
      store: asAnotherProcess(store),
    })
    second.consumeSync({ subject: 'u', operation: 'write' })
    expect(Object.values(usedIn(second.statusSync('u')))).toEqual([15, 30, 30, 30])
    expect(usedByWrites(first.statusSync('u'))).toEqual([30, 30, 30, 15, 15, 15])
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
    const { quota, store, clock } = gateway({ policy: gatewayPolicy(flatLimits(1e6, 1e9)) })
    for (let i = 0; i < 2_500; i++) quota.consumeSync({ subject: `u-${i}`, operation: i % 2 ? 'read' : 'write' })
    quota.reserveSync({ subject: 'u-0', operation: 'write', id: 'attempt' })
    const parts = saved(store.snapshot())
    expect(parts).toHaveLength(3)

    const later = gateway({ policy: gatewayPolicy(flatLimits(1e6, 1e9)) })
    later.clock.at = clock.at + 1_000
    for (const part of parts) later.store.restore(part)
    for (const i of [0, 1, 999, 2_499]) {
      expect(later.quota.statusSync(`u-${i}`).limits).toEqual(quota.statusSync(`u-${i}`).limits)
    }
    expect(later.quota.reserveSync({ subject: 'u-0', operation: 'write', id: 'attempt' }).status).toBe('duplicate')
  })

  it('a snapshot leaves out expired counters, and restoring it doesn’t undo later charges', () => {
    const { quota, store, clock } = gateway()
    quota.consumeSync({ subject: 'u', operation: 'write' })
    const parts = saved(store.snapshot())
    quota.consumeSync({ subject: 'u', operation: 'write' })
    for (const part of parts) store.restore(part)
    expect(quota.statusSync('u').limits['personal-write-1h']?.used).toBe(30)
    clock.at += DAY + 60_000
    expect(saved(store.snapshot())).toEqual([])
  })

  it('a snapshot of another policy restores the limits that both have and carries the others along', () => {
    const { store, quota } = gateway()
    quota.consumeSync({ subject: 'u', operation: 'write' })
    const limits = gatewayPolicy().limits.map((rule) =>
      rule.name.endsWith('-1h') ? { ...rule, window: { label: rule.name, lengthMs: 5_000 } } : rule,
    )
    const other = gateway({ policy: { ...gatewayPolicy(), limits } })
    for (const part of saved(store.snapshot())) other.store.restore(part)
    expect(usedByWrites(other.quota.statusSync('u'))).toEqual([0, 15, 15, 0, 15, 15])
    const back = gateway()
    for (const part of saved(other.store.snapshot())) back.store.restore(part)
    expect(usedByWrites(back.quota.statusSync('u'))).toEqual([15, 15, 15, 15, 15, 15])
  })

  it('a snapshot of another version is rejected with a clear error and changes nothing', () => {
    const { store, quota } = gateway()
    quota.consumeSync({ subject: 'u', operation: 'write' })
    const [part] = saved(store.snapshot()) as SnapshotPart[]
    const empty = gateway()
    for (const format of [0, 2, 7]) {
      const message = expect.stringMatching(`snapshot has version ${format} .* reads version 1`)
      const error = expect.objectContaining({ code: 'other_version', message })
      expect(() => empty.store.restore({ ...part, format })).toThrowError(error)
    }
    expect(empty.store.size).toBe(0)
    expect(() => empty.store.restore({ ...part, format: undefined })).toThrowError(/format/)
  })
})
