import { postgresTests } from '@scoregw/postgres-server'
import { createQuota, definePolicy, type QuotaStore } from '@scoregw/quota'
import * as fc from 'fast-check'
import { Kysely, PostgresDialect } from 'kysely'
import { describe, expect, it } from 'vitest'
import { type PostgresStore, postgresStore, quotaSchemaSql, type SqliteStore, sqliteStore } from '../src/index.ts'
import { TestDatabase } from './support/database.ts'
import { connectTo, kyselyOn } from './support/sqlite-factory.ts'

const RUNS = process.env.QUOTA_TEST_DEEP === '1' ? 10_000 : 120
const SUBJECTS = ['a', 'b', 'c']

interface Worked {
  readonly work: { readonly subject: string; readonly cost: number }
}

/** A piece of work: charged, done, and lost with its transaction where that fails before or after the charge. */
const piece = fc.record({
  subject: fc.constantFrom(...SUBJECTS),
  cost: fc.integer({ min: 1, max: 3 }),
  fails: fc.constantFrom('never', 'never', 'before', 'after', 'sql'),
})

class Failed extends Error {}

function quotaOn(store: PostgresStore | SqliteStore) {
  const policy = definePolicy({
    windows: [{ label: '1h', lengthMs: 3_600_000 }],
    categories: ['write'],
    layers: [
      { name: 'personal', shared: false },
      { name: 'site', shared: true },
    ],
    operations: { work: { category: 'write', cost: 1 } },
    // Some of it is refused.
    base: { personal: { write: { '1h': RUNS / 8 } }, site: { write: { '1h': 1e9 } } },
  })
  return createQuota({ policy, store: store as QuotaStore })
}

async function worksAsCharged(db: Kysely<Worked>, store: PostgresStore | SqliteStore, atOnce: number): Promise<void> {
  const quota = quotaOn(store)
  await quota.ready()
  const pieces = fc.sample(piece, { numRuns: RUNS, seed: Number(process.env.QUOTA_TEST_SEED ?? Date.now()) })
  const left = [...pieces]
  let refused = 0
  const worker = async (): Promise<void> => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const { subject, cost, fails } = next
      try {
        await db.transaction().execute(async (transaction) => {
          await transaction.insertInto('work').values({ subject, cost }).execute()
          if (fails === 'before') throw new Failed()
          const { allowed } = await quota.within(transaction).consume({ subject, operation: 'work', cost })
          if (!allowed) {
            refused++
            throw new Failed()
          }
          if (fails === 'after') throw new Failed()
          if (fails === 'sql')
            await transaction
              .insertInto('work')
              .values({ subject, cost: null as never })
              .execute()
        })
      } catch (error) {
        if (fails === 'never' && !(error instanceof Failed)) throw error
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  for (const subject of SUBJECTS) {
    const done = await db
      .selectFrom('work')
      .select(({ fn }) => fn.sum<number>('cost').as('cost'))
      .where('subject', '=', subject)
      .executeTakeFirstOrThrow()
    const { windows } = await quota.status(subject)
    expect(windows.write?.[0]?.used, `the work of ${subject}`).toBe(Number(done.cost ?? 0))
  }
  expect(refused).toBeGreaterThan(0)
  await quota.close()
}

describe.runIf(postgresTests)('within a transaction on PostgreSQL', () => {
  const database = new TestDatabase()

  it(`${RUNS} pieces of work, many rolled back: what was done is what was charged`, {
    timeout: 3_600_000,
  }, async () => {
    const pool = database.pool({ max: 6 })
    await pool.query('create table work (subject text not null, cost integer not null)')
    // Kysely ends the pool that it is given.
    const db = new Kysely<Worked>({
      dialect: new PostgresDialect({ pool: { connect: () => pool.connect(), end: async () => undefined } }),
    })
    const store = postgresStore({ pool: database.pool(), deadlineMs: 5_000 })
    await worksAsCharged(db, store, 4)
    await expect(async () => quotaOn(store).within(db)).rejects.toMatchObject({
      code: 'invalid_options',
    })
  })
})

describe('within a transaction on SQLite', () => {
  it(`${RUNS} pieces of work, many rolled back: what was done is what was charged`, {
    timeout: 3_600_000,
  }, async () => {
    const database = connectTo(':memory:')
    database.exec(quotaSchemaSql({ dialect: 'sqlite' }))
    database.exec('create table work (subject text not null, cost integer not null)')
    const db = kyselyOn(database) as Kysely<Worked>
    await worksAsCharged(db, sqliteStore({ database, db }), 4)
  })
})
