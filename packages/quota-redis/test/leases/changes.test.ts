import type { OneUnit, Settings } from '@scoregw/quota'
import type { DeepPartial } from '@scoregw/quota/internal'
import { manualClock } from '@scoregw/quota-testkit'
import { ownTime } from '@scoregw/server-kit'
import { Redis } from 'ioredis'
import { describe, expect, it, vi } from 'vitest'
import { redisSettings } from '../../src/index.ts'
import { Lease } from '../../src/leases/lease.ts'
import { newPrefix } from '../store-harness.ts'
import { useCleanups, useRedis } from '../support/cleanups.ts'
import { redisTests } from '../support/redis-server.ts'
import {
  type LeasedEngine,
  type LeasedOptions,
  leasedEngine,
  sitePolicy,
  siteUsed,
  takes,
  writesOf,
} from './engines.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
const LIMIT = 400_000
const take = { subject: 'u', operation: 'take' } as const

const { later } = useCleanups()

describe.runIf(redisTests)('leases during changes', () => {
  const redis = useRedis()

  const client = () => new Redis({ port: redis.port, lazyConnect: true })
  const on = (options: LeasedOptions) => leasedEngine(client(), later, options)

  /** Processes with leases that are not spent, of a site of which so much was used before. */
  async function sharing(count: number, used: number, more: Partial<LeasedOptions> = {}): Promise<LeasedEngine[]> {
    const prefix = newPrefix()
    const engines = Array.from({ length: count }, () => {
      const settingsStore = redisSettings({ client: client(), prefix })
      later(() => settingsStore.close())
      return on({ policy: sitePolicy(LIMIT), prefix, settingsStore, ...more })
    })
    if (used > 0) expect((await engines[0]!.quota.consume({ ...take, cost: used })).allowed).toBe(true)
    for (const { quota, store } of engines) {
      do await takes(quota, 20, 10)
      while (store.leases().idleTokens === 0)
    }
    return engines
  }

  const lower: [string, DeepPartial<Settings<OneUnit>>, DeepPartial<Settings<OneUnit>>][] = [
    ['mode', { mode: 'conservative' }, { mode: 'normal' }],
    ['multiplier', { shared: { site: { multiplier: 0.5 } } }, { shared: { site: { multiplier: 1 } } }],
    ['switch', { shared: { site: { enabled: true } } }, { shared: { site: { enabled: false } } }],
  ]

  it.each(lower)(
    'the site’s %s applies to leases within 2 s when lowered and 1 s when raised',
    async (dial, lowered, raised) => {
      const [admin, other] = (await sharing(2, 350_000)) as [LeasedEngine, LeasedEngine]
      // Of a site that is switched off nothing is counted; switched on, it has no room.
      if (dial === 'switch') await admin.quota.settings.update({ limits: { 'site-hour': 1 }, ...raised })
      const allowed = async ({ quota }: LeasedEngine) => (await quota.consume(take)).allowed
      await vi.waitFor(async () => expect(await allowed(other)).toBe(true), { timeout: 15_000, interval: 5 })

      await admin.quota.settings.update(lowered)
      const loweredAt = ownTime()
      // Who knows of it spends nothing more of what was granted before.
      expect(await allowed(admin)).toBe(false)
      while (await allowed(other)) expect(ownTime() - loweredAt).toBeLessThan(2_000)
      expect(await takes(other.quota, 5, 5)).toBe(0)

      await admin.quota.settings.update(raised)
      const raisedAt = ownTime()
      while (!(await allowed(other))) expect(ownTime() - raisedAt).toBeLessThan(1_000)
      expect(await takes(other.quota, 5, 5)).toBe(25)
    },
  )

  it('one process gets at most its share of half the remaining tokens, however often it asks', async () => {
    const prefix = newPrefix()
    const [greedy, other] = [1, 2].map(() => on({ policy: sitePolicy(LIMIT), prefix })) as [LeasedEngine, LeasedEngine]
    expect((await greedy.quota.consume({ ...take, cost: 350_000 })).allowed).toBe(true)
    expect(await takes(greedy.quota, 20, 50)).toBe(1_000)
    expect(greedy.store.leases().idleTokens).toBeGreaterThan(0)
    expect(greedy.store.leases().idleTokens).toBeLessThanOrEqual(25_000)
    expect(await takes(other.quota, 20, 50)).toBe(1_000)
  })

  it('tokens of leases that end because of a lowered limit are returned', async () => {
    const [admin, other] = (await sharing(2, 100_000)) as [LeasedEngine, LeasedEngine]
    await admin.quota.settings.update({ mode: 'conservative' })
    const limit = async () => (await writesOf(other.quota, 'u')).at(-1)?.limit
    await vi.waitFor(async () => expect(await limit()).toBe((LIMIT * 3) / 4), { timeout: 15_000, interval: 5 })
    const held = () => [admin, other].reduce((sum, { store }) => sum + store.leases().idleTokens, 0)
    const debited = async () => Number(await siteUsed(other.quota)) + other.store.leases().idleTokens
    const before = (await debited()) - held()
    // As soon as it is asked under the new limits, though it takes new ones at once.
    for (const { quota } of [admin, other]) expect((await quota.consume(take)).allowed).toBe(true)
    await vi.waitFor(async () => expect((await debited()) - held()).toBe(before + 2), { timeout: 15_000, interval: 5 })
    for (const { store } of [admin, other]) expect(store.leases().strandedTokens).toBe(0)
  })

  it('idle processes open no window and request no lease in two days', async () => {
    const clock = manualClock()
    const engines = await sharing(3, 0, { testClock: clock })
    const grants = engines.map(({ store }) => store.leases().grants)
    const keys = async () => (await redis.admin.keys('*')).length
    const before = await keys()
    const opened = async ({ quota }: LeasedEngine) =>
      (await writesOf(quota, 'u')).filter(({ startedAt }) => startedAt !== null).length
    clock.advance(HOUR_MS)
    // The site's of a day.
    for (const engine of engines) expect(await opened(engine)).toBe(1)
    clock.advance(DAY_MS)
    for (let hours = 0; hours < 24; hours++) {
      for (const engine of engines) expect(await opened(engine)).toBe(0)
      clock.advance(HOUR_MS)
    }
    expect(engines.map(({ store }) => store.leases().grants)).toEqual(grants)
    expect(await keys()).toBeLessThanOrEqual(before)
  })

  it('processes whose clocks differ by a day share a limit by the site’s clock', async () => {
    later(() => vi.useRealTimers())
    const prefix = newPrefix()
    const [early, late] = [1, 2].map(() => on({ policy: sitePolicy(1_000), prefix })) as [LeasedEngine, LeasedEngine]
    const began = Date.now()
    let admitted = 0
    for (const [engine, skewMs] of [
      [early, -DAY_MS],
      [late, DAY_MS],
    ] as const) {
      vi.useFakeTimers({ toFake: ['Date'], now: began + skewMs })
      admitted += await takes(engine.quota, 10, 30)
      const { now, limits } = await engine.quota.consume(take)
      admitted++
      expect(engine.store.leases().localDecisions).toBeGreaterThan(50)
      expect(Math.abs(now - began)).toBeLessThan(10_000)
      expect(limits['site-day']?.resetAt).toBeLessThan(began + DAY_MS + 10_000)
    }
    // A clock that jumps ends a lease, and nobody spends it twice.
    vi.useFakeTimers({ toFake: ['Date'], now: began })
    for (const { quota } of [early, late]) admitted += await takes(quota, 10, 60)
    vi.useRealTimers()
    for (const { quota } of [early, late]) admitted += await takes(quota, 10, 5)
    expect(admitted).toBeLessThanOrEqual(1_000)
    await vi.waitFor(
      async () => {
        for (const { quota } of [early, late]) while ((await quota.consume(take)).allowed) admitted++
        expect(admitted).toBe(1_000)
      },
      { timeout: 15_000, interval: 100 },
    )
  })

  it('counters lost by FLUSHALL are reported, and a reset or an ended window isn’t a loss', async () => {
    const clock = manualClock()
    const [one, other] = (await sharing(2, 0, { testClock: clock })) as [LeasedEngine, LeasedEngine]
    const losses = () => [one, other].map(({ store }) => store.leases().counterLosses)
    await one.quota.reset('u', { limits: ['site-hour', 'site-day'] })
    clock.advance(2_000)
    for (const { quota } of [one, other]) expect(await takes(quota, 20, 10)).toBe(200)
    clock.advance(HOUR_MS)
    for (const { quota } of [one, other]) expect(await takes(quota, 20, 10)).toBe(200)
    clock.advance(2 * DAY_MS)
    for (const { quota } of [one, other]) expect(await takes(quota, 20, 10)).toBe(200)
    expect(losses()).toEqual([0, 0])

    await redis.admin.flushall()
    clock.advance(2_000)
    expect((await one.quota.consume(take)).allowed).toBe(true)
    expect(await siteUsed(one.quota)).toBe(1)
    expect(losses()).toEqual([1, 0])
    expect(await takes(one.quota, 20, 10)).toBe(200)
    expect(losses()).toEqual([1, 0])
    // As when rows have outlived their windows, and are dropped.
    clock.advance(2 * DAY_MS)
    await redis.admin.flushall()
    expect(await takes(one.quota, 20, 10)).toBe(200)
    expect(losses()).toEqual([1, 0])
  })
})

describe('the age of a lease', () => {
  it.each([
    ['as both clocks go on', 1_949, 1_949, true],
    ['as both clocks go on', 1_950, 1_950, false],
    ['while the wall clock is set back by a day', 1_949, 1_949 - DAY_MS, true],
    ['while the wall clock is set back by a day', 1_950, 1_950 - DAY_MS, false],
    ['while the wall clock is set ahead by a day', 1, DAY_MS, false],
    ['while the machine sleeps and only the wall clock goes on', 0, 1_950, false],
  ])('a lease’s age %s: after %i ms and %i ms of wall time it is usable: %s', (_, steadyMs, wallMs, isLive) => {
    const sentAt = { steadyMs: 10, wallMs: 1_790_000_000_000 }
    const grant = {
      id: '',
      amounts: [1],
      sentAt,
      now: 5,
      endsAt: 5 + HOUR_MS,
      starts: [5],
      limits: [1],
      settingsRevision: undefined,
      periods: undefined,
    }
    const now = { steadyMs: sentAt.steadyMs + steadyMs, wallMs: sentAt.wallMs + wallMs }
    expect(new Lease(grant).isLive(now)).toBe(isLive)
  })
})
