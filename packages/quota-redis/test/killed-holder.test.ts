import { once } from 'node:events'
import { manualClock } from '@scoregw/quota-testkit'
import { describe, expect, it, vi } from 'vitest'
import { redisStore } from '../src/index.ts'
import { leasedRedisStore } from '../src/leases.ts'
import { newPrefix } from './store-harness.ts'
import { useCleanups, useRedis } from './support/cleanups.ts'
import { linesOf, runProgram } from './support/program.ts'
import { redisTests } from './support/redis-server.ts'
import { unitsEngine } from './support/units.ts'

const TTL_MS = 30_000
const COST = [1, 10, 200]
const NOTHING = [0, 0, 0]

const { later } = useCleanups()

describe.runIf(redisTests)('the units of a killed holder', () => {
  const redis = useRedis()

  it.each([
    ['exact', redisStore],
    ['leased', leasedRedisStore],
  ] as const)(
    'every unit of a killed holder is given back when its hold ends, %s store',
    { timeout: 60_000 },
    async (kind, open) => {
      const [prefix, clock] = [newPrefix(), manualClock()]
      const { quota, store, used } = unitsEngine(open, redis.port, prefix, clock)
      later(() => quota.close())
      await store.ready()
      const ended: unknown[] = []
      quota.on('holdEnded', ({ cost }) => ended.push(cost))

      const args = [redis.port, JSON.stringify(prefix), clock.now(), TTL_MS, kind === 'leased'].join(', ')
      const code = `import { holdUnitsAndWait } from './test/support/units.ts'; await holdUnitsAndWait(${args})`
      const child = runProgram(code, { stdio: ['ignore', 'pipe', 'inherit'] })
      later(() => child.kill('SIGKILL'))
      expect((await linesOf(child).next()).value).toBe(String(clock.now() + TTL_MS))
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone

      // What a killed process had leased ahead stays charged with the rest.
      const ahead = ((await used('all')) ?? []).map((amount, unit) => amount - COST[unit]!)
      if (kind === 'exact') expect(ahead).toEqual(NOTHING)
      clock.advance(TTL_MS - 1)
      await quota.holds.sweep()
      const held = ahead.map((amount, unit) => amount + COST[unit]!)
      expect([await used('user'), await used('all'), ended]).toEqual([COST, held, []])
      clock.advance(1)
      await quota.holds.sweep()
      expect([await used('user'), ended]).toEqual([NOTHING, [{ requests: 1, tokens: 10, money: 200 }]])
      // A leased layer gets it back by a call of its own.
      await vi.waitFor(async () => expect(await used('all')).toEqual(ahead), { timeout: 15_000, interval: 5 })
    },
  )
})
