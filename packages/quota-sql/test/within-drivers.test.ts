import { postgresTests } from '@scoregw/postgres-server'
import { createQuota } from '@scoregw/quota'
import { drizzle } from 'drizzle-orm/node-postgres'
import { pgTable, text } from 'drizzle-orm/pg-core'
import postgres from 'postgres'
import { describe, expect, it, onTestFinished } from 'vitest'
import { postgresStore, sqlSettings } from '../src/index.ts'
import { TestDatabase } from './support/database.ts'
import { kyselyOnPool } from './support/pool.ts'

describe.runIf(postgresTests)('a transaction of another library', () => {
  const database = new TestDatabase()
  const orders = pgTable('orders', { subject: text(), item: text() })

  /** Two purchases an hour; the number is stored for the user. */
  async function engine(subject: string) {
    const pool = database.pool()
    const quota = createQuota({
      limits: {
        perHour: { by: 'user', limit: 9, per: '1h' },
        burst: { by: 'user', limit: 60, per: '1m', burst: 5 },
        all: { shared: 'shop', limit: 1_000, per: '1d' },
      },
      operations: { order: {} },
      store: postgresStore({ pool, deadlineMs: 5_000 }),
      settingsStore: sqlSettings({ db: kyselyOnPool(pool) }),
    })
    onTestFinished(() => quota.close())
    await quota.subjects.set(subject, { limits: { perHour: 2 } })
    await pool.query('create table if not exists orders (subject text, item text)')
    /** Charges an order in a transaction, and rolls it back if it's refused. */
    const charge = async (transaction: unknown) => {
      const { allowed } = await quota.inTransaction(transaction).consume({ subject, operation: 'order' })
      if (!allowed) throw new Error('wait')
    }
    const state = async () => [
      (await quota.status(subject)).limits.perHour?.used,
      (await pool.query('select item from orders where subject = $1', [subject])).rowCount,
    ]
    return { charge, state }
  }

  it('Drizzle’s is charged by the client that it runs on', async () => {
    const { charge, state } = await engine('ann')
    const client = await database.pool().connect()
    onTestFinished(() => client.release())
    const db = drizzle(client)
    const order = (item: string) =>
      db.transaction(async (transaction) => {
        await transaction.insert(orders).values({ subject: 'ann', item })
        await charge(client)
      })
    for (const item of ['a', 'b']) await order(item)
    await expect(order('c')).rejects.toThrow('wait')
    expect(await state()).toEqual([2, 2])
  })

  it('that of postgres.js is charged by an object with `query`', async () => {
    const { charge, state } = await engine('bob')
    const sql = postgres(database.url, { onnotice: () => undefined })
    onTestFinished(() => sql.end())
    const order = (item: string) =>
      sql.begin(async (transaction) => {
        await transaction`insert into orders values ('bob', ${item})`
        await charge({
          query: async (text: string, values: string[]) => ({ rows: await transaction.unsafe(text, values) }),
        })
      })
    for (const item of ['a', 'b']) await order(item)
    await expect(order('c')).rejects.toThrow('wait')
    expect(await state()).toEqual([2, 2])
  })
})
