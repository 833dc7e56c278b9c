import { type PostgresServer, postgresTests } from '@scoregw/postgres-server'
import { redisTests } from '@scoregw/redis-server'
import { slowTests } from '@scoregw/server-kit'
import { describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, type Answer, sender, tempDir, USER_TOKEN } from './support/gateway.ts'
import { postgresServer } from './support/postgres.ts'
import { type Child, runGateway } from './support/process.ts'
import { redisServer } from './support/redis.ts'

const TOKENS = { DEMO_USER_TOKEN: USER_TOKEN, DEMO_ADMIN_TOKEN: ADMIN_TOKEN }
const PLENTY = { '1h': 10 ** 9, '5h': 10 ** 9, '1d': 10 ** 9 }
const UNLIMITED = { overrides: { read: PLENTY, write: PLENTY }, bypassSite: true }
/** Charts of the sample table that a score of 1 to 1,000 fits. */
const CHARTS = [
  { musicId: 102, level: 3 },
  { musicId: 10_104, level: 2 },
  { musicId: 10_106, level: 3 },
] as const

/** Writes of one player, and how many of them wait for its row at once: none for as long as a request may wait for a lock. */
const WRITES = 60
const AT_ONCE = 12

type Chart = (typeof CHARTS)[number]
type Send = ReturnType<typeof sender>

interface Pair {
  readonly postgres: PostgresServer
  readonly databaseUrl: string
  readonly children: readonly (Child & { baseUrl: string })[]
  readonly senders: readonly [Send, Send]
  /** Starts one more. */
  start(): Promise<Child & { baseUrl: string }>
}

/** Two processes that start at once on an empty database. */
async function pair(): Promise<Pair> {
  const [postgres, redis] = await Promise.all([postgresServer({ durable: true }), redisServer()])
  const databaseUrl = await postgres.createDatabase()
  const env = { ...TOKENS, DATABASE_URL: databaseUrl, REDIS_URL: redis.url }
  const start = (): ReturnType<typeof runGateway> => runGateway(tempDir(), env)
  const children = await Promise.all([start(), start()])
  const senders = children.map(({ baseUrl }) => sender(baseUrl)) as [Send, Send]
  return { postgres, databaseUrl, children, senders, start }
}

async function freed(senders: readonly [Send, Send]): Promise<void> {
  await senders[0]('PUT', '/admin/users/demo/quota', { token: ADMIN_TOKEN, body: UNLIMITED })
  const limit = async (): Promise<number> => (await senders[1]('GET', '/me/quota')).body.windows.write[0].limit
  await expect.poll(limit, { interval: 20 }).toBe(10 ** 9)
}

const upsert = (send: Send, charts: readonly Chart[], dxScore: number): Promise<Answer> => {
  const musicList = charts.map((chart) => ({ ...chart, achievement: 90, dxScore }))
  return send('POST', '/v1/music/upsert', { body: { musicList } })
}

async function stored(send: Send): Promise<Map<string, number>> {
  const { body } = await send('POST', '/v1/user/music')
  const list: { musicId: number; level: number; dxScore: number }[] = body.businessData.userMusicDetailList
  return new Map(list.map(({ musicId, level, dxScore }) => [`${musicId}:${level}`, dxScore]))
}

/** The answers to all writes make one sequence: nothing is created twice, or deleted twice, in a row. */
async function writesMakeOneSequence(senders: readonly [Send, Send]): Promise<void> {
  const work = (index: number): Promise<Answer> => {
    const send = senders[index % 2] as Send
    if (index % 3 !== 2) return upsert(send, CHARTS, 1 + Math.floor(index / 2))
    return send('POST', '/v1/music/delete', { body: { musicList: CHARTS } })
  }
  let [created, deleted] = [0, 0]
  const answers: Answer[] = []
  while (answers.length < WRITES) {
    const wave = Array.from({ length: AT_ONCE }, (_, index) => work(answers.length + index))
    answers.push(...(await Promise.all(wave)))
  }
  for (const { status, body } of answers) {
    expect([200, 404]).toContain(status)
    if (status === 404) continue
    // All entries of a request happen at one instant: all were there, or none.
    const { results, deletedMusicCount } = body.businessData
    const statuses = new Set(results.map((result: { status: string }) => result.status))
    expect(statuses.size).toBe(1)
    if (deletedMusicCount !== undefined) deleted++
    else if (statuses.has('created')) created++
  }
  const [left, seenThere] = await Promise.all(senders.map(stored))
  const isThere = left?.has('102:3') === true
  expect([created - deleted, deleted > 0]).toEqual([isThere ? 1 : 0, true])
  expect(left?.size).toBe(isThere ? 6 : 3)
  for (const { musicId, level } of CHARTS) expect(left?.get(`${musicId}:${level}`)).toBe(left?.get('102:3'))
  expect(seenThere).toEqual(left)
}

async function everyCreditIsSpentOnce(senders: readonly [Send, Send]): Promise<void> {
  await senders[0]('POST', '/admin/users/demo/balance', { token: ADMIN_TOKEN, body: { add: 2 } })
  const charging = Array.from({ length: 16 }, (_, index) =>
    (senders[index % 2] as Send)('POST', '/v1/charge', { body: { chargeId: 2 } }),
  )
  const charges = await Promise.all(charging)
  expect(charges.map(({ status }) => status).sort()).toEqual([...Array(12).fill(200), ...Array(4).fill(403)])
  const balances: number[] = charges.flatMap(({ body }) => body.businessData?.balance ?? [])
  expect(balances.sort((a, b) => a - b)).toEqual(Array.from({ length: 12 }, (_, index) => index))
  expect((await senders[1]('POST', '/v1/user/charge')).body.businessData.length).toBe(12)
}

async function oneOfThoseWhoChangeAVersionDoes(senders: readonly [Send, Send]): Promise<void> {
  const { version, ...document } = (await senders[0]('GET', '/admin/quota/settings', { token: ADMIN_TOKEN })).body
  const headers = { 'If-Match': `"${version}"` }
  const puts = [1.1, 1.2, 1.3, 1.4, 1.5, 1.6].map((multiplier, index) => {
    const body = { ...document, site: { enabled: true, multiplier } }
    return (senders[index % 2] as Send)('PUT', '/admin/quota/settings', { token: ADMIN_TOKEN, headers, body })
  })
  expect((await Promise.all(puts)).map(({ status }) => status).sort()).toEqual([200, ...Array(5).fill(412)])
}

/** Each process writes a chart of its own, one score after the other, until the first is killed. */
async function killLosesNothing({ children: [victim], senders, start }: Pair): Promise<void> {
  const acknowledged: [number, number] = [0, 0]
  const sent: [number, number] = [0, 0]
  let isOver = false
  const write = async (index: 0 | 1): Promise<void> => {
    while (!isOver) {
      const dxScore = ++sent[index]
      const answer = await upsert(senders[index], [CHARTS[index]], dxScore).catch(() => undefined)
      if (answer === undefined) return
      expect(answer.status).toBe(200)
      acknowledged[index] = dxScore
      if (index === 0 && dxScore === 25) victim?.process.kill('SIGKILL')
    }
  }
  const living = write(1)
  await write(0)
  isOver = true
  await living
  expect(await victim?.ended()).toEqual({ code: null, signal: 'SIGKILL' })
  const [left, seenByNext] = await Promise.all([senders[1], sender((await start()).baseUrl)].map(stored))
  expect(seenByNext).toEqual(left)
  for (const index of [0, 1] as const) {
    const { musicId, level } = CHARTS[index]
    expect(left?.get(`${musicId}:${level}`)).toBeGreaterThanOrEqual(acknowledged[index])
    expect(left?.get(`${musicId}:${level}`)).toBeLessThanOrEqual(sent[index])
  }
  expect(acknowledged[0]).toBeGreaterThanOrEqual(25)
}

describe.runIf(postgresTests && redisTests && slowTests)('two gateways on one PostgreSQL and one Redis', () => {
  it('two gateways start together on an empty database, lose no update, and keep acknowledged data after a kill', async () => {
    const both = await pair()
    const { postgres, databaseUrl, senders } = both
    const counted = 'select count(*)::int as n, count(distinct name)::int as names from kysely_migration'
    const [migrations] = await postgres.sql(counted, databaseUrl)
    expect(migrations?.n).toBe(migrations?.names)
    // The demo's own, once.
    expect([...(await stored(senders[1])).values()]).toEqual([1544, 1995, 1180])
    await freed(senders)
    await writesMakeOneSequence(senders)
    await everyCreditIsSpentOnce(senders)
    await oneOfThoseWhoChangeAVersionDoes(senders)
    await killLosesNothing(both)
  })
})
