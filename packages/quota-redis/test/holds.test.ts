import { GRACE_MS } from '@scoregw/quota/internal'
import { manualClock } from '@scoregw/quota-testkit'
import * as fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { Keys } from '../src/keys/keys.ts'
import { newPrefix } from './store-harness.ts'
import { useCleanups, useRedis } from './support/cleanups.ts'
import { EVERYTHING, HOURS, Holder, type HolderOptions, MONTHS, SLOTS } from './support/holders.ts'
import { linesOf, runProgram } from './support/program.ts'
import { redisTests } from './support/redis-server.ts'

const deep = process.env.QUOTA_TEST_DEEP === '1'
const SCHEDULES = deep ? 100_000 : 30

const { later, proxy: startProxy } = useCleanups()

describe.runIf(redisTests)('holds on Redis', () => {
  const redis = useRedis()

  function holder(options: Partial<HolderOptions> & Pick<HolderOptions, 'prefix' | 'schema' | 'limits'>): Holder {
    const made = new Holder({ port: redis.port, ...options })
    later(() => made.close())
    return made
  }

  const expiresAt = async (key: string): Promise<number> => Number(await redis.admin.call('PEXPIRETIME', key))

  it('a hold that ends at this very instant has ended', async () => {
    const clock = manualClock()
    const one = holder({ prefix: newPrefix(), schema: HOURS, limits: [100], clock })
    await one.hold('late', 10, { ttlMs: 1_000 })
    await one.hold('in time', 20, { ttlMs: 1_001 })
    clock.advance(1_000)
    await one.cancel('late')
    await one.cancel('in time')
    expect(await one.used()).toEqual([0])
    // What ended unsettled is reported.
    expect((await one.holds.sweep()).ended).toMatchObject([{ costs: { tokens: 10 }, endsAt: clock.now() }])
  })

  it('a hold that ends at this very instant doesn’t count for a hold that comes with other calls', async () => {
    const clock = manualClock()
    const one = holder({ prefix: newPrefix(), schema: HOURS, limits: [100], clock })
    await one.hold('first', 10, { ttlMs: 1_000 })
    clock.advance(999)
    const next = async () => (await Promise.all([one.hold('next', 20, { maxHolds: 1 }), one.take(1)]))[0].outcome
    expect(await next()).toBe('too_many_holds')
    clock.advance(1)
    expect(await next()).toBe('admitted')
  })

  it('holds that come together count for each other, and their row is kept for the one that lasts longest', async () => {
    const prefix = newPrefix()
    const one = holder({ prefix, schema: SLOTS, limits: [100, 5] })
    const lasting = [36_000_000, 1_000, 1_000]
    const replies = await Promise.all(
      lasting.map((ttlMs, n) => one.hold(`h${n}`, 1, { ttlMs, slot: true, maxHolds: 2 })),
    )
    expect(replies.map(({ outcome }) => outcome)).toEqual(['admitted', 'admitted', 'too_many_holds'])
    const row = new Keys(prefix, SLOTS).row(0, 'u')
    expect(await expiresAt(row)).toBeGreaterThanOrEqual(replies[0]!.now + lasting[0]!)
  })

  it('20 concurrent holds of 75 under a limit of 500 in two processes give exactly 6 admissions', async () => {
    const options = { prefix: newPrefix(), schema: HOURS, limits: [500] }
    const parties = [holder(options), holder(options)]
    const replies = await Promise.all(Array.from({ length: 20 }, (_, n) => parties[n % 2]!.hold(`h${n}`, 75)))
    expect(replies.filter(({ outcome }) => outcome === 'admitted')).toHaveLength(6)
    expect(await parties[0]!.used()).toEqual([450])
    expect((await parties[0]!.holds.list({ subject: 'u' })).holds).toHaveLength(6)
  })

  it('the hold of a killed process is given back within a second of its end', async () => {
    const prefix = newPrefix()
    const witness = holder({ prefix, schema: SLOTS, limits: [500, 2] })
    const code = `import { holdAndWait } from './test/support/holders.ts'; await holdAndWait(${redis.port}, '${prefix}', 400, 1000)`
    const child = runProgram(code, { stdio: ['ignore', 'pipe', 'inherit'] })
    later(() => child.kill('SIGKILL'))
    const { value: said } = await linesOf(child).next()
    child.kill('SIGKILL')
    const [outcome, endsAt] = String(said).split(' ')
    expect(outcome).toBe('admitted')
    expect(await witness.used()).toEqual([400, 1])
    await vi.waitFor(async () => expect(await witness.used()).toEqual([0, 0]), { timeout: 10_000, interval: 20 })
    const { now } = await witness.take(1)
    expect(now).toBeGreaterThanOrEqual(Number(endsAt))
    // A second, and what a busy machine adds to a timer and a call.
    expect(now).toBeLessThan(Number(endsAt) + 1_500)
    const { ended, open } = await witness.holds.sweep()
    expect(ended).toMatchObject([{ owner: 'u', costs: { tokens: 400 }, endsAt: Number(endsAt) }])
    expect(open).toBe(0)
  })

  it('an open hold’s record has no expiry, and its row is kept while it has a slot', async () => {
    const clock = manualClock()
    const prefix = newPrefix()
    const one = holder({ prefix, schema: SLOTS, limits: [500, 2], clock })
    const keys = new Keys(prefix, SLOTS)
    const [row, record] = [keys.row(0, 'u'), keys.recordPlace('u', 'h').key]
    const day = 86_400_000
    await one.hold('h', 5, { ttlMs: day, slot: true })
    expect(await expiresAt(record)).toBe(-1)
    const before = await expiresAt(row)
    expect(before).toBeGreaterThanOrEqual(Date.now() + day)
    await one.extend('h', 2 * day)
    const extended = await expiresAt(row)
    expect(extended).toBeGreaterThanOrEqual(before + day - 60_000)
    await one.extend('h', day)
    await one.take(1)
    await one.commit('h', 3)
    expect(await expiresAt(row)).toBeGreaterThanOrEqual(extended)
    expect((await expiresAt(record)) - Date.now()).toBeGreaterThan(500_000)
    expect(await one.used()).toEqual([4, 0])
    expect(await redis.admin.zcard(keys.holds)).toBe(0)
    expect(await redis.admin.exists(keys.holds, keys.holdsOf('u'))).toBe(0)
    expect(extended - Date.now()).toBeLessThan(2 * day + GRACE_MS + 1_000)
  })

  it('a hold whose replies are lost is charged once, and a repeated commit is answered from the record', async () => {
    const prefix = newPrefix()
    const proxy = await startProxy(redis.port)
    const options = { prefix, schema: SLOTS, limits: [500, 5] }
    const one = holder({ ...options, port: proxy.port })
    const witness = holder(options)
    await one.hold('before', 1)
    await one.cancel('before')
    const lost = async <T>(call: () => Promise<T>): Promise<T> => {
      const cut = proxy.cutAfterNextRequest()
      const reply = await call()
      await cut
      return reply
    }
    expect(await lost(() => one.hold('h', 10, { slot: true }))).toMatchObject({ outcome: 'admitted' })
    expect(await witness.used()).toEqual([10, 1])
    expect(await lost(() => one.grow('h', 7))).toMatchObject({ outcome: 'held' })
    expect(await witness.used()).toEqual([17, 1])
    expect(await lost(() => one.extend('h', 90_000))).toMatchObject({ outcome: 'held' })
    const answer = { outcome: 'settled', charged: 30, uncharged: 0, reserved: 17 }
    expect(await lost(() => one.commit('h', 30, 'charge'))).toMatchObject(answer)
    expect(await witness.commit('h', 99, 'charge')).toMatchObject(answer)
    expect(await witness.used()).toEqual([30, 0])
    await one.hold('x', 4)
    expect(await lost(() => one.cancel('x'))).toMatchObject({ outcome: 'settled' })
    expect(await witness.used()).toEqual([30, 0])
  })

  it('a hold that a call finds expired is among those that ended, in the process of the call', async () => {
    const clock = manualClock()
    const options = { prefix: newPrefix(), schema: HOURS, limits: [500], clock }
    const [one, other] = [holder(options), holder(options)]
    const calls = [
      ['expired', () => other.grow('h0', 1)],
      ['expired', () => other.extend('h1', 60_000)],
      ['expired', () => other.hold('h2', 10)],
      ['settled', () => other.cancel('h3')],
      ['expired', () => other.commit('h4', 10)],
      ['settled', () => other.commit('h5', 20, 'charge')],
    ] as const
    for (const [index, [outcome, call]] of calls.entries()) {
      const { endsAt } = await one.hold(`h${index}`, 10)
      clock.advance(60_000)
      expect(await call()).toMatchObject({ outcome })
      expect((await one.holds.sweep()).ended).toEqual([])
      const { ended, open } = await other.holds.sweep()
      expect(ended).toMatchObject([{ owner: 'u', costs: { tokens: 10 }, endsAt }])
      expect(open).toBe(0)
    }
  })

  it('a hold that a call finds expired is among those that ended, though the reply to its end was lost', async () => {
    const clock = manualClock()
    const proxy = await startProxy(redis.port)
    const options = { prefix: newPrefix(), schema: HOURS, limits: [500], clock, deadlineMs: 10_000 }
    const [one, other] = [holder(options), holder({ ...options, port: proxy.port })]
    await other.store.ready()
    await other.take(1)
    for (const [index, calls] of [() => other.commit('h0', 10), () => other.cancel('h1')].entries()) {
      const { endsAt } = await one.hold(`h${index}`, 10)
      clock.advance(60_000)
      // The first call reads the record, the second one ends the hold.
      proxy.replyLatency(300)
      const sent = proxy.roundTrips()
      const call = calls()
      await vi.waitFor(() => expect(proxy.roundTrips()).toBeGreaterThan(sent), { timeout: 5_000, interval: 5 })
      await proxy.cutAfterNextRequest()
      proxy.replyLatency(0)
      expect(await call).toMatchObject({ outcome: ['expired', 'settled'][index] })
      const { ended, open } = await other.holds.sweep()
      expect(ended).toMatchObject([{ owner: 'u', costs: { tokens: 10 }, endsAt }])
      expect(open).toBe(0)
    }
    // What was taken at first.
    expect(await one.used()).toEqual([1])
  })

  it('a hold is rejected and nothing written if its index key holds another type', async () => {
    const prefix = newPrefix()
    const one = holder({ prefix, schema: SLOTS, limits: [500, 5] })
    const keys = new Keys(prefix, SLOTS)
    for (const key of [keys.holds, keys.holdsOf('u')]) {
      await redis.admin.set(key, 'something else')
      await expect(one.hold('h', 1, { slot: true })).rejects.toMatchObject({ code: 'damaged_row' })
      expect(await one.used()).toEqual([0, 0])
      await redis.admin.del(key)
    }
    expect(await one.hold('h', 1, { slot: true })).toMatchObject({ outcome: 'admitted' })
  })

  it('a hold whose row can’t be read is ended and not looked up again', async () => {
    const clock = manualClock()
    const prefix = newPrefix()
    const one = holder({ prefix, schema: SLOTS, limits: [500, 5], clock })
    const keys = new Keys(prefix, SLOTS)
    await one.hold('h', 10, { slot: true })
    await one.hold('i', 1)
    await redis.admin.set(keys.row(0, 'u'), 'not a row')
    await redis.admin.set(keys.recordPlace('u', 'i').key, 'not a record')
    await redis.admin.del(keys.recordPlace('u', 'h').key)
    await one.hold('j', 5).catch(() => undefined)
    clock.advance(60_000)
    await one.holds.sweep()
    expect(await redis.admin.exists(keys.holds, keys.holdsOf('u'))).toBe(0)
  })

  describe('holds under different policies', () => {
    const ALL = [HOURS, SLOTS, MONTHS, EVERYTHING]
    const limitsOf = ({ layers }: typeof HOURS) =>
      layers[0]!.cells.map(({ kind }) => (kind === 'concurrency' ? 3 : 100))
    const pairs = ALL.flatMap((a) => ALL.filter((b) => b !== a).map((b) => [a, b] as const))

    it('a hold is given back to every row and limit, whichever process settles or ends it', async () => {
      for (const [mine, theirs] of pairs) {
        const clock = manualClock()
        const prefix = newPrefix()
        const [one, other] = [mine, theirs].map((schema) => holder({ prefix, schema, limits: limitsOf(schema), clock }))
        const used = async (): Promise<number[]> => [...(await one!.used()), ...(await other!.used())]
        const free = (await used()).map(() => 0)
        const slot = mine === SLOTS || mine === EVERYTHING
        for (const end of ['commit', 'cancel', 'sweep', 'late'] as const) {
          await other!.take(1)
          await one!.hold(end, 10, { slot })
          expect(await other!.grow(end, 5)).toMatchObject({ outcome: 'held' })
          const [hour] = await one!.used()
          expect(hour).toBe(16)
          if (end === 'commit') expect(await other!.commit(end, 0)).toMatchObject({ charged: 0 })
          if (end === 'cancel') await other!.cancel(end)
          if (end === 'sweep' || end === 'late') clock.advance(60_000)
          if (end === 'sweep') expect((await other!.holds.sweep()).ended).toHaveLength(1)
          if (end === 'late') expect(await other!.commit(end, 15)).toMatchObject({ outcome: 'expired' })
          const after = await used()
          await other!.counters.reset({ subject: 'u', limits: theirs.sets[0]! })
          await one!.counters.reset({ subject: 'u', limits: mine.sets[0]! })
          // What the other one took is still there, in the limits that it knows.
          expect(Math.max(...after)).toBe(1)
          expect(await used()).toEqual(free)
        }
      }
    })

    it('a hold keeps its slots while it is open, whichever process writes the row meanwhile', async () => {
      const clock = manualClock()
      const prefix = newPrefix()
      const one = holder({ prefix, schema: SLOTS, limits: [100, 1], clock })
      const other = holder({ prefix, schema: MONTHS, limits: [100, 100], clock })
      await one.hold('h', 1, { slot: true, ttlMs: 30 * 86_400_000 })
      for (let day = 0; day < 20; day++) {
        clock.advance(86_400_000)
        await other.take(1)
        expect(await one.hold(`no ${day}`, 1, { slot: true })).toMatchObject({ outcome: 'refused' })
      }
      await other.cancel('h')
      expect(await one.hold('next', 1, { slot: true })).toMatchObject({ outcome: 'admitted' })
    })
  })

  it(`at most 3 slots are ever taken in ${SCHEDULES} random schedules with crashes`, {
    timeout: 120_000 + SCHEDULES * 100,
  }, async () => {
    const move = fc.tuple(
      fc.constantFrom('hold', 'hold', 'extend', 'commit', 'crash', 'sweep', 'turn', 'reset'),
      fc.nat(2),
      fc.nat(3),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(move, { minLength: 6, maxLength: 25 }), async (moves) => {
        const clock = manualClock()
        const prefix = newPrefix()
        const parties = Array.from(
          { length: 3 },
          () => new Holder({ port: redis.port, prefix, schema: SLOTS, limits: [1_000, 3], clock }),
        )
        // Who works: until it is settled, or the end of which its holder knows.
        const working = new Map<string, number>()
        const names: string[][] = [[], [], []]
        try {
          for (const [index, [what, who, n]] of moves.entries()) {
            const party = parties[who]!
            const name = names[who]![n % Math.max(1, names[who]!.length)] ?? 'none'
            if (what === 'hold') {
              const { outcome, endsAt } = await party.hold(`h${index}`, 1, { slot: true, ttlMs: 1_000 * (n + 1) })
              if (outcome === 'admitted') working.set(`h${index}`, endsAt!)
              if (outcome === 'admitted') names[who]!.push(`h${index}`)
            }
            if (what === 'extend') {
              const { outcome, endsAt } = await party.extend(name, 3_000)
              if (outcome === 'held') working.set(name, endsAt!)
            }
            if (what === 'commit') {
              await party.commit(name)
              working.delete(name)
            }
            // Nobody settles what a crashed process had; its work stopped with it, or goes on until the end.
            if (what === 'crash') names[who] = []
            if (what === 'sweep') await party.holds.sweep()
            if (what === 'turn') clock.advance([1, 500, 1_000, 2_500][n]!)
            if (what === 'reset') await party.counters.reset({ subject: 'u', limits: SLOTS.sets[0]! })
            for (const [id, endsAt] of working) if (clock.now() >= endsAt) working.delete(id)
            expect(working.size).toBeLessThanOrEqual(3)
            const [, slots] = await party.used()
            expect(slots).toBeGreaterThanOrEqual(working.size)
            expect(slots).toBeLessThanOrEqual(3)
          }
          clock.advance(10_000)
          await parties[0]!.holds.sweep()
          expect((await parties[0]!.used())[1]).toBe(0)
        } finally {
          await Promise.all(parties.map((party) => party.close()))
        }
      }),
      { numRuns: SCHEDULES },
    )
  })
})
