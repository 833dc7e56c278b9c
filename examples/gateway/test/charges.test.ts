import { join } from 'node:path'
import { postgresTests } from '@scoregw/postgres-server'
import { redisTests } from '@scoregw/redis-server'
import { slowTests, testSeed } from '@scoregw/server-kit'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { COUNTERS } from '../src/db/schema.ts'
import { policy } from '../src/quota/policy.ts'
import {
  ADMIN_TOKEN,
  type Answer,
  sender,
  type TestGateway,
  tempDir,
  testGateway,
  USER_TOKEN,
} from './support/gateway.ts'
import { testDatabase } from './support/postgres.ts'
import { runGateway } from './support/process.ts'
import { redisServer } from './support/redis.ts'

type Sender = Pick<TestGateway, 'send'>

const TOKENS = { DEMO_USER_TOKEN: USER_TOKEN, DEMO_ADMIN_TOKEN: ADMIN_TOKEN }

function buy({ send }: Sender, chargeId: number, key?: string): Promise<Answer> {
  return send('POST', '/v1/charge', {
    body: { chargeId },
    headers: key === undefined ? {} : { 'Idempotency-Key': key },
  })
}

/** Tokens that the demo's user has used in the day. */
async function usedIn({ send }: Sender): Promise<number> {
  const { windows } = (await send('GET', '/me/quota')).body
  return windows.write.find((each: { window: string }) => each.window === '1d').used
}

async function ticketsIn({ send }: Sender): Promise<number[]> {
  const { userChargeList } = (await send('POST', '/v1/user/charge')).body.businessData
  return userChargeList.map(({ chargeId }: { chargeId: number }) => chargeId)
}

async function setBalance({ send }: Sender, balance: number): Promise<void> {
  await send('POST', '/admin/users/demo/balance', { token: ADMIN_TOKEN, body: { set: balance } })
}

const isReplayed = ({ headers }: Answer): boolean => headers.get('Idempotency-Replayed') === 'true'

const countOf = (answers: readonly Answer[], is: (answer: Answer) => boolean): number => answers.filter(is).length

/** Where the counters are, and the variables of a gateway on an empty one. */
const PLACES: readonly (readonly [string, boolean, () => Promise<Record<string, string>>])[] = [
  ['SQLite', true, async () => ({})],
  ['PostgreSQL', postgresTests, async () => ({ DATABASE_URL: (await testDatabase()).url })],
  ['Redis', redisTests, async () => ({ REDIS_URL: (await redisServer()).url })],
]

describe.each(PLACES)('requests that are charged with their work, on %s', (_, runs, place) => {
  it.runIf(runs)('purchases are charged up to the limit, and a refused one changes nothing', async () => {
    const gateway = await testGateway({ env: await place() })
    expect((await buy(gateway, 5)).body.businessData).toEqual({ charge: 5, tokensCharged: 25, balance: 7 })
    expect((await buy(gateway, 5)).status).toBe(200)
    const refused = await buy(gateway, 3)
    expect(refused.status).toBe(429)
    expect(refused.body).toMatchObject({
      error: 'quota_exceeded',
      quota: { scope: 'Personal', category: 'write', window: '1h', limit: 60, used: 50, requested: 15 },
    })
    expect(refused.headers.get('Retry-After')).toBe(String(refused.body.retryAfterSeconds))
    expect(refused.headers.get('RateLimit')).toContain('r=10')
    const last = await buy(gateway, 2)
    expect(last.body.businessData).toEqual({ charge: 2, tokensCharged: 10, balance: 3 })
    expect(last.headers.get('RateLimit')).toContain('r=0')
    expect([await usedIn(gateway), await ticketsIn(gateway)]).toEqual([60, [2, 5, 5]])
  })

  it.runIf(runs)('work that fails after its charge costs nothing, and its response shows that', async () => {
    const gateway = await testGateway({ env: await place() })
    await setBalance(gateway, 2)
    const failed = await buy(gateway, 5)
    expect([failed.status, failed.body.error]).toEqual([403, 'insufficient_balance'])
    expect(failed.headers.get('RateLimit')).toContain('r=60')
    expect([await usedIn(gateway), await ticketsIn(gateway)]).toEqual([0, []])
  })

  it.runIf(runs)('concurrent purchases exceed neither the limit nor the balance', async () => {
    const gateway = await testGateway({ env: await place() })
    await setBalance(gateway, 5)
    const answers = await Promise.all(Array.from({ length: 20 }, () => buy(gateway, 2)))
    expect(answers.every(({ status }) => [200, 403, 429].includes(status))).toBe(true)
    expect(countOf(answers, ({ status }) => status === 200)).toBe(5)
    expect([await usedIn(gateway), await ticketsIn(gateway)]).toEqual([50, [2, 2, 2, 2, 2]])
  })

  it.runIf(runs)('twenty concurrent requests under one key are processed and charged once', async () => {
    const gateway = await testGateway({ env: await place() })
    const answers = await Promise.all(Array.from({ length: 20 }, () => buy(gateway, 2, 'one')))
    // With Redis, the others are charged before they find the reply, and get their tokens back.
    expect(answers.every(({ status }) => [200, 409, 429].includes(status))).toBe(true)
    expect(countOf(answers, (answer) => answer.status === 200 && !isReplayed(answer))).toBe(1)
    expect([await usedIn(gateway), await ticketsIn(gateway)]).toEqual([10, [2]])
    expect(isReplayed(await buy(gateway, 2, 'one'))).toBe(true)
  })
})

describe('counters that fail in the transaction of the work', () => {
  it.each([
    ['at all', `alter table ${COUNTERS}_rows rename to out_of_reach`],
    ['within it', `create trigger full before insert on ${COUNTERS}_rows begin select raise(abort, 'full'); end`],
  ])('a purchase whose counters can’t be charged %s gets 503, and nothing is stored', async (_, fault) => {
    const gateway = await testGateway()
    const { db } = gateway.gateway.app
    await sql.raw(fault).execute(db)
    const failed = await buy(gateway, 2, 'one')
    expect([failed.status, failed.body.error]).toEqual([503, 'quota_unavailable'])
    expect(Number(failed.headers.get('Retry-After'))).toBeGreaterThanOrEqual(1)
    const { rows } = await sql`select id from tickets union all select key from idempotency_keys`.execute(db)
    expect(rows).toEqual([])
  })
})

/** Makes each purchase of a database wait, and waits for the first. */
const SLOW = `create function slow() returns trigger language plpgsql as $$ begin perform pg_sleep(60); return new; end $$;
  create trigger slow before insert on tickets for each row execute function slow()`
const SLEEPING = "select pid from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()"

/** Kills a gateway between the charge and the commit of a purchase. @returns the next gateway on the same data */
async function killedInPurchase(redisEnv: Record<string, string>): Promise<Sender> {
  const database = await testDatabase()
  const env = { ...TOKENS, ...redisEnv, DATABASE_URL: database.url }
  const child = await runGateway(tempDir(), env)
  await database.sql(SLOW)
  const buying = buy({ send: sender(child.baseUrl) }, 5, 'one').catch(() => undefined)
  await expect.poll(() => database.sql(SLEEPING), { timeout: 20_000, interval: 20 }).toHaveLength(1)
  child.process.kill('SIGKILL')
  await Promise.all([child.ended(), buying])
  // The server notices a lost client only after the statement.
  await database.sql(`select pg_terminate_backend(pid) from (${SLEEPING}) as sleeping`)
  await database.sql('drop trigger slow on tickets')
  return { send: sender((await runGateway(tempDir(), env)).baseUrl) }
}

describe.runIf(slowTests)('a gateway killed between the charge and the commit of a purchase', () => {
  it.runIf(postgresTests)(
    'with PostgreSQL, nothing was charged, and a repeat buys once',
    { timeout: 90_000 },
    async () => {
      const next = await killedInPurchase({})
      expect([await usedIn(next), await ticketsIn(next)]).toEqual([0, []])
      for (const isRepeat of [false, true]) expect(isReplayed(await buy(next, 5, 'one'))).toBe(isRepeat)
      expect([await usedIn(next), await ticketsIn(next)]).toEqual([25, [5]])
    },
  )

  it.runIf(postgresTests && redisTests)(
    'with Redis, the tokens stay charged, and a repeat buys once and is charged itself',
    { timeout: 90_000 },
    async () => {
      const next = await killedInPurchase({ REDIS_URL: (await redisServer()).url })
      expect([await usedIn(next), await ticketsIn(next)]).toEqual([25, []])
      for (const isRepeat of [false, true]) expect(isReplayed(await buy(next, 5, 'one'))).toBe(isRepeat)
      expect([await usedIn(next), await ticketsIn(next)]).toEqual([50, [5]])
    },
  )

  const deep = process.env.QUOTA_TEST_DEEP === '1'
  const dying = join(import.meta.dirname, 'support/dying.mjs')

  it.each(deep ? ['insert into "tickets"', 'commit'] : ['insert into "tickets"'])(
    'with SQLite, a gateway that dies before %s has charged nothing',
    { timeout: 60_000 },
    async (statement) => {
      const dataDir = tempDir()
      const env = { ...TOKENS, NODE_OPTIONS: `--import=${dying}`, DIES_AT: statement }
      const child = await runGateway(dataDir, env)
      await expect(buy({ send: sender(child.baseUrl) }, 5)).rejects.toThrow()
      expect(await child.ended()).toMatchObject({ signal: 'SIGKILL' })
      expect(await ticketsAndTokens(dataDir)).toEqual([[], 0])
    },
  )

  /** Kinds of tickets, and what each costs. */
  const KINDS = [2, 3, 5] as const
  const KILLS = 30

  it.runIf(deep)('with SQLite, it has charged exactly the purchases that it stored', { timeout: 600_000 }, async () => {
    const dataDir = tempDir()
    let bought = 0
    for (let kill = 0; kill < KILLS; kill++) {
      const child = await runGateway(dataDir, TOKENS)
      const send = sender(child.baseUrl)
      const many = { '1h': 1_000_000, '5h': 1_000_000, '1d': 1_000_000 }
      const overridden = { token: ADMIN_TOKEN, body: { overrides: { write: many }, bypassSite: true } }
      expect((await send('PUT', '/admin/users/demo/quota', overridden)).status).toBe(200)
      await setBalance({ send }, 1_000_000)
      let answered = 0
      let isOver = false
      const buyers = Array.from({ length: 8 }, async (_, buyer) => {
        for (let at = 0; !isOver; at++) {
          const answer = await buy({ send }, KINDS[(testSeed + buyer + at) % 3] ?? 2).catch(() => undefined)
          if (answer === undefined) return
          expect(answer.status).toBe(200)
          answered++
        }
      })
      const least = 20 + ((testSeed + kill) % 13)
      await expect.poll(() => answered, { timeout: 20_000, interval: 1 }).toBeGreaterThanOrEqual(least)
      child.process.kill('SIGKILL')
      await child.ended()
      isOver = true
      await Promise.all(buyers)
      bought += answered
      const [tickets, tokens] = await ticketsAndTokens(dataDir)
      const prices: Readonly<Record<string, { readonly cost?: number | undefined }>> = policy.operations
      const cost = tickets.reduce((sum, each) => sum + (prices[`charge.${each}`]?.cost ?? 0), 0)
      expect(tokens, `seed ${testSeed}, kill ${kill}`).toBe(cost)
      expect(tickets.length).toBeGreaterThanOrEqual(bought)
    }
  })
})

/** Tickets and tokens of the demo's user, as the next gateway on the data tells them. */
async function ticketsAndTokens(dataDir: string): Promise<[number[], number]> {
  const child = await runGateway(dataDir, TOKENS)
  const next = { send: sender(child.baseUrl) }
  const found: [number[], number] = [await ticketsIn(next), await usedIn(next)]
  child.process.kill('SIGTERM')
  await child.ended()
  return found
}
