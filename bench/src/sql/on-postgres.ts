import { postgresStore, quotaSchemaSql } from '@scoregw/quota-sql'
import pg from 'pg'
import { RateLimiterPostgres } from 'rate-limiter-flexible'
import type { Decider } from '../deciders/decider.ts'
import { COST, flexibleOne, flexibleSix, type LimiterOptions, whenReady } from '../deciders/flexible.ts'
import { USUAL } from '../traffic/ordinary.ts'
import { deciderFor, type Traffic } from '../traffic/traffic.ts'

export const ON_POSTGRES = 'quota on PostgreSQL: six counters'

/** All deciders; the others are compared with the first. Each has a separate pool. */
export async function postgresDeciders(url: string): Promise<Decider[]> {
  await prepareDatabase(url)
  const storeClient = new pg.Pool({ connectionString: url, max: 10 })
  const make = (options: LimiterOptions) =>
    whenReady(
      (ready) => new RateLimiterPostgres({ ...options, storeClient, storeType: 'pool', tableName: 'flexible' }, ready),
    )
  const [one, six] = [await flexibleOne(make), await flexibleSix(make)]
  const [ours] = (await quotasOn([url], [USUAL])) as [Decider]
  return [
    floor(url),
    { ...ours, name: ON_POSTGRES },
    { name: 'rate-limiter-flexible on PostgreSQL: one limit', admit: one, stop: () => undefined },
    { name: 'rate-limiter-flexible on PostgreSQL: six limits, two unions', admit: six, stop: () => storeClient.end() },
  ]
}

/** Creates the tables of the counters and of the floor. */
export async function prepareDatabase(url: string): Promise<void> {
  const admin = new pg.Client({ connectionString: url })
  await admin.connect()
  await admin.query(quotaSchemaSql({ dialect: 'postgres' }))
  await admin.query('create table floor (key text primary key, points bigint not null)')
  await admin.end()
}

export function floor(url: string): Decider {
  const pool = new pg.Pool({ connectionString: url, max: 10 })
  const text = `insert into floor values ($1, $2)
    on conflict (key) do update set points = floor.points + excluded.points returning points`
  return {
    name: 'PostgreSQL: one upsert of one counter',
    admit: async (user) => Number((await pool.query({ name: 'floor', text, values: [user, COST] })).rowCount) === 1,
    stop: () => pool.end(),
  }
}

/** An engine for each traffic, in a separate database. */
export function quotasOn(urls: readonly string[], traffic: readonly Traffic[]): Promise<Decider[]> {
  return Promise.all(
    traffic.map((each, index) => {
      const pool = new pg.Pool({ connectionString: urls[index], max: 2, pipeline: true })
      const store = postgresStore({ pool, deadlineMs: 10_000 })
      return deciderFor(each, { name: `quota on PostgreSQL: ${each.name}`, store, end: () => pool.end() })
    }),
  )
}
