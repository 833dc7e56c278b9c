import { once } from 'node:events'
import { manualClock } from '@scoregw/quota-testkit'
import { describe, expect, it } from 'vitest'
import { redisStore } from '../src/index.ts'
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

  it('every unit of a killed holder is given back when its hold ends', { timeout: 60_000 }, async () => {
    const [prefix, clock] = [newPrefix(), manualClock()]
    const { quota, store, used } = unitsEngine(redisStore, redis.port, prefix, clock)
    later(() => quota.close())
    await store.ready()
    const ended: unknown[] = []
    quota.on('holdEnded', ({ cost }) => ended.push(cost))

    const args = [redis.port, JSON.stringify(prefix), clock.now(), TTL_MS].join(', ')
    const code = `import { holdUnitsAndWait } from './test/support/units.ts'; await holdUnitsAndWait(${args})`
    const child = runProgram(code, { stdio: ['ignore', 'pipe', 'inherit'] })
    later(() => child.kill('SIGKILL'))
    expect((await linesOf(child).next()).value).toBe(String(clock.now() + TTL_MS))
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone

    clock.advance(TTL_MS - 1)
    await quota.holds.sweep()
    expect([await used('user'), await used('all'), ended]).toEqual([COST, COST, []])
    clock.advance(1)
    await quota.holds.sweep()
    expect([await used('user'), await used('all')]).toEqual([NOTHING, NOTHING])
    expect(ended).toEqual([{ requests: 1, tokens: 10, money: 200 }])
  })
})
