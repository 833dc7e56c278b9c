import { manualClock } from '@scoregw/quota-testkit'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { Places } from '../../src/leases/places.ts'
import { Shard } from '../../src/leases/shard.ts'
import { SharedPool } from '../../src/leases/shared-pool.ts'
import { newPrefix } from '../store-harness.ts'
import { useCleanups, useRedis } from '../support/cleanups.ts'
import { SLOTS } from '../support/holders.ts'
import { redisTests } from '../support/redis-server.ts'
import { leasedHolder, MANY, reportOf, untilLeased, warmUp } from './leased-holders.ts'

const HOUR_MS = 3_600_000
const SLOT = { slot: true } as const

const { later, proxy: startProxy } = useCleanups()

describe.runIf(redisTests)('leased holds with unknown state', () => {
  const redis = useRedis()
  beforeAll(() => warmUp(redis.port))

  const holder = (options: Parameters<typeof leasedHolder>[2]) => leasedHolder(redis.port, later, options)

  it('a leased hold is charged once and given back once, whichever reply is lost', async () => {
    const prefix = newPrefix()
    const proxy = await startProxy(redis.port)
    // A manual clock: no process looks for holds in between.
    const options = { prefix, schema: SLOTS, limits: [MANY, 5], clock: manualClock() }
    const one = await holder({ ...options, port: proxy.port })
    const witness = await holder(options)
    await one.hold('before', 1)
    await one.cancel('before')
    let taken = 0
    /** With its answer, or that of something else that was in flight, lost on the way. Asked again where that took too long. */
    const lost = async <T>(call: () => Promise<T>): Promise<T> => {
      taken += await untilLeased(one)
      const cut = proxy.cutAfterNextRequest()
      const reply = await call().catch(call)
      await cut
      return reply
    }
    const siteUsed = async () => (await one.siteUsed())[0]! - taken
    expect(await lost(() => one.hold('h', 10, SLOT))).toMatchObject({ outcome: 'admitted' })
    expect([await witness.used(), await siteUsed()]).toEqual([[10, 1], 10])
    expect(await one.commit('h', 5)).toMatchObject({ outcome: 'settled', charged: 5 })
    expect([await witness.used(), await siteUsed()]).toEqual([[5, 0], 5])
    // What a settling gives back may be lost with its answer, and is never counted twice.
    await one.hold('x', 4)
    expect(await lost(() => one.cancel('x'))).toMatchObject({ outcome: 'settled' })
    const kept = await siteUsed()
    expect([5, 9]).toContain(kept)
    expect(await witness.used()).toEqual([5, 0])
    // Of two sendings the first may be carried out last: what the second was refused goes back nowhere.
    const full = { ...SLOT, quotas: { layers: [0, 1], limits: [MANY, 0, MANY, MANY] } }
    const stranded = () => reportOf(one).strandedTokens
    const before = stranded()
    for (let n = 0; n < 20 && stranded() === before; n++) {
      expect(await lost(() => one.hold(`y${n}`, 3, full))).toMatchObject({ outcome: 'refused' })
    }
    expect(stranded()).toBeGreaterThan(before)
    expect(await siteUsed()).toBe(kept + stranded() - before)
    expect(await one.hold('y', 3, full)).toMatchObject({ outcome: 'refused' })
    expect([await witness.used(), await siteUsed()]).toEqual([[5, 0], kept + stranded() - before])
  })

  it('a repeated leased hold keeps its first tokens, and those of the second try are returned', async () => {
    const prefix = newPrefix()
    const one = await holder({ prefix })
    const first = await one.hold('a', 10)
    const again = await one.hold('a', 10)
    expect([again.outcome, again.endsAt]).toEqual(['admitted', first.endsAt])
    expect(await one.hold('a', 10, { nonce: 'another' })).toMatchObject({ outcome: 'duplicate', states: [] })
    expect([await one.used(), await one.siteUsed()]).toEqual([[10], [10]])
    await one.cancel('a')
    expect(await one.hold('a', 10)).toMatchObject({ outcome: 'cancelled' })
    await vi.waitFor(async () => expect(await one.siteUsed()).toEqual([0]), { timeout: 15_000, interval: 5 })
    expect(await one.used()).toEqual([0])
  })

  it('a leased hold that ended before its repeat arrives isn’t given back twice', async () => {
    const prefix = newPrefix()
    const clock = manualClock()
    const one = await holder({ prefix, clock })
    const before = await untilLeased(one)
    // The first delivery arrives, and its hold ends before the second.
    const original = Shard.prototype.takeHold
    const spy = vi.spyOn(Shard.prototype, 'takeHold').mockImplementationOnce(async function (
      this: Shard,
      request,
      shared,
    ) {
      await original.call(this, request, shared)
      clock.advance(60_000)
      await one.holds.sweep()
      return original.call(this, request, shared)
    })
    later(() => spy.mockRestore())
    expect(await one.hold('a', 10)).toMatchObject({ outcome: 'expired' })
    await one.store.close()
    const last = await holder({ prefix, clock })
    expect([await last.used(), await last.siteUsed()]).toEqual([[0], [before]])
  })

  it('a growth made before the leased hold ended isn’t given back twice', async () => {
    const prefix = newPrefix()
    const one = await holder({ prefix })
    const before = await untilLeased(one)
    await one.hold('a', 10)
    const original = Shard.prototype.grow
    const spy = vi.spyOn(Shard.prototype, 'grow').mockImplementationOnce(async function (this: Shard, request, terms) {
      await original.call(this, request, terms)
      await one.commit('a', 3)
      return original.call(this, request, terms)
    })
    later(() => spy.mockRestore())
    expect(await one.grow('a', 7)).toMatchObject({ outcome: 'settled' })
    await one.store.close()
    const last = await holder({ prefix })
    expect([await last.used(), await last.siteUsed()]).toEqual([[3], [before + 3]])
  })

  it('a late growth doesn’t replace one in a newer window', async () => {
    const clock = manualClock()
    const one = await holder({ prefix: newPrefix(), clock, siteLimits: [100] })
    await one.hold('a', 10, { ttlMs: 9 * HOUR_MS })
    const original = Shard.prototype.grow
    const spy = vi.spyOn(Shard.prototype, 'grow').mockImplementationOnce(async function (this: Shard, request, terms) {
      clock.advance(HOUR_MS)
      expect(await one.grow('a', 3)).toMatchObject({ outcome: 'held' })
      return original.call(this, request, terms)
    })
    later(() => spy.mockRestore())
    expect(await one.grow('a', 5)).toMatchObject({ outcome: 'held' })
    expect(await one.siteUsed()).toEqual([3])
    await one.cancel('a')
    await vi.waitFor(async () => expect(await one.siteUsed()).toEqual([0]), { timeout: 15_000, interval: 5 })
  })

  it('a leased hold that the site refuses leaves no charge in the subject’s limits', async () => {
    const one = await holder({ prefix: newPrefix(), schema: SLOTS, limits: [MANY, 1], siteLimits: [10, 0] })
    await one.take(8, 'v')
    const spy = vi.spyOn(SharedPool.prototype, 'take')
    later(() => spy.mockRestore())
    // As when others came in between.
    spy.mockImplementationOnce(() => ({ outcome: 'would-open', now: 0, states: [] }))
    const refused = await one.hold('a', 3, SLOT)
    expect([refused.outcome, refused.states.slice(0, 2), refused.states[3]]).toEqual(['refused', [-1, 0], 0])
    expect(spy.mock.calls.map(([{ mayOpen }]) => mayOpen)).toEqual([false, true])
    expect([await one.used(), await one.siteUsed()]).toEqual([
      [0, 0],
      [8, 0],
    ])
    expect((await one.holds.sweep()).open).toBe(0)
    expect(await one.hold('a', 2, { ...SLOT, nonce: 'another' })).toMatchObject({ outcome: 'admitted' })
    await one.cancel('a', 'another')
    // And where the site cannot be asked.
    spy.mockImplementationOnce(() => ({ outcome: 'would-open', now: 0, states: [] }))
    spy.mockImplementationOnce(() => Promise.reject(new TypeError('the site is gone')))
    await expect(one.hold('b', 1, SLOT)).rejects.toThrow('the site is gone')
    expect([await one.used(), (await one.holds.sweep()).open]).toEqual([[0, 0], 0])
  })

  it('a leased hold that ends during the site’s call leaves nothing at the site', async () => {
    const clock = manualClock()
    const one = await holder({ prefix: newPrefix(), clock })
    const original = SharedPool.prototype.take
    let asked = 0
    const spy = vi.spyOn(SharedPool.prototype, 'take').mockImplementation(function (this: SharedPool, request) {
      if (asked++ === 1) clock.advance(60_000)
      return original.call(this, request)
    })
    later(() => spy.mockRestore())
    expect(await one.hold('a', 5)).toMatchObject({ outcome: 'admitted' })
    expect(asked).toBe(2)
    expect(await one.extend('a', 1_000)).toMatchObject({ outcome: 'expired' })
    await vi.waitFor(async () => expect(await one.siteUsed()).toEqual([0]), { timeout: 15_000, interval: 5 })
  })

  it('a take that died between its own part and the site is completed once by the next try', async () => {
    const one = await holder({ prefix: newPrefix(), siteLimits: [10], deadlineMs: 500 })
    const spy = vi.spyOn(Places.prototype, 'takeShared')
    later(() => spy.mockRestore())
    const dies = () => {
      // As a process that is killed: it undoes nothing.
      spy.mockImplementationOnce(() => ({ outcome: 'would-open', now: 0, states: [] }))
      spy.mockImplementationOnce(() => new Promise(() => undefined))
    }
    dies()
    await expect(one.hold('a', 6)).rejects.toMatchObject({ code: 'store_error' })
    expect([await one.used(), await one.siteUsed()]).toEqual([[6], [0]])
    for (let again = 0; again < 2; again++) {
      expect(await one.hold('a', 6)).toMatchObject({ outcome: 'admitted' })
      expect([await one.used(), await one.siteUsed()]).toEqual([[6], [6]])
    }
    await one.cancel('a')
    await vi.waitFor(async () => expect(await one.siteUsed()).toEqual([0]), { timeout: 15_000, interval: 5 })
    // Where the site refuses by now there is no hold.
    // The same where the site answers synchronously by then.
    dies()
    await expect(one.hold('warm', 6)).rejects.toMatchObject({ code: 'store_error' })
    await one.take(1, 'v')
    expect(await one.hold('warm', 6)).toMatchObject({ outcome: 'admitted' })
    expect([await one.used(), await one.siteUsed()]).toEqual([[6], [7]])
    await one.cancel('warm')
    await vi.waitFor(async () => expect(await one.siteUsed()).toEqual([1]), { timeout: 15_000, interval: 5 })
    dies()
    await expect(one.hold('b', 6)).rejects.toMatchObject({ code: 'store_error' })
    await one.take(4, 'v')
    expect(await one.hold('b', 6)).toMatchObject({ outcome: 'refused' })
    expect([await one.used(), await one.siteUsed()]).toEqual([[0], [5]])
    expect((await one.holds.list({ subject: 'u' })).holds).toEqual([])
  })

  it('a leased hold that is admitted after its deadline is cancelled, also at the site', async () => {
    const one = await holder({ prefix: newPrefix(), deadlineMs: 500, siteLimits: [100] })
    await vi.waitFor(() => one.take(1), { timeout: 15_000 })
    const original = Places.prototype.takeShared
    let answer = (): void => undefined
    const answered = new Promise<void>((resolve) => {
      answer = resolve
    })
    // The site takes its time; after it the own part is in time for itself, and too late for the caller.
    const spy = vi.spyOn(Places.prototype, 'takeShared').mockImplementationOnce(async function (
      this: Places,
      ...asked
    ) {
      await answered
      return original.apply(this, asked)
    })
    later(() => spy.mockRestore())
    await expect(one.hold('a', 10)).rejects.toMatchObject({ code: 'store_error' })
    answer()
    await vi.waitFor(async () => expect(await one.extend('a', 1)).toMatchObject({ outcome: 'settled' }), {
      timeout: 15_000,
    })
    await vi.waitFor(async () => expect(await one.siteUsed()).toEqual([1]), { timeout: 15_000, interval: 20 })
    expect([await one.used(), (await one.holds.list({ subject: 'u' })).holds]).toEqual([[1], []])
  })
})
