import { postgresTests } from '@scoregw/postgres-server'
import { sqlOutcomes } from '@scoregw/quota-sql'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { COUNTERS } from '../../../src/db/migrations/0010-counters.ts'
import { openPostgres } from '../../../src/db/postgres.ts'
import type { Db } from '../../../src/db/schema.ts'
import { openSqlite } from '../../../src/db/sqlite.ts'
import { adaptiveDemo } from '../../../src/extras/adaptive/demo.ts'
import { adaptive, lately, MINUTE_MS, setMode, tick } from '../../support/adaptive.ts'
import { ADMIN_TOKEN, type TestGateway, testGateway, USER_TOKEN } from '../../support/gateway.ts'
import { postgresServer } from '../../support/postgres.ts'
import { closedInTheEnd } from '../../support/test-database.ts'

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
