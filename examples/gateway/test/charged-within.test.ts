import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createQuota, type Quota } from '@scoregw/quota'
import { sqliteStore } from '@scoregw/quota-sql'
import { manualClock } from '@scoregw/quota-testkit'
import { sql } from 'kysely'
import Database from 'libsql'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import * as z from 'zod'
import { COUNTERS } from '../src/db/schema.ts'
import { connectionOf, openSqlite } from '../src/db/sqlite.ts'
import { withPlayer } from '../src/db/with-player.ts'
import { HttpError } from '../src/http/http-error.ts'
import { contextOf } from '../src/http/request-context.ts'
import { type Charge, type Route, route } from '../src/http/route.ts'
import { createService } from '../src/http/service.ts'
import { Idempotency } from '../src/idempotency/idempotency.ts'
import { IdempotencyRecords } from '../src/idempotency/idempotency-records.ts'
import { createLogger } from '../src/log/logger.ts'
import { chargeStep } from '../src/quota/charge-step.ts'
import { type OperationName, policy } from '../src/quota/policy.ts'
import { settingsOn } from '../src/quota/settings.ts'
import { ticketRoutes } from '../src/tickets/routes.ts'
import { TicketRepository } from '../src/tickets/ticket-repository.ts'
import { TicketService } from '../src/tickets/ticket-service.ts'
import { UserRepository } from '../src/users/user-repository.ts'
import { ADMIN_TOKEN, START, sender, tempDir, USER_TOKEN } from './support/gateway.ts'
import { runGateway } from './support/process.ts'
import { closedInTheEnd } from './support/test-database.ts'

const CREDITS = 20
const { cost: COST } = policy.operations['charge.5']

/** Tickets behind a meter, charged before or within the transaction of a purchase, on a database of their own. */
async function shop(isWithin: boolean, handle?: Handled) {
  const clock = manualClock(START)
  const dataDir = tempDir()
  const db = await closedInTheEnd(openSqlite(dataDir))
  const database = connectionOf(db)
  if (database === undefined) throw new Error('the embedded database has a connection')
  const user = { id: 'ann', name: 'Ann', role: 'player', disabled: false } as const
  await new UserRepository(db, clock).create(user)
  await db.updateTable('users').set({ balance: CREDITS }).execute()
  const quota = createQuota<OperationName>({
    policy,
    store: sqliteStore({ database, db, prefix: COUNTERS, clock }),
    settingsStore: settingsOn(db, clock),
    clock,
    failurePolicy: { write: 'open' },
  })
  onTestFinished(() => quota.close())
  const logger = createLogger('silent')
  const metering = { quota, supportForumUrl: 'https://forum.example.com', logger }
  const tickets = new TicketService(new TicketRepository(db, clock))
  const routes = ticketRoutes(tickets, new Idempotency(new IdempotencyRecords(db, clock)))
  const logged = vi.spyOn(logger, 'error')
  const app = createService({
    routes: handle === undefined ? routes : [handledBy(handle, tickets, quota)],
    logger,
    trustProxy: false,
    corsOrigins: () => [],
    publicBaseUrl: undefined,
    authentication: {
      identify: (req, _res, next) => {
        contextOf(req).user = user
        next()
      },
      admit: (_req, _res, next) => next(),
    },
    charge: chargeStep({ ...metering, chargesWithin: isWithin }),
    isClosing: () => false,
  })
  const server = createServer(app).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const buy = async (chargeId: number, headers: Record<string, string> = {}): Promise<Answer> => {
    const response = await fetch(`${base}/v1/charge`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Request-Id': 'r', ...headers },
      body: JSON.stringify({ chargeId }),
    })
    const { Date: _date, date: _, ...fields } = Object.fromEntries(response.headers)
    return { status: response.status, fields, body: await response.text() }
  }
  const used = async (): Promise<unknown> => (await quota.status('ann')).windows.write?.map(({ used }) => used)
  const begun = vi.spyOn(database, 'exec')
  /** How many transactions something needs: those that take the write lock, and those that only read. */
  const transactionsOf = async (work: () => Promise<unknown>): Promise<{ writing: number; reading: number }> => {
    begun.mockClear()
    await work()
    const texts = begun.mock.calls.map(([text]) => text)
    const countOf = (beginning: string): number => texts.filter((text) => text.startsWith(beginning)).length
    return { writing: countOf('begin immediate'), reading: countOf('begin;') }
  }
  return { clock, dataDir, db, quota, buy, used, logged, transactionsOf, held: () => tickets.held('ann') }
}

/** What a handler may do wrong: `buys` is the work, which calls the charge it is given first in its transaction. */
type Handled = (charge: Charge, buys: (charge?: Charge) => Promise<number>, quota: Quota<OperationName>) => unknown

/** A route that charges within, with a handler of another kind. */
function handledBy(handle: Handled, tickets: TicketService, quota: Quota<OperationName>): Route {
  return route({
    method: 'post',
    path: '/v1/charge',
    docs: { id: 'buyTicket', tag: 'Ticket', summary: 'Buy', description: 'A ticket.' },
    access: 'user',
    answer: z.object({}),
    operation: 'charge.5',
    chargesWithin: true,
    async handle({ charge }) {
      await handle(charge, (by) => tickets.buy('ann', 5, async () => undefined, by), quota)
      return { body: {} }
    },
  })
}

interface Answer {
  readonly status: number
  readonly fields: Record<string, string>
  readonly body: string
}

describe('purchases charged within their transaction', () => {
  it('a purchase charged in its transaction gets the response of one charged before it, byte for byte', async () => {
    const both = [await shop(false), await shop(true)] as const
    const statuses: number[] = []
    const alike = async (ask: (of: (typeof both)[number]) => Promise<unknown>): Promise<unknown> => {
      const [before, within] = [await ask(both[0]), await ask(both[1])]
      expect(within).toEqual(before)
      return within
    }
    const buys = async (chargeId: number, headers?: Record<string, string>): Promise<void> => {
      const answer = (await alike((of) => of.buy(chargeId, headers))) as Answer
      statuses.push(answer.status)
      await alike((of) => of.used())
      await alike((of) => of.held())
    }
    await buys(5, { 'Idempotency-Key': 'k' })
    await buys(5, { 'Idempotency-Key': 'k' })
    await buys(2)
    // With this the hour's tokens are used up.
    await buys(5)
    await buys(2, { 'Idempotency-Key': 'l' })
    await alike(async ({ clock }) => clock.advance(3_600_000))
    // What was refused under a key may be requested again under it.
    await buys(2, { 'Idempotency-Key': 'l' })
    await alike(({ db }) => db.updateTable('users').set({ balance: 1 }).execute())
    await buys(5)
    await buys(2)
    await buys(3)
    expect(statuses).toEqual([200, 200, 200, 200, 429, 200, 403, 200, 403])
  })

  it('a failure after the charge undoes both charge and purchase', async () => {
    const { quota, db, clock, used } = await shop(true)
    const failing = withPlayer(
      db,
      clock,
      'ann',
      () => Promise.reject(new HttpError('conflict', 'no')),
      async (transaction) => {
        await quota.peek({ subject: 'ann', operation: 'charge.5' }).catch(() => undefined)
        return quota.inTransaction(transaction).consume({ subject: 'ann', operation: 'charge.5' })
      },
    )
    await expect(failing).rejects.toThrow('no')
    expect(await used()).toEqual([0, 0, 0, 0, 0, 0])
  })

  it('a refused purchase is answered in the language of the request, byte for byte', async () => {
    const both = [await shop(false), await shop(true)] as const
    for (const { quota } of both) await quota.consume({ subject: 'ann', operation: 'charge.5', cost: 60 })
    for (const language of ['zh-TW', 'en;q=0.5, zh', 'fr', '*']) {
      const [before, within] = await Promise.all(both.map(({ buy }) => buy(5, { 'Accept-Language': language })))
      expect(within).toEqual(before)
    }
  })

  it.each([
    ['at all', `alter table ${COUNTERS}_rows rename to out_of_reach`],
    ['within it', `create trigger full before insert on ${COUNTERS}_rows begin select raise(abort, 'full'); end`],
  ])('the failure policy decides a purchase whose counters can’t be charged %s', async (_, fault) => {
    const { buy, db, held } = await shop(true)
    await sql.raw(fault).execute(db)
    const { status, body } = await buy(2, { 'Idempotency-Key': 'k' })
    expect(status).toBe(200)
    expect(body).toContain(`"tokensCharged":10,"balance":${CREDITS - 1}`)
    expect(await held()).toHaveLength(1)
  })
})

describe('handlers that charge within their transaction', () => {
  /** Tokens of `charge.5`, in the windows of the own layer and in those of all subjects. */
  const CHARGED = Array(6).fill(COST)

  it('a handler that forgets to charge is charged afterwards, which is logged', async () => {
    const { buy, used, logged } = await shop(true, (_, buys) => buys())
    const { status, fields } = await buy(5)
    expect([status, await used()]).toEqual([200, CHARGED])
    expect(fields.ratelimit).toContain(`r=${60 - COST}`)
    expect(logged.mock.calls).toMatchObject([[{ err: expect.any(TypeError) }, 'charged late']])
    await buy(5)
    await buy(5)
    expect((await buy(5)).status).toBe(429)
  })

  it('a handler that charges twice fails, and nothing is stored', async () => {
    const { buy, used, held } = await shop(true, (charge, buys) =>
      buys(async (transaction) => {
        await charge(transaction)
        return charge(transaction)
      }),
    )
    expect((await buy(5)).status).toBe(500)
    expect([await used(), await held()]).toEqual([Array(6).fill(0), []])
  })

  it('a request whose tokens are gone before its charge is refused, and nothing is stored', async () => {
    const { buy, used, held } = await shop(true, async (charge, buys, quota) => {
      await quota.consume({ subject: 'ann', operation: 'charge.5', cost: 60 - COST + 1 })
      await buys(charge)
    })
    const refused = await buy(5)
    const again = await buy(5)
    expect([refused.status, again]).toEqual([429, refused])
    expect([await used(), await held()]).toEqual([Array(6).fill(60 - COST + 1), []])
  })
})

describe('one decision per purchase', () => {
  it('a purchase with enough tokens is decided once, in its transaction', async () => {
    const { buy, transactionsOf } = await shop(true)
    await buy(2)
    expect(await transactionsOf(() => buy(3))).toEqual({ writing: 1, reading: 0 })
  })

  it('a purchase on the only connection is decided once, even if the user’s settings weren’t read yet', async () => {
    const { buy, quota, used, transactionsOf } = await shop(true)
    await buy(2)
    await quota.subjects.update('ann', { overrides: { write: { '1h': 100 } } })
    expect(await transactionsOf(() => buy(3))).toEqual({ writing: 1, reading: 0 })
    expect(await used()).toEqual(Array(6).fill(25))
  })

  it('a refused purchase takes no write lock', async () => {
    const { buy, quota, transactionsOf } = await shop(true)
    await buy(5)
    await buy(5)
    const reported = vi.fn()
    quota.on('refused', reported)
    const refused = await transactionsOf(async () => {
      for (let each = 0; each < 20; each++) expect((await buy(5)).status).toBe(429)
    })
    expect([refused, reported.mock.calls.length]).toEqual([{ writing: 0, reading: 20 }, 20])
  })

  it('a refused purchase doesn’t wait for another process’s write', async () => {
    const { buy, dataDir } = await shop(true)
    await buy(5)
    await buy(5)
    const other = new Database(join(dataDir, 'gateway.sqlite'))
    onTestFinished(() => void other.close())
    other.exec('begin immediate')
    expect((await buy(5)).status).toBe(429)
    other.exec('rollback')
  })

  it('a purchase that its transaction refuses isn’t decided again for the response', async () => {
    const { buy, quota, transactionsOf } = await shop(true)
    await buy(2)
    const cost = 60 - 10 - 20
    await quota.consume({ subject: 'ann', operation: 'charge.5', cost })
    const refused = vi.fn()
    quota.on('refused', refused)
    const tokens = await transactionsOf(async () => expect((await buy(5)).status).toBe(429))
    expect([tokens, refused.mock.calls.length]).toEqual([{ writing: 1, reading: 0 }, 1])
    // From here on a refusal is likely, and seen before a transaction begins.
    expect(await transactionsOf(() => buy(5))).toEqual({ writing: 0, reading: 1 })
    expect(refused).toHaveBeenCalledTimes(2)
  })
})

/** Kinds of tickets, and what each costs. */
const KINDS = [2, 3, 5] as const
const SEED = Number(process.env.QUOTA_TEST_SEED ?? Date.now() % 1e9)
const deep = process.env.QUOTA_TEST_DEEP === '1'
const KILLS = 30
const DYING = join(import.meta.dirname, 'support/dying.mjs')

/** A gateway in a process of its own whose demo user may buy as much as he likes. */
async function runShop(dataDir: string, env: Record<string, string> = {}) {
  const tokens = { DEMO_USER_TOKEN: USER_TOKEN, DEMO_ADMIN_TOKEN: ADMIN_TOKEN }
  const child = await runGateway(dataDir, { ...tokens, ...env })
  const send = sender(child.baseUrl)
  const many = { '1h': 1_000_000, '5h': 1_000_000, '1d': 1_000_000 }
  const overridden = { token: ADMIN_TOKEN, body: { overrides: { write: many }, bypassSite: true } }
  expect((await send('PUT', '/admin/users/demo/quota', overridden)).status).toBe(200)
  await send('POST', '/admin/users/demo/balance', { token: ADMIN_TOKEN, body: { set: 1_000_000 } })
  return { child, send }
}

describe('a gateway killed during purchases', () => {
  it.each(deep ? ['insert into "tickets"', 'commit'] : ['insert into "tickets"'])(
    'a gateway that dies after a charge and before the first %s has charged nothing',
    { timeout: 60_000 },
    async (statement) => {
      const dataDir = tempDir()
      const { child, send } = await runShop(dataDir, { NODE_OPTIONS: `--import=${DYING}`, DIES_AT: statement })
      await expect(send('POST', '/v1/charge', { body: { chargeId: 5 } })).rejects.toThrow()
      expect(await child.ended()).toMatchObject({ signal: 'SIGKILL' })
      expect(ticketsAndTokens(dataDir)).toEqual([[], 0])
    },
  )

  it.runIf(deep)(
    'a gateway that is killed has charged exactly the purchases that it stored',
    { timeout: 600_000 },
    async () => {
      const dataDir = tempDir()
      let bought = 0
      for (let kill = 0; kill < KILLS; kill++) {
        const { child, send } = await runShop(dataDir)
        let answered = 0
        let isOver = false
        const buyers = Array.from({ length: 8 }, async (_, buyer) => {
          for (let at = 0; !isOver; at++) {
            const body = { chargeId: KINDS[(SEED + buyer + at) % 3] }
            const answer = await send('POST', '/v1/charge', { body }).catch(() => undefined)
            if (answer === undefined) return
            expect(answer.status).toBe(200)
            answered++
          }
        })
        const least = 20 + ((SEED + kill) % 13)
        await expect.poll(() => answered, { timeout: 20_000, interval: 1 }).toBeGreaterThanOrEqual(least)
        child.process.kill('SIGKILL')
        await child.ended()
        isOver = true
        await Promise.all(buyers)
        bought += answered
        const [tickets, tokens] = ticketsAndTokens(dataDir)
        expect(tokens, `seed ${SEED}, kill ${kill}`).toBe(tickets.reduce((sum, each) => sum + costOf(each), 0))
        expect(tickets.length).toBeGreaterThanOrEqual(bought)
      }
    },
  )
})

function costOf(chargeId: number): number {
  const { cost } = policy.operations[`charge.${chargeId}` as OperationName]
  return cost
}

/** Kinds of the tickets in the database, and tokens that were charged in the longest window. */
function ticketsAndTokens(dataDir: string): [number[], number] {
  const file = new Database(join(dataDir, 'gateway.sqlite'))
  try {
    const tickets = file.prepare("select charge_id from tickets where user_id = 'demo'").all() as {
      charge_id: number
    }[]
    const where = "where key = 'personal/write/demo'"
    const [row] = file.prepare(`select cells from ${COUNTERS}_rows ${where}`).all() as { cells: string }[]
    const used = (JSON.parse(row?.cells ?? '[]') as number[]).filter((_, index) => index % 2 === 1)
    return [tickets.map(({ charge_id }) => charge_id), Math.max(0, ...used)]
  } finally {
    file.close()
  }
}
