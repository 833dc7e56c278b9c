import { describe, expect, it } from 'vitest'
import { createQuota, memoryStore } from '../src/index.ts'
import { IdRecords } from '../src/memory/id-records.ts'
import type { SnapshotPart } from '../src/memory/memory-store.ts'
import { Tables } from '../src/memory/row-table.ts'
import { windowCell } from '../src/windows/identity.ts'
import { flatLimits, gateway, gatewayPolicy, HOUR, START, testClock } from './support.ts'

const DAY = 24 * HOUR
const GRACE = 60_000
const WIDE = gatewayPolicy(flatLimits(1e9, 1e9))

function partsOf(parts: Iterable<SnapshotPart>): SnapshotPart[] {
  return JSON.parse(JSON.stringify([...parts])) as SnapshotPart[]
}

describe('expiry of counters', () => {
  it('expired counters are dropped when one subject keeps returning', () => {
    const { quota, store, clock } = gateway({ policy: WIDE })
    for (let i = 0; i < 2_000; i++) quota.consumeSync({ subject: `u-${i}`, operation: 'write' })
    clock.at += DAY + GRACE
    for (let i = 0; i < 3_000; i++) {
      quota.consumeSync({ subject: 'u-0', operation: 'write' })
      clock.at += 10_000
    }
    expect(store.size).toBeLessThanOrEqual(2)
  })

  it('expired counters are dropped when every request is refused', () => {
    const { quota, store, clock } = gateway({ policy: gatewayPolicy(flatLimits(20, 1e9)) })
    for (let i = 0; i < 2_000; i++) quota.consumeSync({ subject: `u-${i}`, operation: 'write' })
    clock.at += DAY + GRACE
    for (let i = 0; i < 3_000; i++) {
      if (quota.consumeSync({ subject: 'u-0', operation: 'big' }).allowed) throw new Error('expected a refusal')
      clock.at += 10_000
    }
    expect(store.size).toBeLessThanOrEqual(2)
  })

  it('expired counters stored after a subject that keeps returning are dropped', () => {
    const { quota, store, clock } = gateway({ policy: WIDE })
    for (let hour = 0; hour < 100; hour++) {
      quota.consumeSync({ subject: 'regular', operation: 'write' })
      for (let i = 0; i < 100; i++) quota.consumeSync({ subject: `${hour}-${i}`, operation: 'write' })
      clock.at += HOUR
    }
    // Those of one day, twice at most, the regular one and the site.
    expect(store.size).toBeLessThanOrEqual(2 * 2_500 + 2)
    expect(quota.statusSync('regular').limits['personal-write-1h']?.used).toBe(0)
  })

  it('expired counters are dropped after a clock that ran ahead comes back', () => {
    const { quota, store, clock } = gateway({ policy: WIDE })
    quota.consumeSync({ subject: 'early', operation: 'write' })
    clock.at = START + 365 * DAY
    for (let i = 0; i < 100; i++) quota.consumeSync({ subject: 'ahead', operation: 'write' })
    clock.at = START
    for (let i = 0; i < 50; i++) quota.consumeSync({ subject: `u-${i}`, operation: 'write' })
    clock.at += DAY + GRACE
    for (let i = 0; i < 1_000; i++) quota.consumeSync({ subject: 'one', operation: 'write' })
    expect(store.size).toBeLessThanOrEqual(3)
  })

  it('expired counters are dropped in rarely and no longer used categories', () => {
    const { quota, store, clock } = gateway({ policy: WIDE })
    for (let i = 0; i < 400; i++) quota.consumeSync({ subject: `u-${i}`, operation: i % 2 ? 'read' : 'write' })
    clock.at += DAY + GRACE
    for (let i = 0; i < 4_000; i++) {
      quota.consumeSync({ subject: 'u', operation: i % 8 === 0 ? 'write' : 'read' })
      clock.at += 10_000
    }
    expect(store.size).toBeLessThanOrEqual(4)
    clock.at += DAY + GRACE
    for (let i = 0; i < 100; i++) quota.consumeSync({ subject: 'u', operation: 'read' })
    expect(store.size).toBeLessThanOrEqual(3)
  })

  it('live counters are never dropped', () => {
    const { quota, clock } = gateway({ policy: WIDE })
    for (let i = 0; i < 1_000; i++) {
      quota.consumeSync({ subject: `u-${i}`, operation: 'write' })
      clock.at += 60_000
    }
    for (let i = 0; i < 1_000; i++) {
      const used = quota.statusSync(`u-${i}`).limits['personal-write-1d']?.used
      expect(used).toBe(15)
    }
  })
})

describe('tables that were large', () => {
  it('a table that shrank counts each subject separately when it grows again', () => {
    const { quota, clock } = gateway({ policy: WIDE })
    const size = 6_000
    const use = (name: string, times: number): void => {
      for (let i = 0; i < times; i++) quota.consumeSync({ subject: name, operation: 'write' })
    }
    // In the first page, from before the first crowd: the pages behind it go, and come again.
    use('regular', 1)
    for (const [wave, crowd] of [size, size / 50, 2 * size, size / 2].entries()) {
      for (let i = 0; i < crowd; i++) use(`${wave}-${i}`, 1 + (i % 3))
      for (let i = 0; i < crowd; i++) {
        const { used } = quota.statusSync(`${wave}-${i}`).limits['personal-write-1h']!
        expect(used, `subject ${i} of wave ${wave}`).toBe(15 * (1 + (i % 3)))
      }
      clock.at += DAY + GRACE
      use('regular', 3 * size)
    }
  })

  it('rows that move to a page which had none left keep their counts', () => {
    const table = new Tables().of('user')
    table.placesOf([windowCell({ label: '1h', lengthMs: HOUR })])
    const add = (key: string, startedAt: number, used: number): void => {
      const place = table.add(key)
      table.pageOf(place).set([startedAt, used], table.at(place))
    }
    // A page has 1,024 rows, and the smallest 4: the first that moves comes behind as many.
    for (let i = 0; i < 1_024; i++) add(`early-${i}`, START, 1)
    for (let i = 0; i < 5; i++) add(`late-${i}`, START + HOUR, 10 + i)
    table.sweep(START + HOUR + GRACE, 2_000)
    expect([...table.rows(START + HOUR)]).toEqual([0, 1, 2, 3, 4].map((i) => [`late-${i}`, [START + HOUR, 10 + i]]))
    expect(table.placeOf('late-0')).toBe(4)
  })
})

describe('expiry of ids', () => {
  const id = { id: 'x', nonce: 'n', fingerprint: 'f', ttlMs: 60_000 }

  it('expired ids stored after a long-lived one are dropped', () => {
    const records = new IdRecords(new Tables())
    records.write('long', { ...id, ttlMs: DAY }, 'reserved', [], START)
    for (let i = 0; i < 3_000; i++) {
      const now = START + i * 1_000
      expect(records.hasRoom(1_000, now)).toBe(true)
      records.write(`short-${i}`, id, 'reserved', [], now)
      records.step(now)
    }
    expect(records.size).toBeLessThan(500)
    expect(records.find('long', START + DAY - 1)).toBeDefined()
  })

  it('expired ids are dropped when no new ones come', () => {
    const { quota, store, clock } = gateway({ policy: WIDE, idTtlMs: 60_000 })
    for (let i = 0; i < 1_000; i++) quota.reserveSync({ subject: 'u', operation: 'write', id: `id-${i}` })
    clock.at += HOUR
    for (let i = 0; i < 1_000; i++) quota.consumeSync({ subject: 'u', operation: 'write' })
    // What ended long ago is left out of a snapshot; a clock that steps back shows whether it was kept.
    clock.at = START + 1
    expect(partsOf(store.snapshot()).flatMap(({ ids }) => ids)).toEqual([])
  })

  it('expired ids are dropped as fast as new ones come, so 200 a second fit into the default room', () => {
    // A hundredth of the rate in three fifths of a hundredth of the room, which all the ids of 30 minutes would fill.
    const clock = testClock()
    const quota = createQuota({ policy: WIDE, store: memoryStore({ clock, maxIds: 3_000 }), clock })
    for (let i = 0; i < 3_600; i++) {
      quota.reserveSync({ subject: 'u', operation: 'write', cost: 1, id: `id-${i}` }).commit(i % 2)
      clock.at += 500
    }
    expect(quota.reserveSync({ subject: 'u', operation: 'write', cost: 1, id: 'id-3599' }).status).toBe('duplicate')
  })
})

/** Parts of a snapshot that can be read. */
const CELL = ['rolling a 3600000', START, 1] as const
const HOLD = { by: 'personal', owner: 'v', costs: {}, takenAt: START, endsAt: START + 1, ttlMs: 1, rows: [] }
const RECORD = { state: 'reserved', nonce: 'n', fingerprint: 'f', states: [], expiresAt: START + DAY }

describe('snapshots beyond the store’s room', () => {
  function partOf(subjects: number): SnapshotPart {
    const { quota, store } = gateway({ policy: WIDE })
    for (let i = 0; i < subjects; i++) quota.reserveSync({ subject: `s-${i}`, operation: 'write', id: 'one' })
    return partsOf(store.snapshot())[0]!
  }

  it.each([
    [{ maxSubjects: 10 }, 11],
    [{ maxIds: 10 }, 11],
  ])('a snapshot that is too large for %o is rejected whole', (bounds, subjects) => {
    const clock = testClock()
    const store = memoryStore({ clock, ...bounds })
    expect(() => store.restore(partOf(subjects))).toThrowError(expect.objectContaining({ code: 'store_full' }))
    expect(store.size).toBe(0)
    expect(partsOf(store.snapshot())).toEqual([])
    store.restore(partOf(10))
    expect(store.size).toBe(11)
  })

  it('a snapshot’s records count against the room only where they are new', () => {
    const store = memoryStore({ clock: testClock(), maxSubjects: 10, maxIds: 10 })
    const part = partOf(10)
    store.restore(part)
    store.restore(part)
    expect(store.size).toBe(11)
  })

  it('expired records don’t make a snapshot too large', () => {
    const clock = testClock()
    const store = memoryStore({ clock, maxSubjects: 10 })
    store.restore(partOf(10))
    clock.at += DAY + GRACE
    const { rows, ...rest } = partOf(10)
    const later = { ...rest, rows: rows.map(([layer, key, cells]) => [layer, `later-${key}`, cells] as const), ids: [] }
    store.restore(later)
    expect(store.size).toBeGreaterThanOrEqual(10)
  })

  it.each([
    ['a row of no layer', { rows: [[9, 'u', []]] }],
    ['a row of another length', { rows: [['personal', 'v', [CELL], 1]] }],
    ['a cell of another length', { rows: [['personal', 'v', [CELL.slice(0, 2)]]] }],
    ['a cell that is no number', { rows: [['personal', 'v', [['rolling a 1', 1, 'x']]]] }],
    ['a cell below its least number', { rows: [['personal', 'v', [['rolling a 1', 1, -2]]]] }],
    ['a record that is none', { ids: [['k', { state: 'reserved' }]] }],
    ['a record in a state that is none', { ids: [['k', { ...RECORD, state: 'lost' }]] }],
    ['a hold that is none', { ids: [['k', { ...RECORD, hold: {} }]] }],
    ['a hold of less than nothing', { ids: [['k', { ...RECORD, hold: { ...HOLD, costs: { tokens: -1 } } }]] }],
    ['a row of a hold that is none', { ids: [['k', { ...RECORD, hold: { ...HOLD, rows: [{ layer: 'personal' }] } }]] }],
    ['an answer that is none', { ids: [['k', { ...RECORD, hold: { ...HOLD, answer: { charged: {} } } }]] }],
  ])('a snapshot with %s is rejected whole', (_, patch) => {
    const store = memoryStore({ clock: testClock() })
    const part = partOf(3)
    const broken = { ...part, ...patch, rows: [...part.rows, ...('rows' in patch ? patch.rows : [])] }
    for (const each of [broken, null, {}]) {
      expect(() => store.restore(each)).toThrowError(expect.objectContaining({ code: 'invalid_options' }))
      expect(store.size).toBe(0)
    }
    // The same row, whole, fits.
    const whole = { ...part, ids: [...part.ids, ['k', { ...RECORD, hold: HOLD }]] }
    store.restore({ ...whole, rows: [...part.rows, ['personal', 'v', [CELL]]] })
    expect(store.size).toBe(5)
  })
})

it('a snapshot that is taken while another policy opens a window can be restored', () => {
  const { quota, store, clock } = gateway({ policy: WIDE })
  for (let i = 0; i < 1_500; i++) quota.consumeSync({ subject: `u-${i}`, operation: 'write' })
  const parts = store.snapshot()
  const first = parts.next().value as SnapshotPart
  const week = WIDE.limits.map((rule) => {
    const name = `${rule.name}-7d`
    return { ...rule, name, window: { label: name, lengthMs: 7 * DAY } }
  })
  createQuota({ policy: { ...WIDE, limits: [...WIDE.limits, ...week] }, store, clock })
  const restored = gateway({ policy: WIDE })
  for (const part of partsOf([first, ...parts])) restored.store.restore(part)
  expect(restored.store.size).toBe(1_501)
  expect(restored.quota.statusSync('u-1499').limits).toEqual(quota.statusSync('u-1499').limits)
})

describe('a clock that returns no time', () => {
  it.each([Number.NaN, Number.POSITIVE_INFINITY, START + 0.5, undefined, null, String(START)])(
    'a clock that returns %o makes every call fail with the cause',
    async (at) => {
      const { quota, store, clock } = gateway({ policy: gatewayPolicy(flatLimits(15, 15)) })
      const held = quota.reserveSync({ subject: 'u', operation: 'write', id: 'one' })
      const [part] = partsOf(store.snapshot())
      clock.at = at as number
      const isUnavailable = expect.objectContaining({
        code: 'quota_unavailable',
        cause: expect.objectContaining({ code: 'store_error' }),
      })
      const request = { subject: 'u', operation: 'write' } as const
      expect(() => quota.consumeSync(request)).toThrowError(isUnavailable)
      expect(() => quota.peekSync(request)).toThrowError(isUnavailable)
      expect(() => quota.statusSync('u')).toThrowError(isUnavailable)
      expect(() => quota.reserveSync({ ...request, id: 'two' })).toThrowError(isUnavailable)
      expect(() => held.cancel()).toThrowError(isUnavailable)
      // Nothing saved is better than nobody's counters saved as everybody's.
      const isStoreError = expect.objectContaining({ code: 'store_error' })
      expect(() => [...store.snapshot()]).toThrowError(isStoreError)
      expect(() => store.restore(part)).toThrowError(isStoreError)

      clock.at = START
      expect(quota.consumeSync(request).allowed).toBe(false)
      expect(quota.reserveSync({ ...request, id: 'one' }).status).toBe('duplicate')
      held.cancel()
      expect(quota.consumeSync(request).allowed).toBe(true)
    },
  )
})
