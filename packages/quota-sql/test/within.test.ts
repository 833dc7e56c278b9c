import { postgresTests } from '@scoregw/postgres-server'
import { testSeed } from '@scoregw/server-kit'
import { Kysely, PostgresDialect } from 'kysely'
import { describe, expect, it } from 'vitest'
import {
  type PostgresStore,
  postgresStore,
  quotaSchemaSql,
  type SqliteConnection,
  type SqliteStore,
  sqliteStore,
} from '../src/index.ts'
import { ONE, SCHEMA, used } from './support/counting.ts'
import { TestDatabase } from './support/database.ts'
import { connectByNode, connectTo, hasNodeSqlite, kyselyOn } from './support/sqlite.ts'
import { doneAndCharged, piecesOf, quotaOn, WORK_TABLE, type Worked, workOn } from './support/work.ts'

const RUNS = process.env.QUOTA_TEST_DEEP === '1' ? 10_000 : 120

async function worksAsCharged(db: Kysely<Worked>, store: PostgresStore | SqliteStore, atOnce: number): Promise<void> {
  // Some of it is refused.
  const quota = quotaOn(store, RUNS / 8)
  await quota.ready()
  const left = piecesOf(testSeed, RUNS)
  let refused = 0
  const worker = async (): Promise<void> => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      if ((await workOn(db, quota, next)) === 'refused') refused++
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  const { done, charged } = await doneAndCharged(db, quota)
  expect(charged, `seed ${testSeed}`).toEqual(done)
  expect(refused).toBeGreaterThan(0)
  await quota.close()
}

describe.runIf(postgresTests)('within a transaction on PostgreSQL', () => {
  const database = new TestDatabase()

  it(`${RUNS} pieces of work on PostgreSQL, many rolled back, are charged exactly as done`, {
    timeout: 3_600_000,
  }, async () => {
    const pool = database.pool({ max: 6 })
    await pool.query(WORK_TABLE)
    // Kysely ends the pool that it is given.
    const db = new Kysely<Worked>({
      dialect: new PostgresDialect({ pool: { connect: () => pool.connect(), end: async () => undefined } }),
    })
    const store = postgresStore({ pool: database.pool(), deadlineMs: 5_000 })
    await worksAsCharged(db, store, 4)
    await expect(async () => quotaOn(store, 1).inTransaction(db)).rejects.toMatchObject({
      code: 'invalid_options',
    })
  })
})

describe('within a transaction on SQLite', () => {
  it(`${RUNS} pieces of work on SQLite, many rolled back, are charged exactly as done`, {
    timeout: 3_600_000,
  }, async () => {
    const database = connectTo(':memory:')
    database.exec(quotaSchemaSql({ dialect: 'sqlite' }))
    database.exec(WORK_TABLE)
    const db = kyselyOn(database) as Kysely<Worked>
    await worksAsCharged(db, sqliteStore({ database, db }), 4)
  })

  const drivers: readonly (readonly [string, (path: string) => SqliteConnection])[] = [
    ['libsql', connectTo],
    ...(hasNodeSqlite ? [['node:sqlite', connectByNode] as const] : []),
  ]
  for (const [driver, connect] of drivers) {
    it(`a connection of ${driver} is a transaction after BEGIN; another connection is none`, async () => {
      const database = connect(':memory:')
      database.exec(quotaSchemaSql({ dialect: 'sqlite' }))
      const store = sqliteStore({ database })
      const other = connect(':memory:')
      other.exec('begin')
      const refused = () => {
        for (const wrong of [database, other]) {
          expect(() => store.inTransaction(SCHEMA, wrong)).toThrow(/expected an open transaction/)
        }
      }
      refused()
      const request = { subject: 'u', set: 0, quotas: { layers: [0, 1], limits: [2, 2] }, costs: ONE }
      for (const end of ['rollback', 'commit']) {
        database.exec('begin')
        expect(() => store.inTransaction(SCHEMA, other)).toThrow(/expected an open transaction/)
        const counters = store.inTransaction(SCHEMA, database)
        for (const outcome of ['admitted', 'admitted', 'refused']) {
          expect((await counters.take(request)).outcome).toBe(outcome)
        }
        database.exec(end)
      }
      refused()
      expect(await used(store.open(SCHEMA), 'u')).toEqual([2, 2])
    })
  }
})
