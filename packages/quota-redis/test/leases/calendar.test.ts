import { cellsIn, windowCell } from '@scoregw/quota/internal'
import type { TakeReply } from '@scoregw/quota/store'
import { uniform, withCells } from '@scoregw/quota-histories'
import { manualClock } from '@scoregw/quota-testkit'
import { Redis } from 'ioredis'
import { describe, expect, it, vi } from 'vitest'
import type { RedisCounters } from '../../src/index.ts'
import { type LeasedRedisStore, leasedRedisStore } from '../../src/leases.ts'
import { newPrefix } from '../store-harness.ts'
import { useCleanups, useRedis } from '../support/cleanups.ts'
import { redisTests } from '../support/redis-server.ts'

const DAY_MS = 86_400_000
const LIMIT = 1_000_000
const MONTH = windowCell({ label: 'month', every: 'month', timeZone: 'UTC' })

const LAYERS = [
  { name: 'personal', shared: false },
  { name: 'site', shared: true },
]
const MONTHLY = uniform(['tokens'], cellsIn(['tokens'], [MONTH]), LAYERS)
const BOTH = withCells(MONTHLY, cellsIn(['tokens'], [MONTH, windowCell({ label: '2d', lengthMs: 2 * DAY_MS })]))

interface Member {
  readonly store: LeasedRedisStore
  readonly counters: RedisCounters
}

type Periods = readonly [start: number, end: number, nextEnd: number]

/** The difference from a usual take. */
interface TakeOptions {
  /** Of the site. */
  readonly limit?: number
  readonly windows?: number
  readonly subject?: string
  /** Periods of the site, where they are not those of the own layer. */
  readonly site?: Periods
}

const { later } = useCleanups()

describe.runIf(redisTests)('leases of calendar windows', () => {
  const redis = useRedis()

  /** Two processes, and three periods in a row: the clock is one minute before the end of the first. */
  function sharing(schema = MONTHLY) {
    const prefix = newPrefix()
    const clock = manualClock()
    const members = [1, 2].map((): Member => {
      const client = new Redis({ port: redis.port, lazyConnect: true })
      const store = leasedRedisStore({ client, prefix, deadlineMs: 1_000, testClock: clock })
      later(() => store.close())
      return { store, counters: store.open(schema) }
    })
    const start = clock.now() - 30 * DAY_MS
    const end = clock.now() + 60_000
    return { clock, start, end, nextEnd: end + 31 * DAY_MS, one: members[0]!, other: members[1]! }
  }

  function take(
    { counters }: Member,
    cost: number,
    own: Periods,
    { limit = LIMIT, windows = 1, subject = 'u', site = own }: TakeOptions = {},
  ): Promise<TakeReply> {
    const limits = [...Array(windows).fill(Number.POSITIVE_INFINITY), ...Array(windows).fill(limit)]
    return counters.take({
      subject,
      set: 0,
      quotas: { layers: [0, 1], limits },
      costs: [cost, 0],
      periods: [...own, ...site],
    })
  }

  async function sharedOf({ counters }: Member, periods: readonly number[]): Promise<readonly number[]> {
    const { states } = await counters.read({
      subject: 'nobody',
      set: 0,
      layers: [1],
      periods: [...periods, ...periods],
    })
    return states.slice(states.length / 2)
  }

  /** Takes by one at a time, as many as there are spent from leases that last. */
  async function untilLeased(member: Member, periods: Periods, windows = 1): Promise<number> {
    let taken = 0
    do {
      const replies = await Promise.all(Array.from({ length: 20 }, () => take(member, 1, periods, { windows })))
      expect(new Set(replies.map(({ outcome }) => outcome))).toEqual(new Set(['admitted']))
      taken += 20
    } while (member.store.leases().idleTokens < 20)
    return taken
  }

  it('a calendar lease belongs to one period, and its unspent rest is dropped at the end', async () => {
    const { clock, start, end, nextEnd, one, other } = sharing()
    const periods = [start, end, nextEnd] as const
    clock.advance(59_000)
    const taken = await untilLeased(one, periods)
    clock.advance(949)
    const last = one.store.leases()
    expect((await take(one, 1, periods)).states).toEqual([start, taken + 1, start, taken + 1])
    expect(one.store.leases().localDecisions).toBe(last.localDecisions + 1)
    // Fifty milliseconds before the end the site is asked.
    clock.advance(1)
    expect((await take(one, 1, periods)).outcome).toBe('admitted')
    expect(one.store.leases().localDecisions).toBe(last.localDecisions + 1)
    clock.advance(50)
    expect((await take(one, 5, periods)).states).toEqual([end, 5, end, 5])
    await vi.waitFor(() => expect(one.store.leases().strandedTokens).toBe(0), { timeout: 15_000, interval: 5 })
    await one.store.close()
    expect(await sharedOf(other, periods)).toEqual([end, 5])
  })

  it('a lease of rolling and calendar windows ends with the first of them', async () => {
    const { clock, start, end, nextEnd, one, other } = sharing(BOTH)
    const periods = [start, end, nextEnd] as const
    clock.advance(58_500)
    const opened = clock.now()
    const taken = await untilLeased(one, periods, 2)
    clock.advance(1_500)
    expect((await take(one, 3, periods, { windows: 2 })).states.slice(4)).toEqual([opened, taken + 3, end, 3])
    await one.store.close()
    expect(await sharedOf(other, periods)).toEqual([opened, taken + 3, end, 3])
  })

  it('a request with other periods than the lease’s is stale', async () => {
    const { clock, start, end, nextEnd, one } = sharing()
    const periods = [start, end, nextEnd] as const
    const ahead = [end, nextEnd, nextEnd + DAY_MS] as const
    const isStale = async (own: Periods, options: TakeOptions): Promise<void> => {
      const reply = await take(one, 1, own, options)
      expect(reply).toMatchObject({ outcome: 'stale', now: clock.now(), states: [] })
      expect(reply.settingsRevision).toBeUndefined()
    }
    await isStale(periods, { site: ahead })
    const ofShared = { subject: 'u', set: 0, quotas: { layers: [1], limits: [LIMIT, LIMIT] }, costs: [5, 0] }
    expect(await one.counters.take({ ...ofShared, periods: [...ahead, ...ahead] })).toMatchObject({
      outcome: 'stale',
      states: [],
    })
    expect(await sharedOf(one, periods)).toEqual([-1, 0])
    const taken = await untilLeased(one, periods)
    const { idleTokens } = one.store.leases()
    await isStale(periods, { site: ahead })
    await isStale(ahead, { site: periods })
    await isStale(ahead, { site: periods, limit: 1 })
    expect((await take(one, idleTokens, [start - DAY_MS, start, end])).outcome).toBe('admitted')
    const read = { subject: 'nobody', set: 0, layers: [1], periods: [...ahead, ...ahead] }
    expect(await one.counters.read(read)).toMatchObject({ isStale: true, states: [] })
    expect((await sharedOf(one, [start, end, nextEnd]))[1]).toBe(taken + idleTokens)
  })

  it('a cached refusal ends with its period', async () => {
    const { clock, start, end, nextEnd, one } = sharing()
    const periods = [start, end, nextEnd] as const
    clock.advance(59_500)
    expect((await take(one, 10, periods, { limit: 10 })).outcome).toBe('admitted')
    expect((await take(one, 1, periods, { limit: 10 })).outcome).toBe('refused')
    const { grants } = one.store.leases()
    clock.advance(499)
    expect((await take(one, 1, periods, { limit: 10 })).states.slice(2)).toEqual([start, 10])
    expect(one.store.leases().grants).toBe(grants)
    clock.advance(1)
    expect((await take(one, 1, periods, { limit: 10 })).states.slice(2)).toEqual([end, 1])
  })

  it('a refusal by the site leaves the subject’s period unchanged and reports the refusing limit', async () => {
    const { start, end, nextEnd, one } = sharing()
    const periods = [start, end, nextEnd] as const
    await take(one, 4, periods, { limit: 10 })
    const refused = await take(one, 7, periods, { limit: 10 })
    expect([refused.outcome, refused.states]).toEqual(['refused', [start, 4, start, 4]])
    const other = await take(one, 7, periods, { limit: 10, subject: 'v' })
    expect([other.outcome, other.states]).toEqual(['refused', [-1, 0, start, 4]])
  })

  it('leases of several shared layers use the periods of each', async () => {
    const schema = uniform(['tokens'], cellsIn(['tokens'], [MONTH]), [...LAYERS, { name: 'all', shared: true }])
    const { clock, start, end, nextEnd, one, other } = sharing(schema)
    const now = clock.now()
    const periods = [start, end, nextEnd, start, end, nextEnd, start, now + 500, nextEnd]
    const takeOf = (cost: number) => {
      const quotas = { layers: [0, 1, 2], limits: [LIMIT, LIMIT, 7] }
      return one.counters.take({ subject: 'u', set: 0, quotas, costs: [cost, 0], periods })
    }
    expect((await takeOf(5)).states).toEqual([start, 5, start, 5, start, 5])
    clock.advance(500)
    expect((await takeOf(3)).states).toEqual([start, 8, start, 8, now + 500, 3])
    await one.store.close()
    const read = { subject: 'u', set: 0, layers: [1, 2], periods }
    expect((await other.counters.read(read)).states).toEqual([-1, 0, start, 8, now + 500, 3])
  })

  it('idle processes request no lease when periods end and open no period', async () => {
    const { clock, start, end, nextEnd, one, other } = sharing()
    await untilLeased(one, [start, end, nextEnd])
    const { grants } = one.store.leases()
    clock.advance(60_000)
    for (let day = 0; day < 10; day++) {
      expect(await sharedOf(one, [start, end, nextEnd])).toEqual([-1, 0])
      clock.advance(DAY_MS)
    }
    expect([one, other].map(({ store }) => store.leases().grants)).toEqual([grants, 0])
  })

  it('lost counters are reported during their period and not after it', async () => {
    const ofPeriod = async (ms: number): Promise<number> => {
      const { clock, start, end, nextEnd, one } = sharing()
      const periods = [start, end, nextEnd] as const
      await take(one, 5, periods)
      await redis.admin.flushall()
      clock.advance(ms)
      await take(one, 5, periods)
      return one.store.leases().counterLosses
    }
    expect([await ofPeriod(59_999), await ofPeriod(60_000)]).toEqual([1, 0])
  })
})
