import {
  type MinuteOutcomes,
  memoryOutcomes,
  OUTCOME_COLUMNS,
  OUTCOMES_KEPT_MINUTES,
  outcomeRecorder,
} from '@scoregw/quota/adaptive'
import fc from 'fast-check'
import { Redis } from 'ioredis'
import { describe, expect, it, vi } from 'vitest'
import { type RedisOutcomes, redisOutcomes } from '../src/index.ts'
import { useCleanups } from './support/cleanups.ts'
import { redisTests } from './support/redis-server.ts'

const { later, server, proxy: startProxy } = useCleanups()

/** 2026-08-06T14:00Z, in minutes; the server's own clock says something else. */
const MINUTE = Date.UTC(2026, 7, 6, 14) / 60_000

function store(port: number, prefix = 'quota'): RedisOutcomes {
  const opened = redisOutcomes({ client: new Redis({ port, lazyConnect: true }), prefix })
  later(() => opened.close())
  return opened
}

function counts(minute: number, some: Partial<MinuteOutcomes>): MinuteOutcomes {
  const none = Object.fromEntries(OUTCOME_COLUMNS.map((column) => [column, 0]))
  return { ...(none as unknown as MinuteOutcomes), minute, ...some }
}

const someCounts = fc.record({
  minute: fc.integer({ min: MINUTE - 90, max: MINUTE + 90 }),
  ...(Object.fromEntries(OUTCOME_COLUMNS.map((column) => [column, fc.nat(5)])) as Record<
    (typeof OUTCOME_COLUMNS)[number],
    fc.Arbitrary<number>
  >),
})

describe.runIf(redisTests)('outcomes in Redis', () => {
  it('outcomes from several processes add up', async () => {
    const redis = await server()
    const [one, two] = [store(redis.port), store(redis.port)]
    await Promise.all([
      one.add([counts(MINUTE, { calls: 3, serverError: 1 }), counts(MINUTE + 31, { calls: 1 })]),
      two.add([counts(MINUTE, { calls: 4, codeZero: 2 }), counts(MINUTE - 1, { calls: 1 })]),
    ])
    expect(await one.read(MINUTE, MINUTE + 32)).toEqual([
      counts(MINUTE, { calls: 7, serverError: 1, codeZero: 2 }),
      counts(MINUTE + 31, { calls: 1 }),
    ])
    expect(await store(redis.port, 'other').read(MINUTE, MINUTE + 32)).toEqual([])
  })

  it('random adds and reads of outcomes get the memory store’s answers', async () => {
    const redis = await server()
    let run = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(someCounts, { maxLength: 8 }), { maxLength: 5 }),
        fc.integer({ min: MINUTE - 100, max: MINUTE + 100 }),
        fc.integer({ min: MINUTE - 100, max: MINUTE + 100 }),
        async (batches, from, to) => {
          const memory = memoryOutcomes()
          const own = redisOutcomes({ client: new Redis({ port: redis.port, lazyConnect: true }), prefix: `r${run++}` })
          try {
            for (const batch of batches) {
              memory.add(batch)
              await own.add(batch)
            }
            const counted = ({
              calls,
              codeZero,
              clientError,
              serverError,
              businessFail,
              refused,
              quotaUnavailable,
            }: MinuteOutcomes) =>
              calls + codeZero + clientError + serverError + businessFail + refused + quotaUnavailable > 0
            expect(await own.read(from, to)).toEqual(memory.read(from, to).filter(counted))
          } finally {
            own.close()
          }
        },
      ),
      { numRuns: 100 },
    )
  })

  it('each half-hour of outcomes is kept for 8 days after its last change', async () => {
    const redis = await server()
    const one = store(redis.port)
    await one.add([counts(60, { calls: 1 }), counts(MINUTE, { calls: 1 })])
    const keys = (await redis.cli('KEYS', '*')) as string[]
    expect(keys.sort()).toEqual(['{quota}:outcomes:2', `{quota}:outcomes:${MINUTE / 30}`])
    for (const key of keys) {
      const left = Number(await redis.cli('PTTL', key))
      expect(left).toBeGreaterThan(OUTCOMES_KEPT_MINUTES * 60_000)
      expect(left).toBeLessThanOrEqual((OUTCOMES_KEPT_MINUTES + 30) * 60_000)
    }
  })

  it('8 days of busy minutes are read in a few round trips', async () => {
    const redis = await server()
    const proxy = await startProxy(redis.port)
    const one = store(proxy.port)
    const first = MINUTE - OUTCOMES_KEPT_MINUTES
    const all = Array.from({ length: OUTCOMES_KEPT_MINUTES }, (_, index) =>
      counts(first + index, { calls: 9, clientError: 3, serverError: 2, businessFail: 1, refused: 1 }),
    )
    await one.add(all)
    proxy.latency(20)
    const before = proxy.roundTrips()
    expect(await one.read(first, MINUTE)).toEqual(all)
    // One for each half-hour would be 384.
    expect(proxy.roundTrips() - before).toBeLessThan(50)
  })

  it('outcomes are added completely or not at all when the server is out of memory', async () => {
    const redis = await server()
    const one = store(redis.port)
    await one.add([counts(MINUTE, { calls: 1 })])
    await redis.cli('CONFIG', 'SET', 'maxmemory', '1')
    await expect(one.add([counts(MINUTE, { calls: 1 }), counts(MINUTE + 40, { calls: 1 })])).rejects.toThrow(/OOM/)
    expect(await one.read(MINUTE, MINUTE + 60)).toEqual([counts(MINUTE, { calls: 1 })])
  })

  it('a recorder catches up when the server is back', async () => {
    const redis = await server({ aof: true })
    const one = store(redis.port)
    const clock = { now: () => MINUTE * 60_000 }
    const recorder = outcomeRecorder({ store: one, clock, flushAfterMs: 20 })
    recorder.record({ httpStatus: 500 })
    await recorder.flush()
    await redis.kill()
    recorder.record({ httpStatus: 200 })
    await expect(recorder.flush()).rejects.toThrow()
    await redis.restart()
    await vi.waitFor(
      async () => expect(await one.read(MINUTE, MINUTE + 1)).toEqual([counts(MINUTE, { calls: 2, serverError: 1 })]),
      { timeout: 15_000 },
    )
    await recorder.close()
  })

  it('outcomes ignore fields of other versions and reject invalid options', async () => {
    const redis = await server()
    const one = store(redis.port)
    await one.add([counts(MINUTE, { calls: 1 })])
    await redis.cli('HINCRBY', `{quota}:outcomes:${MINUTE / 30}`, `${MINUTE}:somethingNew`, '7')
    expect(await one.read(MINUTE, MINUTE + 1)).toEqual([counts(MINUTE, { calls: 1 })])
    expect(() => store(redis.port, '{')).toThrow(expect.objectContaining({ code: 'invalid_options' }))
  })
})
