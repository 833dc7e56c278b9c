import { QuotaError } from '@scoregw/quota'
import { manualClock } from '@scoregw/quota-testkit'
import { ownTime, withinOwnTime } from '@scoregw/server-kit'
import { Redis } from 'ioredis'
import { describe, expect, it, vi } from 'vitest'
import { redisSettings } from '../../src/index.ts'
import { LeasedCounters } from '../../src/leases/leased-counters.ts'
import { Places } from '../../src/leases/places.ts'
import { SharedCalls } from '../../src/leases/shared-calls.ts'
import { useCleanups } from '../support/cleanups.ts'
import { redisTests } from '../support/redis-server.ts'
import { type LeasedOptions, leasedEngine, sitePolicy, siteUsed, takes, writesOf } from './engines.ts'

const { later, server, proxy: startProxy } = useCleanups()

const HOUR_MS = 3_600_000
const take = { subject: 'u', operation: 'take' } as const

describe.runIf(redisTests)('leases', () => {
  const on = (port: number, options: LeasedOptions) =>
    leasedEngine(new Redis({ port, lazyConnect: true }), later, options)

  it('a process decides from its lease without the site, and every token is counted once', async () => {
    const redis = await server()
    const { quota, store } = on(redis.port, { policy: sitePolicy(1_000_000) })
    const { quota: other } = on(redis.port, { policy: sitePolicy(1_000_000) })
    expect(await takes(quota, 20, 100)).toBe(2_000)
    const { grants, localDecisions, outstandingLeases, strandedTokens } = store.leases()
    expect(localDecisions).toBeGreaterThan(1_000)
    expect(grants + localDecisions).toBeLessThanOrEqual(2_200)
    expect(grants).toBeLessThan(200)
    expect(outstandingLeases).toBeGreaterThan(0)
    expect(strandedTokens).toBe(0)
    expect(await siteUsed(quota)).toBe(2_000)
    // Others see the debit; once this process has given back what it holds, what was spent.
    expect(await siteUsed(other)).toBeGreaterThanOrEqual(2_000)
    await quota.close()
    expect(await siteUsed(other)).toBe(2_000)
  })

  it('leases end after two seconds, and unspent tokens are returned', async () => {
    const redis = await server()
    const { quota, store } = on(redis.port, { policy: sitePolicy(1_000_000) })
    const { quota: other } = on(redis.port, { policy: sitePolicy(1_000_000) })
    await takes(quota, 20, 20)
    expect(store.leases().idleTokens).toBeGreaterThan(0)
    await withinOwnTime(3_000, async () => expect(await siteUsed(other)).toBe(400))
    expect(store.leases()).toMatchObject({ outstandingLeases: 0, idleTokens: 0, strandedTokens: 0 })
  })

  it('several processes admit no more than the limit, and all of it without failures', async () => {
    const redis = await server()
    const policy = sitePolicy(3_000)
    const engines = Array.from({ length: 4 }, () => on(redis.port, { policy }).quota)
    const admitted = await Promise.all(engines.map((quota) => takes(quota, 10, 120)))
    const sum = admitted.reduce((total, each) => total + each, 0)
    expect(sum).toBeLessThanOrEqual(3_000)
    // The last of the tokens: leases are given back, and refusals are not believed any longer.
    await vi.waitFor(
      async () => {
        for (const quota of engines) while ((await quota.consume(take)).allowed) admitted.push(1)
        expect(admitted.reduce((total, each) => total + each, 0)).toBe(3_000)
      },
      { timeout: 15_000, interval: 200 },
    )
  })

  it('leases aren’t spent near the end of a window, and idle processes open none', async () => {
    const redis = await server()
    const clock = manualClock()
    const { quota, store } = on(redis.port, { policy: sitePolicy(1_000_000), testClock: clock })
    const first = await quota.consume(take)
    expect(first.allowed).toBe(true)
    clock.advance(HOUR_MS - 1_000)
    await takes(quota, 20, 20)
    expect(store.leases().idleTokens).toBeGreaterThan(0)
    clock.advance(949)
    await quota.consume(take)
    const before = store.leases()
    clock.advance(1)
    await quota.consume(take)
    // Fifty milliseconds before the end the site is asked.
    expect(store.leases().localDecisions).toBe(before.localDecisions)
    clock.advance(50)
    for (let hours = 0; hours < 5; hours++) {
      await new Promise((resolve) => setTimeout(resolve, 5))
      expect((await writesOf(quota, 'u')).map(({ name, startedAt }) => [name, startedAt !== null])).toEqual([
        ['personal-write-hour', false],
        ['personal-write-day', true],
        ['site-hour', false],
        ['site-day', true],
      ])
      clock.advance(HOUR_MS)
    }
    const day = (await writesOf(quota, 'u')).at(-1)
    expect(day?.used).toBe(403)
  })

  it('leased tokens are put back when the subject’s own limits refuse', async () => {
    const redis = await server()
    const { quota, store } = on(redis.port, { policy: sitePolicy(100_000, 3) })
    const subjects = Array.from({ length: 300 }, (_, index) => `u${index % 100}`)
    for (let round = 0; round < 5; round++) {
      await Promise.all(subjects.map((subject) => quota.consume({ subject, operation: 'take' })))
    }
    expect(await siteUsed(quota)).toBe(300)
    expect(store.leases().strandedTokens).toBe(0)
  })

  it('leased tokens are put back when the subject’s own row cannot be read', async () => {
    const redis = await server()
    const { quota, store } = on(redis.port, { policy: sitePolicy(100_000) })
    const client = new Redis({ port: redis.port })
    later(() => client.disconnect())
    const damaged = { subject: 'damaged', operation: 'take' } as const
    await quota.consume(damaged)
    const [key] = await client.keys('*:damaged')
    await client.set(key!, 'not a row')
    for (let call = 0; call < 50; call++) {
      await expect(quota.consume(damaged)).rejects.toMatchObject({ code: 'quota_unavailable' })
    }
    expect(await siteUsed(quota)).toBe(1)
    expect(store.leases().strandedTokens).toBe(0)
  })

  it('a refusal by the site leaves the subject’s rows unchanged, even if they were charged first', async () => {
    const redis = await server()
    const policy = sitePolicy(3)
    const { quota } = on(redis.port, { policy })
    // Cold, so that the own rows are charged first; the last two find nothing left, and no window stays open for them.
    const subjects = ['a', 'b', 'c', 'd', 'e']
    const decisions = await Promise.all(subjects.map((subject) => quota.consume({ subject, operation: 'take' })))
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(3)
    for (const [index, subject] of subjects.entries()) {
      const own = (await writesOf(quota, subject)).slice(0, 2)
      const used = decisions[index]?.allowed ? 1 : 0
      expect(own).toMatchObject([{ used }, { used }])
      if (used === 0) expect(own).toMatchObject([{ startedAt: null }, { startedAt: null }])
    }
  })

  it('an admitted id is a duplicate even with nothing left, and a refused id can be tried again', async () => {
    const redis = await server()
    const { quota } = on(redis.port, { policy: sitePolicy(2) })
    const one = await quota.reserve({ ...take, id: 'one' })
    expect(one.status).toBe('reserved')
    const other = await quota.reserve({ ...take, subject: 'v', id: 'other' })
    expect((await quota.reserve({ ...take, subject: 'w', id: 'third' })).status).toBe('refused')
    const refused = (await writesOf(quota, 'w')).slice(0, 2)
    expect(refused).toMatchObject([{ startedAt: null }, { startedAt: null }])
    expect((await quota.reserve({ ...take, id: 'one' })).status).toBe('duplicate')
    if (other.status === 'reserved') await other.cancel()
    expect((await quota.reserve({ ...take, subject: 'w', id: 'third' })).status).toBe('reserved')
    expect(await siteUsed(quota)).toBe(2)
    expect((await writesOf(quota, 'w'))[0]).toMatchObject({ used: 1 })
  })

  it('a refusal is cached for a second and dropped when tokens come back', async () => {
    const redis = await server()
    const { quota, store } = on(redis.port, { policy: sitePolicy(10) })
    const held = await quota.reserve({ ...take, cost: 8 })
    // Within a second, once the machine has one for twenty calls.
    const refusedAgain = async (): Promise<void> => {
      expect((await quota.consume({ ...take, operation: 'big' })).allowed).toBe(false)
      const { grants } = store.leases()
      for (let i = 0; i < 20; i++) expect((await quota.consume({ ...take, operation: 'big' })).allowed).toBe(false)
      expect(store.leases().grants).toBe(grants)
    }
    await vi.waitFor(refusedAgain, { timeout: 30_000 })
    // Needs less than was missing.
    expect((await quota.consume({ ...take, cost: 2 })).allowed).toBe(true)
    if (held.status === 'reserved') await held.commit(2)
    expect((await quota.consume({ ...take, operation: 'big' })).allowed).toBe(true)
    expect(store.leases().underUseAtFirstDenial).toBe(2)
  })

  it('a refusal lists the subject’s own windows too, so its retry time suffices', async () => {
    const redis = await server()
    const clock = manualClock()
    const policy = sitePolicy(4, 4)
    const { quota } = on(redis.port, { policy, testClock: clock })
    expect((await quota.consume({ subject: 'v', operation: 'take' })).allowed).toBe(true)
    clock.advance(1_800_000)
    expect((await quota.consume({ ...take, cost: 3 })).allowed).toBe(true)
    const refused = await quota.consume({ ...take, cost: 2 })
    if (refused.allowed) throw new Error('admitted')
    expect(refused.refusals.map(({ name }) => name)).toEqual([
      'personal-write-hour',
      'personal-write-day',
      'site-hour',
      'site-day',
    ])
    clock.advance(refused.retryAfterSeconds! * 1_000)
    expect((await quota.consume({ ...take, cost: 2 })).allowed).toBe(true)
  })

  it('leased limits apply within 2 s when lowered and within 1 s when raised', async () => {
    const redis = await server()
    const settings = () => redisSettings({ client: new Redis({ port: redis.port, lazyConnect: true }) })
    const policy = sitePolicy(400_000)
    const { quota, store } = on(redis.port, { policy, settingsStore: settings() })
    const { quota: admin, store: adminStore } = on(redis.port, { policy, settingsStore: settings() })
    // A lease may end before the last of these takes has its answer.
    await vi.waitFor(
      async () => {
        for (const each of [quota, admin]) await takes(each, 20, 20)
        for (const each of [store, adminStore]) expect(each.leases().idleTokens).toBeGreaterThan(0)
      },
      { timeout: 30_000 },
    )
    const base = (hour: number) => ({ limits: { 'site-hour': hour } })
    await admin.settings.update(base(1))
    const lowered = ownTime()
    // Who knows of it spends nothing more of what was granted before.
    expect((await admin.consume(take)).allowed).toBe(false)
    while ((await quota.consume(take)).allowed) expect(ownTime() - lowered).toBeLessThan(2_000)
    expect(await takes(quota, 5, 5)).toBe(0)
    await admin.settings.update(base(400_000))
    const raised = ownTime()
    while (!(await quota.consume(take)).allowed) expect(ownTime() - raised).toBeLessThan(1_000)
  })

  it('a repeated return of a lease is credited once', async () => {
    const redis = await server()
    const { quota } = on(redis.port, { policy: sitePolicy(1_000_000) })
    const { quota: other } = on(redis.port, { policy: sitePolicy(1_000_000) })
    const again: number[][] = []
    const original = SharedCalls.prototype.refund
    const spy = vi.spyOn(SharedCalls.prototype, 'refund').mockImplementation(async function (
      this: SharedCalls,
      keys,
      lease,
      tokens,
    ) {
      const credited = await original.call(this, keys, lease, tokens)
      // As a connection that repeats itself would.
      again.push([...(await original.call(this, keys, lease, tokens))])
      return credited
    })
    later(() => spy.mockRestore())
    await takes(quota, 20, 20)
    expect(await siteUsed(other)).toBeGreaterThan(400)
    await quota.close()
    expect(again.length).toBeGreaterThan(0)
    expect(again).toEqual(again.map(() => [0]))
    expect(await siteUsed(other)).toBe(400)
  })

  it('a returned lease is credited with at most what was leased', async () => {
    const redis = await server()
    const { quota } = on(redis.port, { policy: sitePolicy(1_000_000) })
    const { quota: other } = on(redis.port, { policy: sitePolicy(1_000_000) })
    await takes(other, 20, 50)
    const original = SharedCalls.prototype.refund
    const spy = vi.spyOn(SharedCalls.prototype, 'refund').mockImplementation(function (this: SharedCalls, keys, lease) {
      return original.call(this, keys, lease, [1_000_000_000])
    })
    await takes(quota, 20, 20)
    await quota.close()
    spy.mockRestore()
    expect(await siteUsed(other)).toBeGreaterThanOrEqual(1_000)
  })

  it('a request that the subject’s limits refuse opens no window at the site', async () => {
    const redis = await server()
    const { quota } = on(redis.port, { policy: sitePolicy(1_000, 3) })
    expect((await quota.consume({ ...take, cost: 4 })).allowed).toBe(false)
    expect((await writesOf(quota, 'u')).map(({ startedAt }) => startedAt)).toEqual([null, null, null, null])
  })

  it('a grant that arrives too late is returned', async () => {
    const redis = await server()
    const proxy = await startProxy(redis.port)
    const { quota, store } = on(proxy.port, { policy: sitePolicy(1_000_000), deadlineMs: 300 })
    const { quota: other } = on(redis.port, { policy: sitePolicy(1_000_000) })
    await store.ready()
    const answers = () =>
      quota.consume(take).then(
        () => true,
        () => false,
      )
    let taken = 0
    await vi.waitFor(
      async () => {
        taken += 1
        expect(await answers()).toBe(true)
      },
      { timeout: 15_000 },
    )
    // What was leased with it goes back first, so that one return is left.
    await vi.waitFor(() => expect(store.leases().outstandingLeases).toBe(0), { timeout: 15_000 })
    await vi.waitFor(async () => expect(await siteUsed(other)).toBeLessThanOrEqual(taken), { timeout: 15_000 })
    const before = await siteUsed(other)
    const spy = vi.spyOn(SharedCalls.prototype, 'refund')
    later(() => spy.mockRestore())
    proxy.latency(320)
    await expect(quota.consume({ ...take, operation: 'big' })).rejects.toMatchObject({ code: 'quota_unavailable' })
    await vi.waitFor(() => expect(spy).toHaveBeenCalledTimes(1), { timeout: 15_000 })
    expect((await spy.mock.results[0]?.value)?.[0]).toBeGreaterThanOrEqual(5)
    expect(await siteUsed(other)).toBe(before)
  })

  it('a request that is admitted after its deadline is cancelled in every layer', async () => {
    const redis = await server()
    const { quota, store } = on(redis.port, { policy: sitePolicy(1_000, 100), deadlineMs: 300 })
    await vi.waitFor(() => quota.consume(take), { timeout: 15_000 })
    await store.ready()
    const before = await quota.status('u')
    const original = Places.prototype.takeShared
    let answer = (): void => undefined
    const answered = new Promise<void>((resolve) => {
      answer = resolve
    })
    const late = vi.spyOn(Places.prototype, 'takeShared').mockImplementationOnce(async function (
      this: Places,
      ...request
    ) {
      await answered
      return original.apply(this, request)
    })
    const settle = vi.spyOn(LeasedCounters.prototype, 'settle')
    later(() => [late, settle].map((spy) => spy.mockRestore()))
    await expect(quota.consume(take)).rejects.toMatchObject({ code: 'quota_unavailable' })
    answer()
    await vi.waitFor(() => expect(settle).toHaveBeenCalledTimes(1), { timeout: 15_000 })
    await settle.mock.results[0]?.value
    const { limits } = await quota.status('u')
    expect(limits).toEqual(before.limits)
  })

  it('a site that fails leaves the subject’s rows unchanged, and the id can be tried again', async () => {
    const redis = await server()
    const { quota, store } = on(redis.port, { policy: sitePolicy(1_000, 100) })
    await store.ready()
    const before = await quota.status('u')
    const failed = () => Promise.reject(new QuotaError('store_error', 'the site fails'))
    const site = vi.spyOn(Places.prototype, 'takeShared').mockImplementationOnce(failed)
    later(() => site.mockRestore())
    const request = { ...take, id: 'a' }
    await expect(quota.reserve(request)).rejects.toMatchObject({ code: 'quota_unavailable' })
    const { limits } = await quota.status('u')
    expect(limits).toEqual(before.limits)
    expect(await quota.reserve(request)).toMatchObject({ status: 'reserved' })
  })

  it('tokens of a request without a reply are credited to no lease', async () => {
    const redis = await server()
    const proxy = await startProxy(redis.port)
    const { quota, store } = on(proxy.port, { policy: sitePolicy(1_000_000) })
    await takes(quota, 20, 20)
    const { quota: other } = on(redis.port, { policy: sitePolicy(1_000_000) })
    expect(store.leases().strandedTokens).toBe(0)
    const cut = proxy.cutAfterNextRequest()
    await expect(quota.consume(take)).rejects.toMatchObject({ code: 'quota_unavailable' })
    await cut
    expect(store.leases().strandedTokens).toBe(1)
    await quota.close()
    expect(await siteUsed(other)).toBeGreaterThanOrEqual(401)
  })
})
