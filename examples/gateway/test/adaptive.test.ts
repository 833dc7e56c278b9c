import { postgresTests } from '@scoregw/postgres-server'
import { type FactorReasonCode, initialFactor, type MinuteOutcomes } from '@scoregw/quota/adaptive'
import { type SqlOutcomes, sqlFactor, sqlOutcomes } from '@scoregw/quota-sql'
import { manualClock } from '@scoregw/quota-testkit'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { COUNTERS } from '../src/db/migrations/0010-counters.ts'
import { openPostgres } from '../src/db/postgres.ts'
import type { Db } from '../src/db/schema.ts'
import { openSqlite } from '../src/db/sqlite.ts'
import { adaptiveDemo } from '../src/show-adaptive.ts'
import { ADMIN_TOKEN, START, type TestGateway, tempDir, testGateway, USER_TOKEN } from './support/gateway.ts'
import { postgresServer } from './support/postgres.ts'
import { closedInTheEnd } from './support/test-database.ts'

const MINUTE_MS = 60_000

/** Calls in each of the last minutes, so many of which failed. */
function lately(clockMs: number, failed: number, minutes = 30, calls = 20): MinuteOutcomes[] {
  const now = Math.floor(clockMs / MINUTE_MS)
  return Array.from({ length: minutes }, (_each, index) => ({
    minute: now - minutes + index,
    calls,
    codeZero: failed,
    clientError: 0,
    serverError: 0,
    businessFail: 0,
    refused: 0,
    quotaUnavailable: 0,
  }))
}

async function run({ gateway }: TestGateway, what: string): Promise<void> {
  const chore = gateway.app.chores.find((each) => each.what === what)
  if (chore === undefined) throw new Error(`no chore ${what}`)
  await chore.run()
}

async function tick(gateway: TestGateway): Promise<void> {
  await run(gateway, 'moving the adaptive factor')
}

/** As another process adds to them. */
async function outcomesIn(dataDir: string): Promise<SqlOutcomes> {
  return sqlOutcomes({ db: await closedInTheEnd(openSqlite(dataDir)), prefix: COUNTERS })
}

async function setMode({ send }: TestGateway, mode: string): Promise<void> {
  const { body, headers } = await send('GET', '/admin/quota/settings', { token: ADMIN_TOKEN })
  const { version: _, ...document } = body
  const options = {
    token: ADMIN_TOKEN,
    headers: { 'If-Match': headers.get('ETag') ?? '' },
    body: { ...document, mode },
  }
  expect((await send('PUT', '/admin/quota/settings', options)).status).toBe(200)
}

/** What the tests look at one by one. */
interface Shown {
  readonly factor: number
  readonly lastTick: { readonly msg: string }
  readonly preview: object
  readonly history: readonly object[]
}

async function adaptive({ send }: TestGateway): Promise<Shown> {
  const { body } = await send('GET', '/admin/quota/adaptive', { token: ADMIN_TOKEN })
  return body as Shown
}

const readLimit = async ({ send }: TestGateway): Promise<number> =>
  (await send('GET', '/me/quota')).body.windows.read[0].limit

describe('adaptive mode', () => {
  it('adaptive mode lowers limits when requests fail, gives the reason, and raises them later, in every process', async () => {
    const dataDir = tempDir()
    const clock = manualClock(START)
    const first = await testGateway({ dataDir, clock })
    const second = await testGateway({ dataDir, clock })
    const outcomes = await outcomesIn(dataDir)
    await setMode(first, 'adaptive')
    expect(await adaptive(first)).toMatchObject({
      mode: 'adaptive',
      isActive: true,
      factor: 1,
      version: 0,
      lastTick: null,
      history: [],
    })

    await outcomes.add(lately(clock.now(), 10))
    expect((await adaptive(first)).preview).toMatchObject({ code: 'errors_high', from: 1, to: 0.9 })
    await tick(first)
    const lowered = await adaptive(first)
    expect(lowered).toMatchObject({ factor: 0.9, version: 1, history: [{ code: 'errors_high', from: 1, to: 0.9 }] })
    expect(lowered.lastTick.msg).toMatch(
      /^Lowered from 1\.00 to 0\.90: errors are surely above the high rate\. 300 of 600 requests failed in the last 30 minutes/,
    )
    await expect.poll(() => readLimit(first)).toBe(108)
    await expect.poll(() => readLimit(second)).toBe(108)
    // The other process ticks the same minute: it was moved already.
    await tick(second)
    expect(await adaptive(second)).toMatchObject({ factor: 0.9, version: 1 })

    clock.advance(36 * MINUTE_MS)
    await outcomes.add(lately(clock.now(), 0, 36))
    await tick(second)
    const raised = await adaptive(first)
    expect(raised.factor).toBe(0.95)
    expect(raised.history[0]).toMatchObject({ code: 'errors_low', from: 0.9, to: 0.95 })
    await expect.poll(() => readLimit(first)).toBe(114)
  })

  it('the factor doesn’t move in any other mode', async () => {
    const gateway = await testGateway()
    await (await outcomesIn(gateway.dataDir)).add(lately(START, 20))
    await tick(gateway)
    expect(await adaptive(gateway)).toMatchObject({ mode: 'normal', isActive: false, factor: 1, version: 0 })
    expect(await readLimit(gateway)).toBe(120)
  })

  it('the factor ignores refusals and requests without a reachable quota store', async () => {
    const gateway = await testGateway()
    await setMode(gateway, 'adaptive')
    const minutes = lately(START, 0).map((each) => ({
      ...each,
      calls: 40,
      clientError: 20,
      refused: 20,
      serverError: 20,
      quotaUnavailable: 20,
    }))
    await (await outcomesIn(gateway.dataDir)).add(minutes)
    expect((await adaptive(gateway)).preview).toMatchObject({ code: 'quiet', counts: { calls: 0, errors: 0 } })
  })

  it('the factor survives a restart', async () => {
    const first = await testGateway()
    const { dataDir, clock } = first
    await setMode(first, 'adaptive')
    await (await outcomesIn(dataDir)).add(lately(START, 20))
    await tick(first)
    await first.stop()
    const second = await testGateway({ dataDir, clock })
    await expect.poll(() => readLimit(second)).toBe(108)
  })
})

interface Shared {
  readonly gateway: TestGateway
  readonly db: Db
  /** Makes the database reject entries of resets. */
  rejectEntries(): Promise<unknown>
}

const DATABASES: [name: string, isThere: boolean, start: () => Promise<Shared>][] = [
  [
    'the embedded database',
    true,
    async () => {
      const gateway = await testGateway()
      const db = await closedInTheEnd(openSqlite(gateway.dataDir))
      const trigger = sql`create trigger no_resets before insert on audit_entries when new.action = 'factor.reset'
        begin select raise(abort, 'no resets'); end`
      return { gateway, db, rejectEntries: () => trigger.execute(db) }
    },
  ],
  [
    'PostgreSQL',
    postgresTests,
    async () => {
      const DATABASE_URL = await (await postgresServer()).createDatabase()
      const gateway = await testGateway({ env: { DATABASE_URL } })
      const db = await closedInTheEnd(openPostgres(DATABASE_URL))
      const check = sql`alter table audit_entries add constraint no_resets check (action <> 'factor.reset')
        not valid`
      return { gateway, db, rejectEntries: () => check.execute(db) }
    },
  ],
]

const reset = ({ send }: TestGateway, token = ADMIN_TOKEN): ReturnType<TestGateway['send']> =>
  send('POST', '/admin/quota/adaptive/reset', { token })

/** The reset entries of the audit trail. */
async function resets({ send }: TestGateway): Promise<object[]> {
  return (await send('GET', '/admin/audit?action=factor.reset', { token: ADMIN_TOKEN })).body.items
}

describe('the learned state of adaptive mode', () => {
  it.each(DATABASES.filter(([, isThere]) => isThere))(
    'an administrator resets what adaptive mode has learned: %s',
    async (_n, _i, start) => {
      const { gateway, db, rejectEntries } = await start()
      const { clock } = gateway
      const outcomes = sqlOutcomes({ db, prefix: COUNTERS })
      // Nothing was learned, and the mode is another one.
      expect((await reset(gateway)).body).toMatchObject({
        forgotten: null,
        mode: 'normal',
        isActive: false,
        version: 0,
      })

      // A rise, and errors soon after it.
      await setMode(gateway, 'adaptive')
      await outcomes.add(lately(clock.now(), 0, 30, 100))
      await tick(gateway)
      clock.advance(6 * MINUTE_MS)
      await outcomes.add(lately(clock.now(), 20, 6, 100))
      await tick(gateway)
      const before = await adaptive(gateway)
      const wall = { low: 1.05, high: 1.05, retryAt: expect.any(String) }
      expect(before).toMatchObject({ factor: 1, preview: { wall } })
      expect(before.history).toHaveLength(2)

      expect((await reset(gateway, USER_TOKEN)).status).toBe(403)
      expect((await adaptive(gateway)).preview).toMatchObject({ wall })
      const { status, body } = await reset(gateway)
      expect([status, body.forgotten]).toEqual([200, { wall, responseMinutes: 0, rises: 0 }])
      expect(body).toMatchObject({ mode: 'adaptive', isActive: true, factor: 1, preview: { wall: null } })
      expect(body.history).toEqual(before.history)
      const entry = { action: 'factor.reset', by: 'admin', subject: null, before: body.forgotten, after: null }
      expect(await resets(gateway)).toMatchObject([entry])
      // There is nothing left, and nothing to write down.
      expect((await reset(gateway)).body.forgotten).toBeNull()
      expect(await resets(gateway)).toHaveLength(1)

      // It rises freely to the level that had errors; then they come again.
      clock.advance(36 * MINUTE_MS)
      await outcomes.add(lately(clock.now(), 0, 36, 100))
      await tick(gateway)
      expect(await adaptive(gateway)).toMatchObject({ factor: 1.05, lastTick: { code: 'errors_low', wall: null } })
      clock.advance(6 * MINUTE_MS)
      await outcomes.add(lately(clock.now(), 20, 6, 100))
      await tick(gateway)
      // No entry, no reset: both are in one transaction.
      await rejectEntries()
      expect((await reset(gateway)).status).toBe(500)
      expect((await adaptive(gateway)).preview).toMatchObject({ wall: { low: 1.05, high: 1.05 } })
    },
  )

  it('a reset includes the cap that a version without walls stored', async () => {
    const gateway = await testGateway()
    const factorStore = sqlFactor({ db: await closedInTheEnd(openSqlite(gateway.dataDir)), prefix: COUNTERS })
    const { learned: _, ...former } = { ...initialFactor(), cap: { hundredths: 100, since: START } }
    await factorStore.compareAndSet(0, 1, former)
    expect((await reset(gateway)).body.forgotten).toMatchObject({ wall: { low: 1.05, high: 1.05 } })
    expect((await reset(gateway)).body.forgotten).toBeNull()
  })
})

it('reasons of a newer version are shown as text while old and new processes run together', async () => {
  const gateway = await testGateway()
  const { send, dataDir, clock } = gateway
  await setMode(gateway, 'adaptive')
  await (await outcomesIn(dataDir)).add(lately(clock.now(), 10))
  await tick(gateway)
  const factorStore = sqlFactor({ db: await closedInTheEnd(openSqlite(dataDir)), prefix: COUNTERS })
  const { version, state } = (await factorStore.read())!
  const reason = { ...state.reason!, code: 'load_shed' as FactorReasonCode }
  await factorStore.compareAndSet(version, 1, { ...state, reason, history: [reason, ...state.history] })
  const { status, body } = await send('GET', '/admin/quota/adaptive', { token: ADMIN_TOKEN })
  const other = {
    code: 'other',
    msg: expect.stringMatching(/^From 1\.00 to 0\.90: load_shed\. 300 of 600 requests failed/),
  }
  expect([status, body]).toMatchObject([200, { lastTick: other, history: [other, { code: 'errors_high' }] }])
})

describe('npm run adaptive:demo', () => {
  it.runIf(process.env.QUOTA_TEST_DEEP === '1')(
    'the demonstration reports each move and its reason',
    { timeout: 300_000 },
    async () => {
      const lines: string[] = []
      await adaptiveDemo((line) => lines.push(line))
      const factors = lines.flatMap((line) => /factor (\d\.\d\d)/.exec(line)?.[1] ?? [])
      expect(Math.min(...factors.map(Number))).toBe(0.75)
      expect(factors.at(-1)).toBe('1.00')
      expect(lines.filter((line) => line.includes('Lowered'))).toHaveLength(3)
      expect(lines.at(-1)).toMatch(/^08:30 {2}\d+ of \d+ requests$/)
    },
  )
})
