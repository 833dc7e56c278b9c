import type { Decision } from '@scoregw/quota'
import { manualClock } from '@scoregw/quota-testkit'
import { ownTime } from '@scoregw/server-kit'
import { Redis } from 'ioredis'
import { describe, expect, it, vi } from 'vitest'
import { ServerClock } from '../src/counters/delivery.ts'
import { redisSettings } from '../src/index.ts'
import { useCleanups } from './support/cleanups.ts'
import { engineOn, policyOf, usedBy } from './support/engines.ts'
import { redisTests } from './support/redis-server.ts'

const { later, server, proxy: startProxy } = useCleanups()

const DAY_MS = 86_400_000
const YEAR_MS = 366 * DAY_MS
const HOUR = 'personal-writes-hour'
const write = { subject: 'u', operation: 'write' } as const

describe('an estimate of the server’s clock', () => {
  it('the least delayed answer of the last second gives the estimate, and later the newest one', () => {
    const clock = new ServerClock()
    expect(clock.at(0)).toBe(Number.POSITIVE_INFINITY)
    // The server is 1,000 ms ahead. Answers arrive 50, 10, 80 and 20 ms later.
    clock.note(1_000, 50)
    expect(clock.at(60)).toBe(1_010)
    clock.note(1_050, 60)
    expect(clock.at(60)).toBe(1_050)
    clock.note(1_100, 180)
    expect(clock.at(180)).toBe(1_170)
    clock.note(2_040, 1_060)
    expect(clock.at(1_060)).toBe(2_040)
  })
})

describe.runIf(redisTests)('clocks', () => {
  it('decisions use the server’s clock, even if the process’s clock is wrong', async () => {
    const redis = await server()
    later(() => vi.useRealTimers())
    const early = engineOn(redis.port, later, { policy: policyOf(4), clock: { now: () => Date.now() - DAY_MS } }).quota
    const late = engineOn(redis.port, later, { policy: policyOf(4), clock: { now: () => Date.now() + DAY_MS } }).quota
    const [seconds] = (await redis.cli('TIME')) as [string, string]
    const serverNow = Number(seconds) * 1_000

    const decisions: Decision[] = []
    for (const skewMs of [-DAY_MS, DAY_MS, -DAY_MS]) {
      vi.useFakeTimers({ toFake: ['Date'], now: serverNow + skewMs })
      for (const quota of [early, late]) decisions.push(await quota.consume(write))
    }
    vi.useRealTimers()

    expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, true, true, false, false])
    for (const { now, limits } of decisions) {
      expect(Math.abs(now - serverNow)).toBeLessThan(5_000)
      expect(limits[HOUR]!.startedAt).toBe(decisions[0]!.now)
      expect(limits[HOUR]!.resetAt).toBe(decisions[0]!.now + 3_600_000)
    }
  })

  it.each([
    ['5 s ahead and back', 5_000],
    ['6 s ahead and back', 6_000],
    ['a year ahead and back', YEAR_MS],
    ['5 s back and ahead', -5_000],
    ['a year back and ahead', -YEAR_MS],
  ])('a server clock that steps %s blocks no subject', async (_, stepMs) => {
    const redis = await server()
    for (const windowsOpenBefore of [true, false]) {
      await steppingClock(redis.port, stepMs, windowsOpenBefore)
    }
  })

  async function steppingClock(port: number, stepMs: number, windowsOpenBefore: boolean): Promise<void> {
    const testClock = manualClock()
    const prefix = `open before: ${windowsOpenBefore}`
    const { quota } = engineOn(port, later, { policy: policyOf(3), testClock, prefix })
    const decide = () => quota.consume(write)
    if (windowsOpenBefore) await decide()
    testClock.advance(stepMs)
    await decide()
    testClock.advance(-stepMs)

    // Whatever the clock did, the limit holds in the windows now open ...
    const outcomes = [await decide(), await decide(), await decide(), await decide()]
    const last = outcomes.at(-1)!
    if (last.allowed) throw new Error('expected a refusal')
    const shown = Object.values(last.limits).map((limit) => limit!)
    expect(shown).toHaveLength(4)
    for (const { used, limit } of shown) expect(used).toBeLessThanOrEqual(limit as number)
    // ... and they end a window's length from now at the latest, or 5 s later.
    for (const { resetAt, lengthMs } of shown) {
      expect(resetAt! - testClock.now()).toBeLessThanOrEqual(lengthMs! + 5_000)
    }
    // A small step forgets no charge.
    const admitted = (windowsOpenBefore ? 2 : 1) + outcomes.filter(({ allowed }) => allowed).length
    if (Math.abs(stepMs) < 10_000) expect(admitted).toBe(3)
    testClock.set(last.resetAt)
    expect(await decide()).toMatchObject({ allowed: true })
  }

  it('status queries, peeks, refusals and free requests open no window in 48 hours', async () => {
    const redis = await server()
    const testClock = manualClock()
    const engines = [1, 2, 3].map(() => engineOn(redis.port, later, { policy: policyOf(5), testClock }).quota)
    for (let hour = 0; hour < 48; hour++) {
      for (const quota of engines) {
        await quota.status('u')
        await quota.peek(write)
        expect(await quota.consume({ ...write, cost: 6 })).toMatchObject({ allowed: false })
        await quota.consume({ ...write, cost: 0 })
      }
      testClock.advance(3_600_000)
    }
    expect(await redis.cli('DBSIZE')).toBe(0)
  })
})

describe.runIf(redisTests)('settings that change within a window', () => {
  it('new settings apply in every engine within a second, and no engine admits above the newest', async () => {
    const redis = await server()
    const proxy = await startProxy(redis.port)
    const [first, second] = [redis.port, proxy.port].map((port) => {
      const client = new Redis({ port })
      const settingsStore = redisSettings({ client })
      later(() => client.disconnect())
      return engineOn(redis.port, later, { policy: policyOf(100), settingsStore }).quota
    })
    await Promise.all([first!.ready(), second!.ready()])
    await first!.consume({ ...write, cost: 50 })
    // The second engine learns of changes late, and the store reports that its settings are old.
    proxy.latency(30)

    for (const limit of [40, 80, 60]) {
      await first!.settings.update({ limits: { [HOUR]: limit } })
      const began = ownTime()
      const decisions = await Promise.all([first!, second!].map((quota) => quota.consume({ ...write, cost: 5 })))
      for (const { limits } of decisions) expect(limits[HOUR]!.limit).toBe(limit)
      await vi.waitFor(
        async () => {
          const { limits } = await second!.status('u')
          expect(limits[HOUR]!.limit).toBe(limit)
        },
        { timeout: 15_000 },
      )
      expect(ownTime() - began).toBeLessThan(1_000)
    }
    expect(await usedBy(second!, 'u')).toBe(60)
  })
})
