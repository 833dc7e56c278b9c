import { postgresTests } from '@scoregw/postgres-server'
import type { Clock } from '@scoregw/quota'
import { isNotDone } from '@scoregw/quota/store'
import { manualClock } from '@scoregw/quota-testkit'
import { describe, expect, it } from 'vitest'
import { type PostgresStore, postgresStore } from '../src/index.ts'
import { idOf, ONE, SCHEMA, take, used } from './support/counting.ts'
import { type CuttingProxy, startCuttingProxy } from './support/cutting-proxy.ts'
import { TestDatabase } from './support/database.ts'
import { poolOf } from './support/pool.ts'

const deep = process.env.QUOTA_TEST_DEEP === '1'
/** About at how many points the line is cut. */
const POINTS = 25
/** In the answer to a commit. */
const COMMITTED = 'COMMIT\0'
/** By so many bytes one try may differ from the other. */
const DIGITS = 3
/** Longer than an answer takes on a busy machine. */
const DEADLINE_MS = 600

describe.runIf(postgresTests)('connections cut at every point of a transaction', () => {
  const database = new TestDatabase()

  async function through<T>(
    work: (proxy: CuttingProxy, store: PostgresStore) => Promise<T>,
    testClock?: Clock,
    deadlineMs = 5_000,
  ): Promise<T> {
    const proxy = await startCuttingProxy(database.server.port)
    const url = new URL(database.url)
    url.port = String(proxy.port)
    const pool = poolOf(url.href, { max: 1 })
    const store = postgresStore({ pool, deadlineMs, testClock })
    try {
      return await work(proxy, store)
    } finally {
      await store.close()
      await pool.end()
      await proxy.stop()
    }
  }

  for (const isUnderIds of [true, false]) {
    it(
      `a take ${isUnderIds ? 'under ids is charged completely and once' : 'without ids is charged completely and at most once'}, wherever it is cut`,
      { timeout: 600_000 },
      () =>
        through(async (proxy, store) => {
          const counters = store.open(SCHEMA)
          const subject = `u ${isUnderIds}`
          let tries = 0
          const once = () => {
            tries++
            return take(counters, subject, isUnderIds ? idOf(`try ${tries}`) : undefined)
          }
          let charged = 0
          let lost = 0
          const orLost = async (): Promise<string> => {
            try {
              const { outcome } = await once()
              charged++
              return outcome
            } catch (error) {
              if (isUnderIds || isNotDone(error)) throw error
              return 'in doubt'
            }
          }
          await cutEverywhere(proxy, orLost, isUnderIds ? COMMITTED : '', async (outcome, when) => {
            const [own, shared] = await used(counters, subject)
            if (outcome === 'in doubt') {
              lost++
              expect([charged, charged + 1], when).toContain(own)
              charged = own
            } else expect([outcome, own], when).toEqual(['admitted', charged])
            // Every row or none.
            expect(shared).toBe((await used(counters, 'u true'))[0] + (await used(counters, 'u false'))[0])
          })
          expect(tries).toBeGreaterThan(10)
          expect(lost > 0).toBe(!isUnderIds)
        }),
    )
  }

  it('a take whose answer was lost reports the window that it was charged to, even if that has ended', () => {
    const clock = manualClock()
    const chargedAt = clock.now()
    return through(async (proxy, store) => {
      const counters = store.open(SCHEMA)
      // The other row is everybody's, on the server's clock.
      const quotas = { layers: [0], limits: [1e9, 1e9] }
      const own = (subject: string) => {
        const id = { ...idOf(subject), ttlMs: 3 * 3_600_000 }
        return counters.take({ subject, set: 0, quotas, costs: ONE, id })
      }
      await own('first')
      proxy.loseAnswer(COMMITTED, () => clock.advance(2 * 3_600_000))
      const { outcome, now, states } = await own('lost')
      expect([outcome, now]).toEqual(['admitted', clock.now()])
      expect(states.slice(0, 2)).toEqual([chargedAt, 1])
      // The next window is as it was.
      expect((await counters.read({ subject: 'lost', set: 0, layers: [0] })).states.slice(0, 2)).toEqual([-1, 0])
    }, clock)
  })

  it('a take under an id whose answer was lost stays in doubt while the server is away', () =>
    through(
      async (proxy, store) => {
        const counters = store.open(SCHEMA)
        await take(counters, 'away')
        proxy.loseAnswer(COMMITTED, () => proxy.silence(true))
        const error: unknown = await take(counters, 'away', idOf('away')).then(undefined, (failed: unknown) => failed)
        proxy.silence(false)
        expect(error).toMatchObject({ code: 'store_error' })
        expect(isNotDone(error)).toBe(false)
        await expect.poll(() => used(counters, 'away').catch(() => [])).toMatchObject({ 0: 2 })
      },
      undefined,
      DEADLINE_MS,
    ))

  it('a take under an id whose answer was lost stays in doubt when a read-only server refuses it', () =>
    through(async (proxy, store) => {
      const counters = store.open(SCHEMA)
      await take(counters, 'read only')
      const admin = await database.pool().connect()
      const sessions = `alter database ${new URL(database.url).pathname.slice(1)}`
      // Of sessions that begin from now on.
      await admin.query(`${sessions} set default_transaction_read_only = on`)
      proxy.loseAnswer(COMMITTED)
      const taken = take(counters, 'read only', idOf('read only'))
      const error: unknown = await taken.then(undefined, (failed: unknown) => failed)
      await admin.query(`${sessions} reset default_transaction_read_only`)
      admin.release()
      expect(error).toMatchObject({ code: 'store_error', message: expect.stringContaining('read-only') as string })
      expect(isNotDone(error)).toBe(false)
      expect((await used(counters, 'read only'))[0]).toBe(2)
    }))

  it('a take that is answered after its deadline is given back', () =>
    through(
      async (proxy, store) => {
        const counters = store.open(SCHEMA)
        for (const _ of [1, 2]) await take(counters, 'late')
        const admin = database.pool()
        const version = async (): Promise<unknown> =>
          (await admin.query("select xmin from quota_rows where key = 'personal:late'")).rows[0]
        const before = await version()
        // The answer takes as long again.
        proxy.latency(DEADLINE_MS)
        const error: unknown = await take(counters, 'late').then(undefined, (failed: unknown) => failed)
        expect(isNotDone(error)).toBe(false)
        proxy.latency(0)
        await expect.poll(version).not.toEqual(before)
        await expect.poll(() => used(counters, 'late').catch(() => [])).toMatchObject({ 0: 2 })
      },
      undefined,
      DEADLINE_MS,
    ))

  it('a take whose connection is cut while it waits for a row is in doubt, and isn’t executed much later', () =>
    through(async (proxy, store) => {
      const counters = store.open(SCHEMA)
      for (const _ of [1, 2]) await take(counters, 'waits')
      const admin = database.pool()
      const holder = await admin.connect()
      await holder.query("begin; select * from quota_rows where key = 'personal:waits' for update")
      const waiting = async (): Promise<number | null> => {
        const where = "datname = current_database() and wait_event_type = 'Lock'"
        return (await admin.query(`select 1 from pg_stat_activity where ${where}`)).rowCount
      }
      const taken = take(counters, 'waits')
      await expect.poll(waiting).toBe(1)
      const failed = taken.then(undefined, (error: unknown) => error)
      proxy.silence(false)
      expect(isNotDone(await failed)).toBe(false)
      // It gives up on the lock by itself.
      await expect.poll(waiting).toBe(0)
      await holder.query('commit')
      holder.release()
      expect((await used(counters, 'waits'))[0]).toBe(2)
    }))

  it('a growth of a hold cut at any point happens at most once', { timeout: 600_000 }, () =>
    through(async (proxy, store) => {
      const counters = store.open(SCHEMA)
      const hold = { subject: 'holder', set: 0, id: idOf('hold') }
      const quotas = { layers: [0, 1], limits: [1e9, 1e9] }
      // As many digits from the beginning to the end, so that every growth sends as many bytes.
      let tokens = 1_000
      let [lost, isLost] = [0, false]
      await counters.take({ ...hold, quotas, costs: [tokens, 0], hold: { ttlMs: 600_000, maxHolds: 10 } })
      const grown = async (): Promise<void> => {
        isLost = false
        try {
          const { outcome } = await counters.holds.grow({ ...hold, quotas, costs: [2, 0] })
          expect(outcome).toBe('held')
          tokens += 2
        } catch (error) {
          expect(isNotDone(error)).toBe(false)
          isLost = true
        }
      }
      await cutEverywhere(proxy, grown, COMMITTED, async (_, when) => {
        const [own] = await used(counters, 'holder')
        if (isLost) lost++
        expect(isLost ? [tokens, tokens + 2] : [tokens], when).toContain(own)
        tokens = own
      })
      expect(lost).toBeGreaterThan(0)
      const [open] = (await counters.holds.list({ subject: 'holder' })).holds
      expect(open?.costs).toEqual({ tokens })
      await counters.holds.settle({ ...hold, as: 'cancelled', overrun: 'refuse', maxOverrun: [0], quotas })
      expect((await used(counters, 'holder'))[0]).toBe(0)
    }),
  )
})

/**
 * Does something with the line cut at every point of it, from the end on: the last byte is that of the commit. Before each cut
 * it is done once without, so that the connection has planned what it needs and sends as many bytes each time, but for a
 * digit of a number that grows.
 *
 * @param committed what the answer has that says that it was done
 */
async function cutEverywhere<T>(
  proxy: CuttingProxy,
  work: () => PromiseLike<T>,
  committed: string,
  check: (answer: T, when: string) => Promise<void>,
): Promise<void> {
  for (let times = 0; times < 3; times++) await work()
  const before = proxy.sent()
  await work()
  const bytes = proxy.sent() - before
  for (let times = 0; times < (deep ? 200 : 10); times++) {
    await check(await work(), 'before an answer is lost')
    proxy.loseAnswer(committed)
    await check(await work(), 'an answer is lost')
  }
  const step = deep ? 1 : Math.ceil(bytes / POINTS)
  for (let at = bytes + DIGITS; at >= 0; at -= at > bytes - DIGITS ? 1 : step) {
    await check(await work(), 'before a cut')
    proxy.cutAfter(at)
    await check(await work(), `cut after ${at} of ${bytes} bytes`)
  }
}
