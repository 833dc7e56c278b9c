import { cellsIn, GRACE_MS, windowCell } from '@scoregw/quota/internal'
import type { StoreSchema, TakeReply } from '@scoregw/quota/store'
import { uniform, withCells } from '@scoregw/quota-histories'
import * as fc from 'fast-check'
import { Redis } from 'ioredis'
import { describe, expect, it } from 'vitest'
import type { RedisCounters } from '../src/index.ts'
import { Keys } from '../src/keys/keys.ts'
import { openStore } from './store-harness.ts'
import { useCleanups } from './support/cleanups.ts'
import { redisTests } from './support/redis-server.ts'

const { later, server } = useCleanups()

const SCHEMA = uniform(
  ['tokens'],
  cellsIn(
    ['tokens'],
    [
      windowCell({ label: '1s', lengthMs: 1_000 }),
      windowCell({ label: '1h', lengthMs: 3_600_000 }),
      windowCell({ label: '1d', lengthMs: 86_400_000 }),
    ],
  ),
  [
    { name: 'personal', shared: false },
    { name: 'site', shared: true },
  ],
)
const HOURS = withCells(
  SCHEMA,
  cellsIn(
    ['tokens'],
    SCHEMA.layers[0]!.cells.map(({ label }, i) => windowCell({ label, lengthMs: 3_600_000 * (i + 1) })),
  ),
)
/** One layer with windows of 1 hour, 2 hours and so on. */
function withLimits(count: number): StoreSchema {
  const windows = Array.from({ length: count }, (_, n) =>
    windowCell({ label: `${n + 1}h`, lengthMs: 3_600_000 * (n + 1) }),
  )
  return uniform(['tokens'], cellsIn(['tokens'], windows), [{ name: 'personal', shared: false }])
}
const PLENTY = [100, 100, 100, 1_000, 1_000, 1_000]

function take(store: RedisCounters, subject: string, cost = 1, limits = PLENTY, id?: string): Promise<TakeReply> {
  const reservation = id === undefined ? undefined : { id, nonce: 'n', fingerprint: 'f', ttlMs: 30_000 }
  const quotas = { layers: [0, 1], limits }
  return store.take({ subject, set: 0, quotas, costs: [cost, 0], settingsRevision: '', id: reservation })
}

function storeOn(port: number, schema = HOURS, prefix = 'q'): RedisCounters {
  const store = openStore(port, prefix)
  later(() => store.close())
  return store.open(schema)
}

function clientOn(port: number): Redis {
  const client = new Redis({ port })
  later(() => client.disconnect())
  return client
}

/** Every key with its bytes and the instant at which it goes. */
async function everything(client: Redis): Promise<Record<string, readonly [bytes: string, expiresAt: number]>> {
  const entries = (await client.keys('*')).sort().map(async (key) => {
    const [bytes, expiresAt] = await Promise.all([client.dumpBuffer(key), client.call('PEXPIRETIME', key)])
    return [key, [bytes.toString('hex'), Number(expiresAt)]] as const
  })
  return Object.fromEntries(await Promise.all(entries))
}

/** When rows and records go. */
async function expiries(client: Redis): Promise<number[]> {
  const { '{q}:limits': _, ...others } = await everything(client)
  return Object.values(others).map(([, expiresAt]) => expiresAt)
}

async function codeOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => 'answered',
    (error: { code?: unknown }) => error.code,
  )
}

describe.runIf(redisTests)('the batch script', () => {
  it('a refusal changes no byte and no expiry', async () => {
    const { port } = await server()
    const store = storeOn(port)
    const client = clientOn(port)
    for (const user of ['a', 'b']) await take(store, user, 7)
    const before = await everything(client)
    expect(Object.keys(before)).toHaveLength(4)
    for (let exhausted = 0; exhausted < 6; exhausted++) {
      const used = exhausted < 3 ? 7 : 14
      const limits = PLENTY.map((limit, index) => (index === exhausted ? used : limit))
      const together = Array.from({ length: 70 }, (_, n) =>
        take(store, 'ab'[n % 2] ?? 'a', 1, limits, n < 20 ? `i${n}` : undefined),
      )
      for (const { outcome } of await Promise.all(together)) expect(outcome).toBe('refused')
      for (let n = 0; n < 5; n++) expect((await take(store, 'a', 1, limits)).outcome).toBe('refused')
      if (exhausted > 2) expect((await take(store, 'a newcomer', 1, limits)).outcome).toBe('refused')
    }
    await client.set('{q}:settings', 'another revision is it')
    expect((await take(store, 'a')).outcome).toBe('stale')
    await client.del('{q}:settings')
    expect(await everything(client)).toEqual(before)
  })

  it('decisions use the server’s time, and a key expires a minute after its last window', async () => {
    const { port } = await server()
    const store = storeOn(port, SCHEMA)
    const client = clientOn(port)
    const earliest = Date.now()
    const { now, states } = await take(store, 'u', 3)
    expect(now).toBeGreaterThanOrEqual(earliest)
    expect(now).toBeLessThanOrEqual(Date.now())
    expect(states).toEqual([now, 3, now, 3, now, 3, now, 3, now, 3, now, 3])
    const own = new Keys('q', SCHEMA).row(0, 'u')
    const goesAt = Number(await client.call('PEXPIRETIME', own))
    // An expiry is in whole seconds from the instant of its command, which may be a moment after the decision's.
    expect(Math.abs(goesAt - (now + 86_400_000 + GRACE_MS))).toBeLessThan(1_000)
    await take(store, 'u', 3)
    await store.settle({ subject: 'u', set: 0, layers: [0, 1], states, refunds: [2], as: 'cancelled' })
    await store.reset({ subject: 'u', limits: [0, 1, 2] })
    expect(await client.call('PEXPIRETIME', own)).toBe(goesAt)
    const again = await take(store, 'u', 3, PLENTY, 'i')
    expect(again.states.slice(0, 6)).toEqual(
      [again.now, 3, again.now, 3, again.now, 3].map((n, i) => (i % 2 ? n : Math.max(n, now + 1))),
    )
    const later = await expiries(client)
    expect(later).toHaveLength(3)
    expect(Math.min(...later)).toBeGreaterThan(now)
    expect(Math.abs(Math.max(...later) - ((again.states[4] ?? 0) + 86_400_000 + GRACE_MS))).toBeLessThan(1_000)
  })

  it('only the list of limits has no expiry', async () => {
    const { port } = await server()
    const schema = withCells(SCHEMA, cellsIn(['tokens'], [windowCell({ label: '1s', lengthMs: 1_000 })]))
    const store = storeOn(port, schema)
    const client = clientOn(port)
    const replies = await Promise.all(
      Array.from({ length: 40 }, (_, n) => take(store, `u${n}`, 1, [9, 999], n % 4 === 0 ? `i${n}` : undefined)),
    )
    const last = Math.max(...replies.map(({ now }) => now))
    const ends = await expiries(client)
    expect(ends).toHaveLength(51)
    expect(Math.min(...ends)).toBeGreaterThan(0)
    expect(Math.max(...ends)).toBeLessThan(last + 1_000 + GRACE_MS + 1_000)
  })

  it('the script writes only under its prefix in one slot, and prefixes are separate', async () => {
    const { port } = await server()
    const client = clientOn(port)
    for (const store of [storeOn(port, HOURS, 'a'), storeOn(port, HOURS, 'b')]) {
      expect((await take(store, 'u', 5, PLENTY, 'i')).states[1]).toBe(5)
    }
    const keys = await client.keys('*')
    expect(keys).toHaveLength(8)
    for (const key of keys) expect(key).toMatch(/^\{[ab]\}/)
  })

  it('different subjects and ids have different keys, whatever characters they contain', () => {
    const layers = ['personal', 'team'].map((name) => ({ name, shared: false }))
    const keys = new Keys('q', uniform(SCHEMA.units, SCHEMA.layers[0]!.cells, layers))
    const nasty = fc.constantFrom(
      '',
      ':',
      '!',
      '=',
      '#',
      '{',
      '}',
      '0',
      '1',
      '3',
      '\0',
      '\ud800',
      '\udfff',
      'é',
      '__proto__',
    )
    const text = fc.oneof(
      fc.array(nasty, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('')),
      fc.string({ unit: 'binary', maxLength: 6 }),
    )
    const name = fc.oneof(
      fc.record({ layer: fc.nat(1), subject: text, id: fc.constant(null) }),
      fc.record({ layer: fc.constant(0), subject: text, id: text }),
    )
    void fc.assert(
      fc.property(name, name, (a, b) => {
        const [one, two] = [a, b].map(({ layer, subject, id }) =>
          Buffer.from(id === null ? keys.row(layer, subject) : keys.recordPlace(subject, id).key).toString('hex'),
        )
        expect(one === two).toBe(JSON.stringify(a) === JSON.stringify(b) && a.subject === b.subject && a.id === b.id)
      }),
      { numRuns: 1_000 },
    )
  })

  it('the script is loaded again without an error when the server forgot it', async () => {
    const { port } = await server()
    const store = storeOn(port)
    const client = clientOn(port)
    let admitted = 0
    for (let round = 0; round < 30; round++) {
      const calls = Array.from({ length: 20 }, (_, n) => take(store, `u${n}`, 1, PLENTY))
      const flushed = client.script('FLUSH')
      for (const { outcome } of await Promise.all(calls)) if (outcome === 'admitted') admitted++
      await flushed
    }
    expect(admitted).toBe(600)
    const { states } = await store.read({ subject: 'u0', set: 0, layers: [1] })
    expect(states[7]).toBe(600)
  })

  it('a full server gets no writes, and refusals and reads are still answered', async () => {
    const { port } = await server()
    const store = storeOn(port)
    const client = clientOn(port)
    const { now } = await take(store, 'u', 9)
    await client.config('SET', 'maxmemory', '1')
    const before = await everything(client)
    const limits = [9, 9, 9, 99, 99, 99]
    expect(await codeOf(take(store, 'u'))).toBe('store_error')
    expect(await codeOf(Promise.all([take(store, 'u'), take(store, 'v', 1, PLENTY, 'i')]))).toBe('store_error')
    expect(await codeOf(store.reset({ subject: 'u', limits: [0, 1, 2, 3, 4, 5] }))).toBe('store_error')
    expect((await take(store, 'u', 1, limits)).outcome).toBe('refused')
    const { states } = await store.read({ subject: 'u', set: 0, layers: [0] })
    expect(states.slice(0, 6)).toEqual([now, 9, now, 9, now, 9])
    await client.config('SET', 'maxmemory', '0')
    expect(await everything(client)).toEqual(before)
    expect((await take(store, 'u')).outcome).toBe('admitted')
  })

  it('a read-only server gets no writes', async () => {
    const { port } = await server()
    const store = storeOn(port)
    const client = clientOn(port)
    await take(store, 'u', 9)
    await client.config('SET', 'min-replicas-to-write', '1')
    const before = await everything(client)
    expect(await codeOf(Promise.all([take(store, 'u'), take(store, 'v')]))).toBe('store_error')
    expect((await take(store, 'u', 1, [9, 9, 9, 99, 99, 99])).outcome).toBe('refused')
    expect(await everything(client)).toEqual(before)
  })

  it('only the request whose row or record has the wrong type fails', async () => {
    const { port } = await server()
    const store = storeOn(port)
    const client = clientOn(port)
    const keys = new Keys('q', HOURS)
    await take(store, 'u', 9)
    const row = keys.row(0, 'list')
    const hostile = [
      () => client.lpush(row, 'x'),
      () => client.hset(row, 'x', 'y'),
      () => client.set(row, 'not a row'),
      () => client.set(row, ''),
    ]
    for (const plant of hostile) {
      await plant()
      const before = await client.dumpBuffer(row)
      const codes = [take(store, 'u'), take(store, 'list'), take(store, 'v'), take(store, 'list', 0, PLENTY, 'j')]
      expect(await Promise.all(codes.map(codeOf))).toEqual(['answered', 'damaged_row', 'answered', 'damaged_row'])
      expect(await codeOf(store.read({ subject: 'list', set: 0, layers: [0] }))).toBe('damaged_row')
      expect(await client.dumpBuffer(row)).toEqual(before)
      await store.reset({ subject: 'list', limits: [0, 1, 2] })
      expect((await take(store, 'list', 2)).states.slice(0, 6).filter((_, i) => i % 2 === 1)).toEqual([2, 2, 2])
      expect(await client.pttl(row)).toBeGreaterThan(0)
      await client.del(row)
    }
    const record = keys.recordPlace('u', 'i').key
    const { states } = await take(store, 'u', 1)
    const settled = { subject: 'u', set: 0, layers: [0, 1], states, refunds: [1], as: 'cancelled' } as const
    const id = { id: 'i', nonce: 'n', fingerprint: 'f', ttlMs: 30_000 }
    for (const plant of [() => client.lpush(record, 'x'), () => client.set(record, '\x93\xa1R')]) {
      await plant()
      const before = await everything(client)
      const calls = [take(store, 'u', 1, PLENTY, 'i'), store.settle({ ...settled, id })]
      expect(await Promise.all(calls.map(codeOf))).toEqual(['damaged_row', 'damaged_row'])
      expect(await everything(client)).toEqual(before)
      await client.del(record)
    }
  })

  it('an operation may have any number of rows', async () => {
    const { port } = await server()
    const layers = Array.from({ length: 128 }, (_, n) => ({ name: `l${n}`, shared: n > 0 }))
    const schema = uniform(HOURS.units, HOURS.layers[0]!.cells, layers)
    const store = storeOn(port, schema)
    const all = [...layers.keys()]
    const quotas = { layers: all, limits: all.flatMap(() => [9, 9, 9]) }
    await store.take({ subject: 'u', set: 0, quotas, costs: [2, 0] })
    const taken = await store.read({ subject: 'u', set: 0, layers: all })
    expect(new Set(taken.states.filter((_, index) => index % 2 === 1))).toEqual(new Set([2]))
    await store.reset({ subject: 'u', limits: schema.sets[0]! })
    const { states } = await store.read({ subject: 'u', set: 0, layers: all })
    expect(new Set(states)).toEqual(new Set([-1, 0]))
  })

  it('a row may have more limits than a byte counts', async () => {
    const { port } = await server()
    const store = storeOn(port, withLimits(300))
    const quotas = { layers: [0], limits: Array(300).fill(9) }
    const outcomes: string[] = []
    for (const cost of [4, 5, 1]) {
      outcomes.push((await store.take({ subject: 'u', set: 0, quotas, costs: [cost, 0] })).outcome)
    }
    expect(outcomes).toEqual(['admitted', 'admitted', 'refused'])
    const { states } = await store.read({ subject: 'u', set: 0, layers: [0] })
    expect(new Set(states.filter((_, index) => index % 2 === 1))).toEqual(new Set([9]))
  })

  it('many requests of many limits, all with numbers of their own, are sent in calls that the script can read', async () => {
    const { port } = await server()
    const store = storeOn(port, withLimits(12))
    const takes = Array.from({ length: 256 }, (_, n) => {
      const quotas = { layers: [0], limits: Array(12).fill(1_000 + n) }
      return store.take({ subject: `u${n}`, set: 0, quotas, costs: [1, 0] })
    })
    expect(new Set((await Promise.all(takes)).map(({ outcome }) => outcome))).toEqual(new Set(['admitted']))
  })
})
