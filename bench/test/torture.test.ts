import { readFileSync } from 'node:fs'
import type { RedisStore } from '@scoregw/quota-redis'
import { manualClock } from '@scoregw/quota-testkit'
import { TORTURE_CASES, torture } from '@scoregw/quota-testkit/torture'
import { redisTests, startRedis } from '@scoregw/redis-server'
import { slowTests } from '@scoregw/server-kit'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { MEMORY, ON_REDIS } from '../src/torture/contestants.ts'
import { NOT_PROMISED } from '../src/torture/not-promised.ts'
import { oursInMemory, oursOnRedis } from '../src/torture/ours.ts'
import { PAGE, pageOf, tortureResults } from '../src/torture/page.ts'

const kept = (name: string) => ({ case: name, verdict: 'kept' })

describe.runIf(slowTests)('the torture suite on this library', () => {
  it.each(TORTURE_CASES)('this library in memory keeps: %s', async (name) => {
    const clock = manualClock()
    const limiter = oursInMemory(async (ms) => clock.advance(ms), clock)
    expect(await torture(limiter, { only: [name], subjects: 100_000 })).toEqual([kept(name)])
  })

  describe.runIf(redisTests)('this library on Redis', () => {
    let server: Awaited<ReturnType<typeof startRedis>>
    let client: Redis
    const opened: RedisStore[] = []
    beforeAll(async () => {
      server = await startRedis()
      client = new Redis({ port: server.port })
    })
    afterAll(async () => {
      await Promise.all(opened.map((store) => store.close()))
      client.disconnect()
      await server.stop()
    })

    // A server's clock expires keys and a timer expires holds, and a test can turn neither.
    const byThemselves = ['subjects whose windows have ended are forgotten', "a killed caller's reservation comes back"]
    const cases = TORTURE_CASES.filter((name) => !byThemselves.includes(name))
    it.each(cases)('this library on Redis keeps: %s', async (name) => {
      const clock = manualClock()
      const limiter = oursOnRedis(client, { advance: async (ms) => clock.advance(ms), testClock: clock, opened })
      expect(await torture(limiter, { only: [name], subjects: 5_000 })).toEqual([kept(name)])
    })
  })
})

describe('the page of the torture suite', () => {
  const results = tortureResults()

  test('the page shows the committed results (npm run torture -- --page)', () => {
    expect(readFileSync(PAGE, 'utf8')).toBe(pageOf(results))
  })

  test('the page has every limiter and every case', () => {
    expect(results.map(({ name }) => name)).toEqual([...MEMORY, ...ON_REDIS].map(({ name }) => name))
    for (const { findings } of results) expect(findings.map((finding) => finding.case)).toEqual(TORTURE_CASES)
  })

  test('the page has a note for each broken case and for no other', () => {
    const broken = results.flatMap(({ versions, findings }) =>
      findings
        .filter(({ verdict }) => verdict === 'broken')
        .map((finding) => `${Object.keys(versions)[0]}: ${finding.case}`),
    )
    const noted = Object.entries(NOT_PROMISED).flatMap(([name, notes]) =>
      Object.keys(notes).map((each) => `${name}: ${each}`),
    )
    expect(noted.filter((each) => !broken.includes(each))).toEqual([])
  })

  test('this library breaks no case', () => {
    const ours = results.filter(({ name }) => name.startsWith('@scoregw/'))
    expect(ours.flatMap(({ findings }) => findings).filter(({ verdict }) => verdict === 'broken')).toEqual([])
  })
})
