import { cellsIn, type StoreSchema, slotsCell, type TakeRequest, windowCell } from '@scoregw/quota/store'
import { manualClock } from '@scoregw/quota-testkit'
import { Redis } from 'ioredis'
import { describe, expect, it } from 'vitest'
import { Keys } from '../src/keys/keys.ts'
import { batchScript, lineTo, Shard, Tick } from './fixtures/version-60fd3be7.js'
import { newPrefix, openStore } from './store-harness.ts'
import { useCleanups, useRedis } from './support/cleanups.ts'
import { redisTests } from './support/redis-server.ts'

const { later } = useCleanups()

const HOUR_MS = 3_600_000
const WINDOWS = ['1h', '5h', '24h'].map((label) =>
  windowCell({ label, lengthMs: Number.parseInt(label, 10) * HOUR_MS }),
)
const UNITS = ['tokens']
const SCHEMA: StoreSchema = {
  units: UNITS,
  cells: cellsIn(UNITS, [...WINDOWS, slotsCell('running')]),
  categories: ['write'],
  layers: [
    { name: 'personal', shared: false },
    { name: 'site', shared: true },
  ],
}
const CELLS = SCHEMA.cells.length
/** The name of the script of 60fd3be7 for three windows, since holds grow to 2^53 - 1 and no further. */
const SCRIPT = '96164434be3d8e006f5cb03d607d16527cd993ae'

/** The counters as 60fd3be7 has them. */
type OldCounters = Pick<Shard, 'take' | 'settle' | 'settleHold' | 'extend' | 'grow' | 'list' | 'read' | 'sweeper'>

describe.runIf(redisTests)('the previous version and this one on one server', () => {
  const redis = useRedis()

  async function both() {
    const [prefix, clock] = [newPrefix(), manualClock()]
    const line = lineTo(new Redis({ port: redis.port, lazyConnect: true }), `{${prefix}}`, { evictionPolicy: 'warn' })
    const tick = new Tick((send) => send())
    const parts = { line, prefix, schema: SCHEMA, deadlineMs: 1_000, testClock: clock, hasHolds: true, tick }
    const old: OldCounters & { close(): Promise<void> } = new Shard(parts)
    const store = openStore(redis.port, prefix, clock)
    later(async () => {
      await Promise.all([old.close(), store.close()])
      line.close()
    })
    await Promise.all([line.ready(), store.ready()])
    const counters = store.open(SCHEMA)
    return { old, counters, holds: counters.holds!, clock, keys: new Keys(prefix, SCHEMA) }
  }

  const limitsOf = (tokens: number, slots: number): readonly number[] =>
    [0, 1].flatMap(() => [...WINDOWS.map(() => tokens), slots])
  const id = (name: string, nonce = 'n') => ({ id: name, nonce, fingerprint: 'f', ttlMs: HOUR_MS })
  const request = (more: Partial<TakeRequest> = {}, tokens = 20, slots = 2): TakeRequest => ({
    ...{ subject: 'u', category: 0, quotas: { layers: [0, 1], limits: limitsOf(tokens, slots) }, costs: [1, 0] },
    ...more,
  })
  const held = (name: string, tokens = 3, maxHolds = 9, limits = 20): TakeRequest =>
    request({ costs: [tokens, 1], id: id(name), hold: { ttlMs: 60_000, maxHolds } }, limits)
  const usedOf = async (counters: Pick<OldCounters, 'read'>): Promise<readonly number[]> => {
    const { states } = await counters.read({ subject: 'u', categories: [0], layers: [0, 1] })
    return states[0]!.filter((_, index) => index % 2 === 1)
  }
  const all = (tokens: number, slots: number): readonly number[] => limitsOf(tokens, slots)

  it('the recorded script is exactly the previous version’s', () => {
    expect(batchScript({ cells: cellsIn(UNITS, WINDOWS), units: 1 }).sha).toBe(SCRIPT)
  })

  it('two versions admit together exactly what a limit allows', async () => {
    const { old, counters } = await both()
    const admitted: string[] = []
    for (let wave = 0; wave < 5; wave++) {
      const replies = await Promise.all(
        [old, counters].flatMap((each) => Array.from({ length: 4 }, () => each.take(request()))),
      )
      admitted.push(...replies.map(({ outcome }) => outcome).filter((outcome) => outcome === 'admitted'))
    }
    expect(admitted).toHaveLength(20)
    expect(await usedOf(counters)).toEqual(await usedOf(old))
    expect(await usedOf(old)).toEqual(all(20, 0))
  })

  it('two versions share slots and the maximum of holds', async () => {
    const { old, counters } = await both()
    expect((await old.take(held('a'))).outcome).toBe('admitted')
    expect((await counters.take(held('b'))).outcome).toBe('admitted')
    for (const each of [old, counters]) expect((await each.take(held('c'))).outcome).toBe('refused')
    const few = request({ costs: [1, 0], id: id('d'), hold: { ttlMs: 60_000, maxHolds: 2 } })
    for (const each of [old, counters]) expect((await each.take(few)).outcome).toBe('too_many_holds')
  })

  it('a previous-version hold is given back once, whichever version ends it, also after its processes are gone', async () => {
    const { old, counters, holds, clock, keys } = await both()
    for (const name of ['a', 'b']) await old.take(held(name))
    await counters.take(request())
    clock.advance(60_000)
    const { ended, open } = await holds.sweep()
    expect(ended.map(({ costs }) => costs)).toEqual([
      { tokens: 3, slots: 1 },
      { tokens: 3, slots: 1 },
    ])
    expect(open).toBe(0)
    await old.sweeper.sweep()
    expect([await usedOf(counters), await usedOf(old)]).toEqual([all(1, 0), all(1, 0)])
    expect(await redis.admin.exists(keys.holds, keys.holdsOf('u'))).toBe(0)
  })

  it('the previous version leaves this version’s holds open, and the indexes keep every entry', async () => {
    const { old, counters, holds, clock } = await both()
    await counters.take(held('a'))
    await old.take(held('b'))
    clock.advance(60_000)
    await old.sweeper.sweep()
    expect(await usedOf(old)).toEqual(all(3, 1))
    await holds.sweep()
    expect(await usedOf(old)).toEqual(all(0, 0))
  })

  it('this version settles, extends and grows a previous-version hold by its record', async () => {
    const { old, holds, clock } = await both()
    for (const name of ['a', 'b']) await old.take(held(name))
    await old.grow({ ...request({ costs: [2, 0] }), id: id('a') })
    expect((await holds.list({ subject: 'u' })).holds.map(({ id: name, costs }) => [name, costs])).toEqual([
      ['a', { tokens: 5, slots: 1 }],
      ['b', { tokens: 3, slots: 1 }],
    ])
    expect(await holds.grow({ ...request({ costs: [1, 0] }), id: id('a') })).toMatchObject({ outcome: 'held' })
    expect(await holds.extend({ subject: 'u', category: 0, id: id('a'), ttlMs: 90_000 })).toMatchObject({
      outcome: 'held',
    })
    expect(await usedOf(old)).toEqual(all(9, 2))
    clock.advance(60_000)
    const end = { ...request(), as: 'committed', actual: [4], overrun: 'charge', maxOverrun: [9] } as const
    expect(await holds.settle({ ...end, id: id('a') })).toMatchObject({
      outcome: 'settled',
      charged: [4],
      reserved: [6],
    })
    // A late commit of one that is due, and was never swept.
    expect(await holds.settle({ ...end, id: id('b') })).toMatchObject({
      outcome: 'settled',
      charged: [4],
      reserved: [3],
    })
    expect(await usedOf(old)).toEqual(all(8, 0))
    expect(await holds.settle({ ...end, id: id('b') })).toMatchObject({ outcome: 'settled', charged: [4] })
  })

  it('this version recognizes previous-version ids: a retry is charged once and settled once', async () => {
    const { old, counters } = await both()
    const of = request({ costs: [5, 0], id: id('i') })
    const first = await old.take(of)
    expect(await counters.take(of)).toMatchObject({ outcome: 'admitted', states: first.states })
    expect((await counters.take({ ...of, id: id('i', 'another') })).outcome).toBe('duplicate')
    expect((await counters.take({ ...of, id: { ...id('i'), fingerprint: 'g' } })).outcome).toBe('conflict')
    const { states } = first
    const settle = {
      subject: 'u',
      category: 0,
      layers: [0, 1],
      states,
      refunds: [2],
      as: 'cancelled',
      id: id('i'),
    } as const
    await counters.settle(settle)
    await counters.settle(settle)
    expect(await usedOf(old)).toEqual(all(3, 0))
    expect((await counters.take(of)).outcome).toBe('cancelled')
  })

  it('an extended previous-version hold ends once while its holder settles it', async () => {
    const { old, counters, holds } = await both()
    await old.take(held('a'))
    const end = { ...request(), id: id('a'), as: 'committed', overrun: 'refuse', maxOverrun: [0] } as const
    const outcomes = await Promise.all([old.settleHold(end), holds.settle(end), holds.extend({ ...end, ttlMs: 1_000 })])
    expect(outcomes.map(({ outcome }) => outcome)).toContain('settled')
    expect((await usedOf(counters)).filter((_, cell) => cell % CELLS === CELLS - 1)).toEqual([0, 0])
    expect(await usedOf(counters)).toEqual(all(3, 0))
  })
})
