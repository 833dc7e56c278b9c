import { cellsIn, hash32, RowLayout, windowCell } from '@scoregw/quota/internal'
import type { CellSchema, StoreSchema, TakeReply } from '@scoregw/quota/store'
import { uniform } from '@scoregw/quota-histories'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Keys } from '../src/keys/keys.ts'
import { newPrefix, openStore } from './store-harness.ts'
import { useCleanups, useRedis } from './support/cleanups.ts'
import { redisTests } from './support/redis-server.ts'

const deep = process.env.QUOTA_TEST_DEEP === '1'
const RUNS = deep ? 1_000 : 12

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

const LENGTHS: Readonly<Record<string, number>> = {
  '1m': MINUTE_MS,
  '1h': HOUR_MS,
  B: HOUR_MS,
  a: HOUR_MS,
  '5h': 5 * HOUR_MS,
  '1d': DAY_MS,
}

const PERSONAL = { name: 'personal', shared: false }
const SITE = { name: 'site', shared: true }

function cellsOf(labels: readonly string[]): readonly CellSchema[] {
  return cellsIn(
    ['tokens'],
    labels.map((label) => windowCell({ label, lengthMs: LENGTHS[label]! })),
  )
}

function schemaOf(labels: readonly string[], layers = [PERSONAL, SITE]): StoreSchema {
  return uniform(['tokens'], cellsOf(labels), layers)
}

function rowLayout(...labels: readonly string[]): RowLayout {
  return new RowLayout(cellsOf(labels))
}

const [ONE, OTHER] = [schemaOf(['1h', '1d']), schemaOf(['1h', '5h'])]
const UNION = rowLayout('1h', '5h', '1d')

const { later } = useCleanups()

describe.runIf(redisTests)('policies that share counters on Redis', () => {
  const redis = useRedis()

  function party(prefix: string, schema: StoreSchema) {
    const store = openStore(redis.port, prefix)
    later(() => store.close())
    const counters = store.open(schema)
    const keys = new Keys(prefix, schema)
    const layers = schema.layers.map((_, index) => index)
    const width = schema.layers[0]!.cells.length
    return {
      keys,
      counters,
      row: keys.row(0, 'u'),
      take: (cost = 1, subject = 'u', limits = schema.sets[0]!.map(() => 99)): Promise<TakeReply> =>
        counters.take({ subject, set: 0, quotas: { layers, limits }, costs: [cost, 0] }),
      used: async (subject = 'u'): Promise<readonly number[]> => {
        const { states } = await counters.read({ subject, set: 0, layers: [0] })
        return states.filter((_, index) => index % 2 === 1).slice(0, width)
      },
      cancel: (subject: string, { states }: TakeReply, refunds: number) =>
        counters.settle({ subject, set: 0, layers, states, refunds: [refunds], as: 'cancelled' }),
      reset: (subject = 'u') => counters.reset({ subject, limits: [...Array(width).keys()] }),
    }
  }

  async function codeOf(call: Promise<unknown>): Promise<unknown> {
    return call.then(
      () => 'answered',
      (error: { code?: unknown }) => error.code,
    )
  }

  const field = (hash: number): string => hash.toString(16).padStart(8, '0')
  const hashOfRow = async (key: string): Promise<number> => (await redis.admin.getBuffer(key))!.readUInt32LE(1)

  it('rows name their list of limits, and equal sets of limits share one list', async () => {
    for (const order of [
      [ONE, OTHER],
      [OTHER, ONE],
    ] as const) {
      const prefix = newPrefix()
      for (const schema of order) await party(prefix, schema).take()
      const { row, keys } = party(prefix, ONE)
      expect(await hashOfRow(row)).toBe(UNION.hash)
      expect(await redis.admin.hget(keys.lists, field(UNION.hash))).toBe(UNION.list)
      expect((await redis.admin.getBuffer(row))!.length).toBe(5 + 13 * 3)
      for (const list of Object.values(await redis.admin.hgetall(keys.lists))) {
        expect(await redis.admin.hget(keys.lists, field(hash32(list)))).toBe(list)
      }
    }
  })

  it('limits of equal length are ordered by the bytes of their labels, as in every store', async () => {
    const prefix = newPrefix()
    await party(prefix, schemaOf(['a', '1d'])).take()
    await party(prefix, schemaOf(['B', '1h'])).take()
    const expected = rowLayout('a', '1d', 'B', '1h')
    expect(expected.list).toMatch(/1h .*\n.*B .*\n.*a .*\n.*1d/)
    expect(await hashOfRow(party(prefix, ONE).row)).toBe(expected.hash)
  })

  it('a limit of other policies only is dropped a minute after it ended and not before', async () => {
    const prefix = newPrefix()
    const now = Date.now()
    const { row, keys, take } = party(prefix, ONE)
    const theirs = rowLayout('1m', '1h')
    await redis.admin.hset(keys.lists, field(theirs.hash), theirs.list)
    for (const [startedAgoMs, isKept] of [
      [2 * MINUTE_MS - 5_000, true],
      [2 * MINUTE_MS + 1, false],
    ] as const) {
      await redis.admin.set(row, rowOf(theirs, [now - startedAgoMs, now], [3, 4]))
      const { states } = await take()
      expect(states.slice(0, 4)).toEqual([now, 5, states[2], 1])
      const expected = rowLayout(...(isKept ? ['1m', '1h', '1d'] : ['1h', '1d']))
      expect(await hashOfRow(row)).toBe(expected.hash)
    }
  })

  it('limits of unknown kinds are kept as long as their row', async () => {
    const prefix = newPrefix()
    const { row, keys, take, used, reset } = party(prefix, ONE)
    const list = `${windowCell({ label: '1h', lengthMs: HOUR_MS }).identity}\ncalendar month Asia/Shanghai`
    const keptMs = 30 * DAY_MS
    await redis.admin.hset(keys.lists, field(hash32(list)), list)
    await redis.admin.set(row, rowOf({ hash: hash32(list) }, [Date.now(), 5], [3, 8]), 'PX', keptMs)
    await take(2)
    expect(await used()).toEqual([5, 2])
    const bytes = (await redis.admin.getBuffer(row))!
    const union = await redis.admin.hget(keys.lists, field(bytes.readUInt32LE(1)))
    expect(union?.split('\n')).toEqual([...rowLayout('1h', '1d').identities, 'calendar month Asia/Shanghai'])
    expect(bytes.readUIntLE(5 + 14, 6)).toBe(8)
    expect(bytes.readUIntLE(5 + 21 + 12, 6)).toBe(5)
    await reset()
    expect((await redis.admin.getBuffer(row))!.subarray(5 + 14, 5 + 21)).toEqual(bytes.subarray(5 + 14, 5 + 21))
    expect(await redis.admin.pttl(row)).toBeGreaterThan(keptMs - MINUTE_MS)
  })

  it('a write never shortens a row’s expiry and extends it where needed', async () => {
    const prefix = newPrefix()
    const short = party(prefix, schemaOf(['1m']))
    const long = party(prefix, schemaOf(['1d']))
    const lasts = (ms: number) => async () => {
      const ttl = await redis.admin.pttl(short.row)
      expect(ttl).toBeGreaterThan(ms)
      expect(ttl).toBeLessThanOrEqual(ms + MINUTE_MS)
    }
    const taken = await short.take(3)
    await lasts(MINUTE_MS)()
    await long.take(3)
    await lasts(DAY_MS)()
    for (const write of [
      () => short.take(),
      () => short.cancel('u', taken, 1),
      () => short.reset(),
      () => short.take(),
    ]) {
      await write()
      await lasts(DAY_MS)()
    }
    // Whatever else a row was to be kept for.
    await redis.admin.pexpire(short.row, 9 * DAY_MS)
    await short.reset()
    await short.take()
    await long.reset()
    await long.take()
    await lasts(9 * DAY_MS - MINUTE_MS)()
    await redis.admin.persist(short.row)
    await short.reset()
    await short.take()
    await lasts(DAY_MS)()
  })

  it('policies continue after FLUSHALL during their work, lists included', async () => {
    const prefix = newPrefix()
    const [one, other] = [party(prefix, ONE), party(prefix, OTHER)]
    for (let round = 0; round < 3; round++) {
      await Promise.all([one.take(), other.take(), one.take(2)])
      await redis.admin.flushall()
      await Promise.all([one.take(1, 'v'), other.take(1, 'w')])
      expect([await one.used('w'), await other.used('v')]).toEqual([
        [1, 0],
        [1, 0],
      ])
      await other.take(1, 'v')
      expect([await one.used('v'), await other.used('v')]).toEqual([
        [2, 1],
        [2, 1],
      ])
      await redis.admin.flushall()
    }
  })

  it('a row whose list was lost is reported as damaged, and the policy’s own rows are unaffected', async () => {
    const prefix = newPrefix()
    const [one, other] = [party(prefix, ONE), party(prefix, OTHER)]
    await one.take(5)
    await redis.admin.del(one.keys.lists)
    expect((await one.take()).outcome).toBe('admitted')
    expect(await codeOf(other.take())).toBe('damaged_row')
    expect(await codeOf(other.used())).toBe('damaged_row')
    // The shared row is as damaged to it; both are repaired.
    await other.counters.reset({ subject: 'u', limits: OTHER.sets[0]! })
    expect((await other.take(2)).outcome).toBe('admitted')
    expect(await one.used()).toEqual([2, 0])
    // More or fewer cells than its list has limits.
    for (const cells of [1, 3]) {
      const numbers = Array.from({ length: cells }, () => 1)
      await redis.admin.set(one.row, rowOf(other.keys.layout.rows[0]!, numbers, numbers))
      expect(await codeOf(one.take())).toBe('damaged_row')
      expect(await codeOf(other.take())).toBe('damaged_row')
    }
    for (const text of ['', 'rolling 1h 3600000', 'rolling 1h 3600000\nrolling 1d NaN', '\n\n', 'x'.repeat(1_000)]) {
      await one.take(1, 'v')
      await redis.admin.hset(one.keys.lists, field(one.keys.layout.rows[0]!.hash), text)
      expect(await codeOf(other.take(1, 'v')), JSON.stringify(text)).toBe('damaged_row')
      await redis.admin.hset(one.keys.lists, field(one.keys.layout.rows[0]!.hash), one.keys.layout.rows[0]!.list)
    }
  })

  it('a row of another list with an amount that no script writes is damaged, and nothing is charged', async () => {
    const prefix = newPrefix()
    const [one, other] = [party(prefix, ONE), party(prefix, OTHER)]
    await one.take(5)
    const keys = [one.row, one.keys.row(1, 'u')]
    const written = (await redis.admin.getBuffer(one.row))!
    // Below and above what is written, of the hour that both have and of the day that only the row's list has.
    for (const [byte, cell] of [
      [0x80, 0],
      [0x7f, 0],
      [0x80, 1],
      [0x7f, 1],
    ] as const) {
      const row = Buffer.from(written).fill(byte, 5 + 7 * cell, 12 + 7 * cell)
      await redis.admin.set(one.row, row)
      const before = await redis.admin.mgetBuffer(keys)
      expect(await codeOf(other.take())).toBe('damaged_row')
      expect(await redis.admin.mgetBuffer(keys)).toEqual(before)
    }
  })

  it('a row isn’t written if another list has its own list’s name', async () => {
    const prefix = newPrefix()
    const { take, keys } = party(prefix, ONE)
    await redis.admin.hset(keys.lists, field(keys.layout.rows[0]!.hash), 'rolling 9h 32400000')
    const before = await redis.admin.keys(`{${prefix}}*`)
    expect(await codeOf(take())).toBe('store_mismatch')
    expect(await redis.admin.keys(`{${prefix}}*`)).toEqual(before)
    await redis.admin.del(keys.lists)
    expect((await take()).outcome).toBe('admitted')
  })

  it('an id is repeated and settled across policies, and refunds reach the other policy’s limits', async () => {
    const prefix = newPrefix()
    const [one, other] = [party(prefix, ONE), party(prefix, OTHER)]
    const id = { id: 'i', nonce: 'n', fingerprint: 'f', ttlMs: 60_000 }
    const request = {
      subject: 'u',
      set: 0,
      quotas: { layers: [0, 1], limits: [99, 99, 99, 99] },
      costs: [5, 0],
      id,
    }
    // Rows are of another list before the first of the one, and never of its alone.
    await other.take(2)
    const first = await one.counters.take(request)
    const { outcome, states } = await other.counters.take(request)
    expect(outcome).toBe('admitted')
    const [hour, hourUsed, day] = first.states
    expect(states).toEqual([hour, hourUsed, -1, 0, hour, hourUsed, -1, 0])
    expect([await one.used(), await other.used()]).toEqual([
      [7, 5],
      [7, 2],
    ])
    const settled = { subject: 'u', set: 0, layers: [0, 1], states, refunds: [4], as: 'cancelled', id } as const
    await other.counters.settle(settled)
    await other.counters.settle(settled)
    expect([await one.used(), await other.used()]).toEqual([
      [3, 1],
      [3, 2],
    ])
    expect((await one.counters.take(request)).outcome).toBe('cancelled')
    const { states: shared } = await one.counters.read({ subject: '', set: 0, layers: [1] })
    expect(shared.slice(4)).toEqual([hour, 3, day, 1])
  })

  it('rows and records of any bytes are answered or refused and never admit above a limit', async () => {
    const prefix = newPrefix()
    const { row, keys, take, counters, reset } = party(prefix, ONE)
    const theirs = rowLayout('1h', '5h')
    for (const { hash, list } of [keys.layout.rows[0]!, theirs]) await redis.admin.hset(keys.lists, field(hash), list)
    const record = keys.recordPlace('u', 'i').key
    const head = fc.constantFrom(keys.layout.rows[0]!.hash, theirs.hash, 7).map((hash) => rowOf({ hash }, [], []))
    const some = fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes))
    const cells = fc.uint8Array({ minLength: 26, maxLength: 26 }).map((bytes) => Buffer.from(bytes))
    const bytes = fc.oneof(some, fc.tuple(head, cells).map(Buffer.concat), fc.tuple(head, some).map(Buffer.concat))
    await fc.assert(
      fc.asyncProperty(bytes, async (value) => {
        await Promise.all([redis.admin.set(row, value), redis.admin.set(record, value)])
        const id = { id: 'i', nonce: 'n', fingerprint: 'f', ttlMs: 1_000 }
        const quotas = { layers: [0], limits: [5, 5, 5, 5] }
        const codes = await Promise.all([
          codeOf(take(1, 'v')),
          codeOf(take(1, 'u', [5, 5, 9e9, 9e9])),
          codeOf(counters.take({ subject: 'u', set: 0, quotas, costs: [1, 0], id })),
        ])
        expect(codes[0]).toBe('answered')
        for (const code of codes) expect(['answered', 'damaged_row', 'other_version']).toContain(code)
        let admitted = 0
        for (let n = 0; n < 7 && codes[1] === 'answered'; n++) {
          const { outcome, states } = await take(1, 'u', [5, 5, 9e9, 9e9])
          for (const number of states) expect(Number.isSafeInteger(number) || number > 5).toBe(true)
          if (outcome === 'admitted') admitted++
        }
        expect(admitted).toBeLessThanOrEqual(5)
        await reset()
        expect((await take(5, 'u', [5, 5, 9e9, 9e9])).outcome).toBe('admitted')
      }),
      { numRuns: deep ? 10_000 : 80 },
    )
  })

  it(`${RUNS} random pairs of policies admit at most the larger limit in what both have`, async () => {
    const labels = fc.uniqueArray(fc.constantFrom(...Object.keys(LENGTHS)), { minLength: 1, maxLength: 5 })
    const limit = fc.integer({ min: 1, max: 30 })
    const policy = fc.record({ labels, limits: fc.array(limit, { minLength: 5, maxLength: 5 }), site: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(policy, policy, async (one, other) => {
        const prefix = newPrefix()
        const both = [one, other].map(({ labels: names, limits, site }) => {
          const layers = site ? [PERSONAL, SITE] : [PERSONAL]
          const schema = schemaOf(names, layers)
          return { schema, limits: limits.slice(0, names.length), at: party(prefix, schema) }
        })
        const admitted = [0, 0]
        await Promise.all(
          Array.from({ length: 120 }, async (_, call) => {
            const { at, limits, schema } = both[call % 2]!
            const { outcome } = await at.take(
              1,
              'u',
              schema.layers.flatMap(() => limits),
            )
            if (outcome === 'admitted') admitted[call % 2]! += 1
          }),
        )
        for (const [index, { schema, limits, at }] of both.entries()) {
          const used = await at.used()
          for (const [w, { label }] of schema.layers[0]!.cells.entries()) {
            const theirs = both[1 - index]!
            const v = theirs.schema.layers[0]!.cells.findIndex((window) => window.label === label)
            const most = Math.max(limits[w]!, v < 0 ? 0 : theirs.limits[v]!)
            expect(used[w]).toBeLessThanOrEqual(most)
            expect(used[w]).toBe(admitted[index]! + (v < 0 ? 0 : admitted[1 - index]!))
          }
        }
      }),
      { numRuns: RUNS },
    )
  })
})

/** A row's bytes: what windows used, then when they started. */
function rowOf({ hash }: { readonly hash: number }, starts: readonly number[], used: readonly number[]): Buffer {
  const bytes = Buffer.alloc(5 + 13 * starts.length)
  bytes[0] = 2
  bytes.writeUInt32LE(hash, 1)
  for (const [w, start] of starts.entries()) {
    bytes.writeUIntLE(used[w]!, 5 + 7 * w, 6)
    bytes.writeUIntLE(start, 5 + 7 * starts.length + 6 * w, 6)
  }
  return bytes
}
