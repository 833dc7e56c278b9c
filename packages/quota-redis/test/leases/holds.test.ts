import { manualClock } from '@scoregw/quota-testkit'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { Shard } from '../../src/leases/shard.ts'
import { SharedPool } from '../../src/leases/shared-pool.ts'
import { newPrefix } from '../store-harness.ts'
import { useCleanups, useRedis } from '../support/cleanups.ts'
import { EVERYTHING, HOURS, MONTHS, SLOTS } from '../support/holders.ts'
import { linesOf, runProgram } from '../support/program.ts'
import { redisTests } from '../support/redis-server.ts'
import { leasedHolder, MANY, refOf, reportOf, untilLeased, warmUp } from './leased-holders.ts'

const HOUR_MS = 3_600_000
const SLOT = { slot: true } as const

const { later } = useCleanups()

describe.runIf(redisTests)('holds on leased limits', () => {
  const redis = useRedis()
  beforeAll(() => warmUp(redis.port))

  const holder = (options: Parameters<typeof leasedHolder>[2]) => leasedHolder(redis.port, later, options)

  it('a hold takes leased tokens and gives them back wherever it is settled', async () => {
    const prefix = newPrefix()
    const [one, other] = [await holder({ prefix }), await holder({ prefix })]
    const taken = await untilLeased(one)
    const { localDecisions } = reportOf(one)
    for (const [n, id] of ['a', 'b', 'c'].entries()) {
      expect(await one.hold(id, 10)).toMatchObject({ outcome: 'admitted' })
      expect(reportOf(one).localDecisions).toBe(localDecisions + n + 1)
    }
    expect([await one.used(), await one.siteUsed()]).toEqual([[30], [taken + 30]])
    expect(await other.commit('a', 4)).toMatchObject({ outcome: 'settled', charged: 4, reserved: 10 })
    expect(await other.cancel('b')).toMatchObject({ outcome: 'settled' })
    expect(await one.grow('c', 7)).toMatchObject({ outcome: 'held' })
    expect(reportOf(one).localDecisions).toBe(localDecisions + 4)
    expect(await one.commit('c')).toMatchObject({ outcome: 'settled', charged: 17 })
    for (const { store } of [one, other]) await store.close()
    const last = await holder({ prefix })
    expect([await last.used(), await last.siteUsed()]).toEqual([[21], [taken + 21]])
    for (const each of [one, other]) expect(reportOf(each).strandedTokens).toBe(0)
  })

  it('20 concurrent holds of 75 under a shared limit of 500 in two processes give exactly 6 admissions', async () => {
    const prefix = newPrefix()
    const parties = await Promise.all([1, 2].map(() => holder({ prefix, siteLimits: [500] })))
    const replies = await Promise.all(Array.from({ length: 20 }, (_, n) => parties[n % 2]!.hold(`h${n}`, 75)))
    expect(replies.filter(({ outcome }) => outcome === 'admitted')).toHaveLength(6)
    expect([await parties[0]!.used(), await parties[0]!.siteUsed()]).toEqual([[450], [450]])
    expect((await parties[0]!.holds.list({ subject: 'u' })).holds).toHaveLength(6)
  })

  it('the hold of a killed process is given back in both layers within a second of its end', async () => {
    const prefix = newPrefix()
    const witness = await holder({ prefix, schema: SLOTS, limits: [500, 2] })
    const code = `import { holdAndWait } from './test/support/holders.ts'; await holdAndWait(${redis.port}, '${prefix}', 400, 1000, true)`
    const child = runProgram(code, { stdio: ['ignore', 'pipe', 'inherit'] })
    later(() => child.kill('SIGKILL'))
    const { value: said } = await linesOf(child).next()
    child.kill('SIGKILL')
    const [outcome, endsAt] = String(said).split(' ')
    expect(outcome).toBe('admitted')
    expect([await witness.used(), await witness.siteUsed()]).toEqual([
      [400, 1],
      [400, 0],
    ])
    const seen = async () => [await witness.used(), await witness.siteUsed()]
    await vi.waitFor(
      async () =>
        expect(await seen()).toEqual([
          [0, 0],
          [0, 0],
        ]),
      { timeout: 10_000, interval: 20 },
    )
    const { now } = await witness.take(1)
    expect(now).toBeGreaterThanOrEqual(Number(endsAt))
    // A second, and what a busy machine adds to a timer and two calls.
    expect(now).toBeLessThan(Number(endsAt) + 1_500)
    expect((await witness.holds.sweep()).ended).toMatchObject([
      { owner: 'u', costs: { tokens: 400 }, endsAt: Number(endsAt) },
    ])
  })

  it('each expired hold ends once, whichever process sweeps, and other holds keep their tokens', async () => {
    const clock = manualClock()
    const prefix = newPrefix()
    const [one, other] = [await holder({ prefix, clock }), await holder({ prefix, clock })]
    for (let n = 0; n < 50; n++) await one.hold(`h${n}`, 2, { ttlMs: 1_000 + n })
    await one.hold('stays', 3, { ttlMs: HOUR_MS })
    await other.take(5, 'v')
    clock.advance(1_000 + 50)
    const swept = await Promise.all([one, other, one, other].map(({ holds }) => holds.sweep()))
    expect(swept.flatMap(({ ended }) => ended)).toHaveLength(50)
    await vi.waitFor(async () => expect(await one.siteUsed()).toEqual([8]), { timeout: 60_000, interval: 50 })
    expect(await one.used()).toEqual([3])
    expect((await other.holds.sweep()).open).toBe(1)
  })

  describe.each(['cold', 'warm'])('holds when the site is %s', (site) => {
    async function party(siteLimits: readonly number[], ownLimits: readonly number[] = [MANY, 2]) {
      const made = await holder({
        prefix: newPrefix(),
        schema: SLOTS,
        limits: ownLimits,
        siteLimits,
        clock: manualClock(),
      })
      const used = site === 'cold' ? 0 : 1
      if (used > 0) await made.take(used, 'v')
      return { made, used }
    }

    it('a refusal by the site leaves no hold, slot, window or id', async () => {
      const { made } = await party([10, 0])
      const refused = await made.hold('a', 11, SLOT)
      expect([refused.outcome, refused.states.slice(0, 4)]).toEqual(['refused', [-1, 0, -1, 0]])
      const looked = await made.counters.read({ subject: 'u', categories: [0], layers: [0] })
      expect(looked.states).toEqual([[-1, 0, -1, 0]])
      expect(await made.holds.list({ subject: 'u' })).toMatchObject({ holds: [] })
      expect((await made.holds.sweep()).open).toBe(0)
      expect(await made.hold('a', 4, { ...SLOT, nonce: 'another' })).toMatchObject({ outcome: 'admitted' })
    })

    it('a refusal by the subject’s limits charges nothing at the site and opens no window there', async () => {
      const { made, used } = await party([MANY, 0], [10, 1])
      expect(await made.hold('a', 11, SLOT)).toMatchObject({ outcome: 'refused' })
      expect(await made.hold('a', 1, { ...SLOT, maxHolds: 0 })).toMatchObject({ outcome: 'too_many_holds' })
      const { states } = await made.counters.read({ subject: 'u', categories: [0], layers: [1] })
      expect(states[0]!.slice(0, 2)).toEqual(site === 'cold' ? [-1, 0] : [expect.any(Number), used])
      expect(await made.hold('a', 10, SLOT)).toMatchObject({ outcome: 'admitted' })
      expect(await made.hold('b', 0, SLOT)).toMatchObject({ outcome: 'refused' })
      expect([await made.used(), await made.siteUsed()]).toEqual([
        [10, 1],
        [used + 10, 0],
      ])
    })

    it('a hold without cost is open and can grow later', async () => {
      const { made, used } = await party([10, 0])
      expect(await made.hold('a', 0, SLOT)).toMatchObject({ outcome: 'admitted' })
      expect(await made.siteUsed()).toEqual([used, 0])
      expect(await made.grow('a', 11)).toMatchObject({ outcome: 'refused' })
      expect([await made.used(), await made.siteUsed()]).toEqual([
        [0, 1],
        [used, 0],
      ])
      expect(await made.grow('a', 6)).toMatchObject({ outcome: 'held' })
      expect([await made.used(), await made.siteUsed()]).toEqual([
        [6, 1],
        [used + 6, 0],
      ])
      await made.cancel('a')
      await vi.waitFor(async () => expect(await made.siteUsed()).toEqual([used, 0]), { timeout: 15_000, interval: 5 })
    })

    it('holds of subjects without limits of their own are found by id', async () => {
      const { made, used } = await party([10, 0])
      const quotas = { layers: [1], limits: [10, 0] }
      expect(await made.hold('a', 6, { quotas })).toMatchObject({ outcome: 'admitted' })
      expect(await made.hold('b', 6, { quotas })).toMatchObject({ outcome: 'refused' })
      expect(await made.hold('a', 6, { quotas })).toMatchObject({ outcome: 'admitted' })
      expect(await made.hold('a', 6, { quotas, nonce: 'another' })).toMatchObject({ outcome: 'duplicate' })
      const grow = (id: string) => made.counters.holds!.grow({ ...refOf(id), quotas, costs: [5, 0] })
      expect(await grow('a')).toMatchObject({ outcome: 'refused' })
      expect(await grow('b')).toMatchObject({ outcome: 'unknown' })
      expect(await made.siteUsed()).toEqual([used + 6, 0])
      await made.cancel('a')
      await vi.waitFor(async () => expect(await made.siteUsed()).toEqual([used, 0]), { timeout: 15_000, interval: 5 })
    })
  })

  it('a hold grows in a new window of the site, or in none, and gives back what it has there', async () => {
    const clock = manualClock()
    const prefix = newPrefix()
    const one = await holder({ prefix, limits: [10], siteLimits: [20], clock })
    await one.hold('a', 4, { ttlMs: 9 * HOUR_MS })
    clock.advance(HOUR_MS)
    // Own windows refuse: nothing opens.
    expect(await one.grow('a', 11)).toMatchObject({ outcome: 'refused', states: [-1, 0, -1, 0] })
    await other(5)
    expect(await one.grow('a', 11)).toMatchObject({ outcome: 'refused' })
    expect(await one.grow('a', 16)).toMatchObject({ outcome: 'refused' })
    expect(await one.siteUsed()).toEqual([5])
    clock.advance(HOUR_MS)
    // The site refuses what the own windows were charged for: they are closed again.
    await other(15)
    const spy = vi.spyOn(SharedPool.prototype, 'take')
    spy.mockImplementationOnce(() => ({ outcome: 'would-open', now: clock.now(), states: [] }))
    later(() => spy.mockRestore())
    // A call that is sent twice is undone once.
    const undo = Shard.prototype.undoHold
    const undone = vi.spyOn(Shard.prototype, 'undoHold').mockImplementationOnce(async function (this: Shard, request) {
      const first = await undo.call(this, request)
      expect(await undo.call(this, request)).toBe('unknown')
      return first
    })
    later(() => undone.mockRestore())
    const refused = await one.grow('a', 6)
    expect([refused.outcome, refused.states.slice(0, 2)]).toEqual(['refused', [-1, 0]])
    expect(spy.mock.calls.map(([{ mayOpen }]) => mayOpen)).toEqual([false, true])
    expect((await one.holds.list({ subject: 'u' })).holds).toMatchObject([{ costs: { tokens: 4 } }])
    clock.advance(HOUR_MS)
    expect(await one.grow('a', 6)).toMatchObject({ outcome: 'held' })
    await other(3)
    expect([await one.used(), await one.siteUsed()]).toEqual([[6], [9]])
    expect(await one.commit('a', 2)).toMatchObject({ charged: 2, reserved: 10 })
    await vi.waitFor(async () => expect(await one.siteUsed()).toEqual([3]), { timeout: 15_000, interval: 5 })
    expect(await one.used()).toEqual([0])

    async function other(tokens: number): Promise<void> {
      const quotas = { layers: [1], limits: [20] }
      expect(await one.counters.take({ subject: 'v', category: 0, quotas, costs: [tokens, 0] })).toMatchObject({
        outcome: 'admitted',
      })
    }
  })

  it('a commit above the hold is charged at the site in time, late, and once', async () => {
    const clock = manualClock()
    const one = await holder({ prefix: newPrefix(), limits: [100], siteLimits: [10], clock })
    await one.hold('a', 4)
    const reply = await one.commit('a', 9, 'charge')
    expect([reply.charged, reply.states]).toEqual([9, [clock.now(), 9, clock.now(), 9]])
    for (let again = 0; again < 2; again++) expect(await one.commit('a', 9, 'charge')).toMatchObject({ charged: 9 })
    expect(await one.siteUsed()).toEqual([9])
    await one.hold('b', 1, { ttlMs: 1_000 })
    clock.advance(1_000)
    expect(await one.commit('b', 8, 'charge')).toMatchObject({ outcome: 'settled', charged: 8 })
    await vi.waitFor(async () => expect(await one.siteUsed()).toEqual([17]), { timeout: 15_000, interval: 5 })
    expect(await one.used()).toEqual([17])
    expect(await one.take(1)).toMatchObject({ outcome: 'refused' })
  })

  it('a settled hold gives back what its record lists, even if layers or windows changed since', async () => {
    const all = [HOURS, SLOTS, MONTHS, EVERYTHING]
    const limitsOf = ({ cells }: typeof HOURS) => cells.map(({ kind }) => (kind === 'concurrency' ? 3 : 100))
    for (const [mine, theirs] of all.flatMap((a) => all.filter((b) => b !== a).map((b) => [a, b] as const))) {
      const clock = manualClock()
      const prefix = newPrefix()
      const [one, other] = await Promise.all(
        [mine, theirs].map((schema) => holder({ prefix, schema, limits: limitsOf(schema), clock })),
      )
      const used = async () => [...(await one!.used()), ...(await one!.siteUsed()), ...(await other!.siteUsed())]
      const free = (await used()).map(() => 0)
      for (const end of ['commit', 'cancel', 'sweep'] as const) {
        await one!.hold(end, 10, { slot: mine.cells.length > 1 })
        expect(await other!.grow(end, 5)).toMatchObject({ outcome: 'held' })
        expect((await one!.siteUsed())[0]).toBe(15)
        if (end === 'commit') expect(await other!.commit(end, 0)).toMatchObject({ charged: 0 })
        if (end === 'cancel') await other!.cancel(end)
        if (end === 'sweep') clock.advance(60_000)
        if (end === 'sweep') expect((await other!.holds.sweep()).ended).toHaveLength(1)
        await vi.waitFor(async () => expect(await used()).toEqual(free), { timeout: 15_000, interval: 5 })
      }
      // Of what two policies charged no more goes back than what the work did not need.
      await one!.hold('part', 10)
      await other!.grow('part', 5)
      expect(await other!.commit('part', 9)).toMatchObject({ charged: 9, reserved: 15 })
      const ofHour = async () => [(await one!.used())[0], (await one!.siteUsed())[0]]
      await vi.waitFor(async () => expect(await ofHour()).toEqual([9, 9]), { timeout: 15_000, interval: 5 })
    }
    // What one policy charged to an older opening is behind what the other charged to a newer one.
    const clock = manualClock()
    const prefix = newPrefix()
    const [hours, months] = await Promise.all(
      [HOURS, MONTHS].map((schema) => holder({ prefix, schema, limits: limitsOf(schema), clock })),
    )
    await hours!.hold('a', 10, { ttlMs: 9 * HOUR_MS })
    await months!.grow('a', 5)
    clock.advance(HOUR_MS)
    await hours!.grow('a', 3)
    await hours!.take(1)
    await months!.cancel('a')
    await vi.waitFor(async () => expect(await months!.siteUsed()).toEqual([1, 0]), { timeout: 15_000, interval: 5 })
    const one = await holder({ prefix: newPrefix() })
    await one.hold('a', 6)
    const off = { quotas: { layers: [0], limits: [MANY] } }
    await one.hold('b', 3, off)
    const commit = { as: 'committed', overrun: 'refuse', maxOverrun: [0] } as const
    for (const id of ['a', 'b']) await one.holds.settle({ ...refOf(id), ...off, ...commit, actual: [1] })
    await vi.waitFor(async () => expect(await one.siteUsed()).toEqual([1]), { timeout: 15_000, interval: 5 })
    expect(await one.used()).toEqual([2])
  })

  it('a hold with an outdated settings revision is stale', async () => {
    const one = await holder({ prefix: newPrefix() })
    await one.hold('a', 1, { settingsRevision: '' })
    expect(await one.hold('b', 1, { settingsRevision: 'other' })).toMatchObject({
      outcome: 'stale',
      settingsRevision: '',
    })
    expect([await one.used(), await one.siteUsed()]).toEqual([[1], [1]])
  })
})
