import { setTimeout } from 'node:timers/promises'
import { postgresTests } from '@scoregw/postgres-server'
import { redisTests } from '@scoregw/redis-server'
import { slowTests } from '@scoregw/server-kit'
import { Client } from 'pg'
import { describe, expect, it } from 'vitest'
import { type Answer, type TestGateway, testGateway } from './support/gateway.ts'
import { testDatabase } from './support/postgres.ts'
import { redisServer } from './support/redis.ts'
import { begun, chartStatements, scoresOf, type UploadCalls, uploadCalls } from './support/uploads.ts'

/** Two processes' worth of gateways on one database. */
async function pair(counters: Record<string, string>): Promise<[TestGateway, TestGateway]> {
  const { url } = await testDatabase()
  const env = { DATABASE_URL: url, ...counters }
  const first = await testGateway({ env })
  const client = new Client({ connectionString: env.DATABASE_URL })
  await client.connect()
  for (const statement of chartStatements(60)) await client.query(statement)
  await client.end()
  return [first, await testGateway({ env })]
}

/** As clients do: the same again where another call is in flight, or a store did not answer in time. */
async function sent(call: () => Promise<Answer>): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    const answer = await call()
    if (![409, 503].includes(answer.status) || tries === 20) return answer
    expect(Number(answer.headers.get('Retry-After'))).toBeGreaterThanOrEqual(1)
    // They wait that long; here other calls end meanwhile.
    await setTimeout(50)
  }
}

/** What one process began, the other one goes on with, and both end it: once. */
async function goesOn([first, second]: readonly [TestGateway, TestGateway]): Promise<void> {
  const [one, other] = [uploadCalls(first.send), uploadCalls(second.send)]
  const sessionId = await begun(one)
  const add = (calls: UploadCalls, from: number, count: number) =>
    sent(() => calls.add(sessionId, scoresOf(from, count)))
  expect((await add(one, 0, 20)).status).toBe(200)
  expect((await add(other, 20, 20)).body).toMatchObject({ businessData: { session: { tokensHeld: 30 } } })
  expect((await add(one, 40, 3)).body).toMatchObject({
    businessData: { session: { receivedMusicCount: 43, tokensHeld: 45 } },
  })
  expect(await other.stored()).toBe(0)
  const answers = await Promise.all([one, other, one, other].map((calls) => sent(() => calls.check(sessionId))))
  for (const { status, body } of answers) {
    expect([status, body.businessData]).toMatchObject([
      200,
      { status: 'done', uploadedMusicCount: 43, skippedMusicCount: 0, tokensCharged: 45 },
    ])
  }
  expect([await one.used(), await one.stored()]).toEqual([{ used: 45, held: 0 }, 43])
  // Parts that come at one time: one of them has to retry, and nothing is lost.
  const next = await begun(other)
  const parts = [one, other].map((calls, at) => sent(() => calls.add(next, scoresOf(10 * at, 10, 90))))
  for (const { status } of await Promise.all(parts)) expect(status).toBe(200)
  const { body } = await sent(() => one.check(next))
  expect(body.businessData).toMatchObject({ uploadedMusicCount: 20, tokensCharged: 15 })
  expect(await one.used()).toEqual({ used: 60, held: 0 })
}

describe.runIf(postgresTests && slowTests)('uploads in parts over several processes', () => {
  it('an upload continues in any process, with counters in PostgreSQL', async () => {
    await goesOn(await pair({}))
  })

  it.runIf(redisTests)('an upload continues in any process, with counters in Redis', async () => {
    const redis = await redisServer()
    await goesOn(await pair({ REDIS_URL: redis.url }))
  })
})
