import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Demand } from '../src/decision/decide.ts'
import { LocalShares } from '../src/engine/decide/fallback.ts'
import { createQuota, definePolicy, type MemoryStore, memoryStore } from '../src/index.ts'
import { placedLimits } from '../src/policy/cells.ts'
import type { QuotaStore } from '../src/store.ts'
import { asyncStore, HOUR, START, type TestClock, testClock } from './support.ts'

interface Line {
  cut: boolean
  /** How often the store was called. */
  looks: number
}

/** A store that others share and that can be cut off from one engine. */
function cuttable(store: MemoryStore, line: Line): QuotaStore {
  return asyncStore(store, () => {
    line.looks++
    return line.cut ? Promise.reject(new Error('cut off')) : Promise.resolve()
  })
}

/** An engine whose reads have a share of the remainder, and whose writes have none. */
function engineOf(limit: number, store: QuotaStore, clock: TestClock, expectedProcesses: number) {
  return createQuota({
    limits: { perHour: { by: 'user', limit, per: '1h' }, all: { shared: 'all', limit, per: '5h' } },
    operations: { read: {}, write: {} },
    store,
    clock,
    failurePolicy: { read: { local: { expectedProcesses } }, write: 'closed' },
    logger: false,
  })
}

interface Process {
  readonly quota: ReturnType<typeof engineOf>
  readonly line: Line
}

function processes(count: number, limit: number, clock: TestClock, storeClock = clock): Process[] {
  const store = memoryStore({ clock: storeClock })
  return Array.from({ length: count }, () => {
    const line = { cut: false, looks: 0 }
    return { quota: engineOf(limit, cuttable(store, line), clock, count), line }
  })
}

async function admits({ quota }: Process, cost: number, subject = 'u'): Promise<boolean> {
  const decision = await quota.consume({ subject, operation: 'read', cost }).catch((error: unknown) => {
    expect(error).toMatchObject({ code: 'quota_unavailable' })
    return { allowed: false }
  })
  return decision.allowed
}

describe('the shares of an outage', () => {
  const perDay = { by: 'user', limit: 100, every: 'day', timeZone: 'UTC' } as const
  const policy = definePolicy({ limits: { perDay }, operations: { read: {} } })
  const DAY = 24 * HOUR
  const [start, end] = [START - (START % DAY), START - (START % DAY) + DAY]

  /** A request of one token, by a window of the calendar that opened when its period began. */
  function seenBy(shares: LocalShares, subject: string, periods?: readonly number[], now = START): Demand {
    const quotas = { layers: [0], limits: [100] }
    const demand = { subject: { user: subject }, operation: 'read', set: 0, costs: [1, 0], quotas, periods }
    shares.see({ ...demand, settingsVersion: 0 }, { now, states: [periods?.[0] ?? start, 1] })
    return { ...demand, settingsVersion: 0 }
  }

  it('a window of the calendar whose end is not known has none', () => {
    const shares = new LocalShares(placedLimits(policy), testClock())
    expect(shares.spend(seenBy(shares, 'known', [start, end, end + DAY]), 1)).toBeTypeOf('function')
    expect(shares.spend(seenBy(shares, 'unknown'), 1)).toBeUndefined()
  })

  it('of more than 10,000 subjects, those that were seen last have one', () => {
    const shares = new LocalShares(placedLimits(policy), testClock())
    const demands = Array.from({ length: 10_001 }, (_, number) => {
      return seenBy(shares, `u${number}`, [start, end, end + DAY])
    })
    expect(shares.spend(demands[0]!, 1)).toBeUndefined()
    expect(shares.spend(demands[1]!, 1)).toBeTypeOf('function')
    expect(shares.spend(demands[10_000]!, 1)).toBeTypeOf('function')
  })

  it('at most 50,000 windows have one at a time', () => {
    const clock = testClock()
    const shares = new LocalShares(placedLimits(policy), clock)
    const periods = [start, end, end + DAY]
    for (let number = 0; number < 50_000; number++) shares.spend(seenBy(shares, `u${number}`, periods), 1)
    expect(shares.spend(seenBy(shares, 'another', periods), 1)).toBeUndefined()
    clock.at = end
    const next = [end, end + DAY, end + 2 * DAY]
    expect(shares.spend(seenBy(shares, 'another', next, end), 1)).toBeTypeOf('function')
  })
})

describe('the local failure policy', () => {
  it('the local policy spends this process’s share of the last known remainder and then refuses', async () => {
    const [one] = processes(2, 100, testClock()) as [Process]
    await one.quota.consume({ subject: 'u', operation: 'read', cost: 20 })
    one.line.cut = true
    expect(await one.quota.consume({ subject: 'u', operation: 'read', cost: 40 })).toMatchObject({
      allowed: true,
      source: 'fallback',
    })
    expect(await admits(one, 1)).toBe(false)
    await expect(one.quota.consume({ subject: 'u', operation: 'write' })).rejects.toMatchObject({
      code: 'quota_unavailable',
    })
  })

  it('the local policy admits nothing in a window that it never saw open or that has ended', async () => {
    const clock = testClock()
    const [one] = processes(2, 100, clock) as [Process]
    one.line.cut = true
    expect(await admits(one, 1)).toBe(false)
    one.line.cut = false
    expect(await admits(one, 1)).toBe(true)
    one.line.cut = true
    expect(await admits(one, 1, 'other')).toBe(false)
    clock.at += HOUR - 1
    expect(await admits(one, 1)).toBe(true)
    clock.at += 1
    expect(await admits(one, 1)).toBe(false)
  })

  it.each([
    ['ahead', HOUR / 2],
    ['behind', -HOUR / 2],
  ])('a window lasts as long in an outage if the store’s clock is %s', async (_, byMs) => {
    const clock = testClock()
    const [one] = processes(2, 100, clock, testClock(START + byMs)) as [Process]
    expect(await admits(one, 1)).toBe(true)
    one.line.cut = true
    clock.at += HOUR - 1
    expect(await admits(one, 1)).toBe(true)
    clock.at += 1
    expect(await admits(one, 1)).toBe(false)
  })

  it('the share of a bucket is what all processes can have of it, rounded down', async () => {
    const line = { cut: false, looks: 0 }
    const clock = testClock()
    const quota = createQuota({
      limits: { perHour: { by: 'user', limit: 10, per: '1h', burst: { share: 1 } } },
      operations: { read: {} },
      store: cuttable(memoryStore({ clock }), line),
      clock,
      failurePolicy: { read: { local: { expectedProcesses: 2 } } },
      logger: false,
    })
    const take = (cost: number) => quota.consume({ subject: 'u', cost })
    await take(5)
    line.cut = true
    await expect(take(3)).rejects.toMatchObject({ code: 'quota_unavailable' })
    expect(await take(2)).toMatchObject({ allowed: true, source: 'fallback' })
    await quota.close()
  })

  it('the local policy admits no work that takes a slot', async () => {
    const line = { cut: false, looks: 0 }
    const clock = testClock()
    const quota = createQuota({
      limits: { perHour: { by: 'user', limit: 10, per: '1h' }, running: { by: 'user', concurrency: 5 } },
      operations: { run: {} },
      store: cuttable(memoryStore({ clock }), line),
      clock,
      failurePolicy: { run: { local: { expectedProcesses: 1 } } },
      logger: false,
    })
    const start = () => quota.reserve({ subject: 'u', ttlMs: HOUR })
    expect((await start()).status).toBe('reserved')
    line.cut = true
    await expect(start()).rejects.toMatchObject({ code: 'quota_unavailable' })
    await quota.close()
  })

  it('the local policy charges what was spent to the same windows when the store answers again', async () => {
    const [one] = processes(2, 100, testClock()) as [Process]
    await admits(one, 20)
    one.line.cut = true
    expect(await admits(one, 30)).toBe(true)
    one.line.cut = false
    await admits(one, 1)
    await expect
      .poll(async () => (await one.quota.status('u')).limits)
      .toMatchObject({ perHour: { used: 51 }, all: { used: 51 } })
  })

  it('what was spent is charged when the store is back, without another request', async () => {
    const [one, other] = processes(2, 100, testClock()) as [Process, Process]
    await admits(one, 20)
    one.line.cut = true
    expect(await admits(one, 30)).toBe(true)
    const used = async () => (await other.quota.status('u')).limits.perHour?.used
    const lookedAt = one.line.looks
    await expect.poll(() => one.line.looks, { timeout: 15_000 }).toBeGreaterThan(lookedAt + 1)
    expect(await used()).toBe(20)
    one.line.cut = false
    await expect.poll(used, { timeout: 15_000 }).toBe(50)
    await one.quota.close()
  })

  it('a closed engine no longer looks whether its store is back', async () => {
    const [one] = processes(2, 100, testClock()) as [Process]
    await admits(one, 20)
    one.line.cut = true
    expect(await admits(one, 30)).toBe(true)
    await one.quota.close()
    const { looks } = one.line
    // Longer than the time between two looks.
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    expect(one.line.looks).toBe(looks)
  })

  it('the local policy has one share per window, however many outages happen', async () => {
    const [one] = processes(2, 100, testClock()) as [Process]
    await admits(one, 20)
    for (const spent of [true, false, false]) {
      one.line.cut = true
      expect(await admits(one, 40)).toBe(spent)
      one.line.cut = false
      await one.quota.status('u')
    }
  })

  it('a cancelled local reservation is taken back before it was charged and after', async () => {
    const [one] = processes(1, 100, testClock()) as [Process]
    await admits(one, 10)
    one.line.cut = true
    const early = await one.quota.reserve({ subject: 'u', operation: 'read', cost: 50 })
    const late = await one.quota.reserve({ subject: 'u', operation: 'read', cost: 40 })
    await early.cancel()
    expect(await admits(one, 51)).toBe(false)
    expect(await admits(one, 50)).toBe(true)
    one.line.cut = false
    expect(await admits(one, 1)).toBe(true)
    await expect.poll(async () => (await one.quota.status('u')).limits.perHour?.used).toBe(101)
    await late.cancel()
    expect((await one.quota.status('u')).limits.perHour?.used).toBe(61)
  })

  it('processes without the store admit at most the limit plus their shares', async () => {
    const step = fc.record({
      process: fc.nat(2),
      action: fc.constantFrom('take', 'take', 'take', 'cut', 'mend'),
      cost: fc.integer({ min: 1, max: 20 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
        const limit = 100
        const all = processes(3, limit, testClock())
        let admitted = 0
        for (const { process, action, cost } of steps) {
          const one = all[process]!
          if (action !== 'take') one.line.cut = action === 'cut'
          else if (await admits(one, cost)) admitted += cost
        }
        expect(admitted).toBeLessThanOrEqual(limit + 3 * Math.floor(limit / 3))
      }),
    )
  })
})
