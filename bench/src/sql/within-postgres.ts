import { postgresStore, quotaSchemaSql } from '@scoregw/quota-sql'
import { Kysely, PostgresDialect, sql, type Transaction } from 'kysely'
import pg from 'pg'
import type { Decider } from '../deciders/decider.ts'
import { USUAL } from '../traffic/ordinary.ts'
import { engineFor } from '../traffic/traffic.ts'

type Work = Transaction<unknown>

/** A purchase, and the place in its transaction where it may be charged. */
async function buy(transaction: Work, user: string, charge: (place: 'first' | 'last') => Promise<void>): Promise<void> {
  await sql`insert into buyers values (${user}, 0) on conflict (id) do update set bought = buyers.bought`.execute(
    transaction,
  )
  await charge('first')
  await sql`update buyers set bought = bought + 1 where id = ${user}`.execute(transaction)
  await sql`insert into tickets (buyer) values (${user})`.execute(transaction)
  await charge('last')
}

/** Purchases of different users, each one transaction: what charging them costs, and where. */
export async function withinDeciders(url: string): Promise<Decider[]> {
  const [work, counters] = [pool(url, { max: 10 }), pool(url, { max: 2, pipeline: true })]
  await work.query(quotaSchemaSql({ dialect: 'postgres' }))
  await work.query(
    'create table buyers (id text primary key, bought integer not null); create table tickets (buyer text)',
  )
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: work }) })
  const quota = await engineFor(USUAL, postgresStore({ pool: counters, deadlineMs: 10_000 }))
  const request = (user: string) => USUAL.request(user, 0)
  const bought = async (user: string, charge: (transaction: Work, place: 'first' | 'last') => Promise<void>) => {
    await db.transaction().execute((transaction) => buy(transaction, user, (place) => charge(transaction, place)))
    return true
  }
  const within = (at: 'first' | 'last') => (user: string) =>
    bought(user, async (transaction, place) => {
      if (place === at) await quota.inTransaction(transaction).consume(request(user))
    })
  const free = (user: string) => bought(user, async () => undefined)
  const nothing = async (): Promise<void> => undefined
  return [
    { name: 'PostgreSQL: a purchase that is not charged', admit: free, stop: nothing },
    {
      name: 'a purchase that is charged before its transaction',
      admit: async (user) => (await quota.consume(request(user))).allowed && (await free(user)),
      stop: nothing,
    },
    { name: 'a purchase that is charged within it, first', admit: within('first'), stop: nothing },
    {
      name: 'a purchase that is charged within it, last',
      admit: within('last'),
      async stop() {
        await quota.close()
        await db.destroy()
        await counters.end()
      },
    },
  ]
}

/** A server that stops may end connections that are still closing. */
function pool(connectionString: string, config: { readonly max: number; readonly pipeline?: boolean }): pg.Pool {
  return new pg.Pool({ connectionString, ...config }).on('error', () => undefined)
}
