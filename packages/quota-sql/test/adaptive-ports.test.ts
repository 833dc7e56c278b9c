import { postgresTests } from '@scoregw/postgres-server'
import { createQuota } from '@scoregw/quota'
import {
  initialFactor,
  type MinuteOutcomes,
  OUTCOME_COLUMNS,
  OUTCOMES_KEPT_MINUTES,
  type OutcomeColumn,
} from '@scoregw/quota/adaptive'
import { scoreGatewayPolicy } from '@scoregw/quota/score-gateway'
import {
  describeFactorStore,
  describeOutcomeStore,
  FACTOR_STORE_CASES,
  OUTCOME_STORE_CASES,
} from '@scoregw/quota-testkit'
import { type Kysely, sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { quotaSchemaSql, sqlFactor, sqlOutcomes } from '../src/index.ts'
import { TestDatabase } from './support/database.ts'
import { kyselyOnPool } from './support/pool.ts'
import { connectTo, kyselyOn } from './support/sqlite.ts'

const MINUTE = Date.UTC(2026, 7, 6, 14) / 60_000

function noOutcomes(minute: number): MinuteOutcomes {
  const none = Object.fromEntries(OUTCOME_COLUMNS.map((column) => [column, 0]))
  return { minute, ...(none as Record<OutcomeColumn, number>) }
}

function onSqlite(): Kysely<unknown> {
  const database = connectTo(':memory:')
  database.exec(quotaSchemaSql({ dialect: 'sqlite' }))
  return kyselyOn(database)
}

/** The same for both: two clients of the same emptied tables, as two processes have them. */
function describePorts(open: () => Kysely<unknown>): void {
  let db: Kysely<unknown> | undefined
  const emptied = async (): Promise<Kysely<unknown>> => {
    db ??= open()
    for (const table of ['quota_factor', 'quota_outcomes']) await sql`delete from ${sql.table(table)}`.execute(db)
    return db
  }

  const registered = [
    describeFactorStore({ describe, it }, async () => {
      const db = await emptied()
      const [store, peer] = [sqlFactor({ db, pollMs: 50 }), sqlFactor({ db, pollMs: 50 })]
      return {
        store,
        peer,
        async stop() {
          await Promise.all([store.close(), peer.close()])
        },
      }
    }),
    describeOutcomeStore({ describe, it }, async () => {
      const db = await emptied()
      return { store: sqlOutcomes({ db }), peer: sqlOutcomes({ db }), stop: () => undefined }
    }),
  ]
  it('factor and outcomes pass their conformance suites', () =>
    expect(registered).toEqual([FACTOR_STORE_CASES.length, OUTCOME_STORE_CASES.length]))

  it('the process that adds outcomes deletes rows that are too old to be read', async () => {
    const db = await emptied()
    const outcomes = sqlOutcomes({ db })
    const of = (minute: number): MinuteOutcomes => ({ ...noOutcomes(minute), calls: 1 })
    const kept = async (): Promise<number[]> => (await outcomes.read(0, 2 * MINUTE)).map(({ minute }) => minute)
    const oldest = MINUTE - OUTCOMES_KEPT_MINUTES
    await outcomes.add([of(MINUTE), of(oldest - 1), of(oldest)])
    expect(await kept()).toEqual([oldest, MINUTE])
    await outcomes.add([of(MINUTE + 59)])
    expect(await kept()).toEqual([oldest, MINUTE, MINUTE + 59])
    await outcomes.add([of(MINUTE + 60)])
    expect(await kept()).toEqual([MINUTE, MINUTE + 59, MINUTE + 60])
  })

  it('many minutes of outcomes are added together', async () => {
    const outcomes = sqlOutcomes({ db: await emptied() })
    const many = Array.from({ length: 1_700 }, (_, at) => ({ ...noOutcomes(MINUTE - at), calls: 1, refused: 2 ** 40 }))
    await outcomes.add(many)
    const read = await outcomes.read(0, MINUTE + 1)
    expect([read.length, read.at(-1)]).toEqual([1_700, { ...noOutcomes(MINUTE), calls: 1, refused: 2 ** 40 }])
  })

  it('a factor is reported that has the version of one that was lost', async () => {
    const db = await emptied()
    const [factor, other] = [sqlFactor({ db, pollMs: 1_000 }), sqlFactor({ db })]
    let heard = 0
    const unwatch = factor.watch(() => {
      heard++
    })
    for (const minute of [MINUTE, MINUTE + 1]) {
      await other.compareAndSet(0, minute, initialFactor())
      for (const _ of [1, 2]) await factor.poll()
      // A backup from before the move is restored.
      await sql`delete from quota_factor`.execute(db)
    }
    expect(heard).toBe(2)
    unwatch()
  })

  it('a lost factor is 1 again after the next poll, and an unreadable one is reported', async () => {
    const db = await emptied()
    const factor = sqlFactor({ db, pollMs: 1_000 })
    const quota = createQuota({ policy: scoreGatewayPolicy(), adaptive: { factor } })
    await quota.settings.update({ mode: 'adaptive' })
    const looked = { timeout: 15_000, interval: 5 }
    const limit = async () => (await quota.status('u')).limits['personal-write-1h']?.limit
    const other = sqlFactor({ db })
    expect(await other.compareAndSet(0, MINUTE, { ...initialFactor(), factorHundredths: 80 })).toBe(true)
    await factor.poll()
    await expect.poll(limit, looked).toBe(48)
    await sql`delete from quota_factor`.execute(db)
    await factor.poll()
    await expect.poll(limit, looked).toBe(60)
    await other.compareAndSet(0, MINUTE, initialFactor())
    await sql`update quota_factor set state = '{'`.execute(db)
    await expect(other.read()).rejects.toMatchObject({ code: 'store_error' })
    await quota.close()
  })
}

describe('factor and outcomes in SQLite', () => describePorts(onSqlite))

describe.runIf(postgresTests)('factor and outcomes in PostgreSQL', () => {
  const database = new TestDatabase()
  describePorts(() => kyselyOnPool(database.pool()))
})
