import { postgresStore, quotaSchemaSql } from '@scoregw/quota-sql'
import pg from 'pg'
import { type RateLimiterAbstract, RateLimiterPostgres } from 'rate-limiter-flexible'
import type { Decider } from '../deciders/decider.ts'
import { COST, type LimiterOptions, oneLimit, sixLimits } from '../deciders/flexible.ts'
import { USUAL } from '../traffic/ordinary.ts'
import type { Traffic } from '../traffic/traffic.ts'
import { quotasFor } from './decider.ts'

export const ON_POSTGRES = 'quota on PostgreSQL: six counters'

/** All deciders; the others are compared with the first. Each has a separate pool. */
export async function postgresDeciders(url: string): Promise<Decider[]> {
  await prepareDatabase(url)
  const flexible = new pg.Pool({ connectionString: url, max: 10 })
  const make = (options: LimiterOptions): Promise<RateLimiterAbstract> =>
    new Promise((resolve, reject) => {
      const all = { ...options, storeClient: flexible, storeType: 'pool', tableName: 'flexible' }
      const limiter: RateLimiterAbstract = new RateLimiterPostgres(all, (error?: Error) =>
        error === undefined || error === null ? resolve(limiter) : reject(error),
      )
    })
  const [one, six] = [await oneLimit(make), await sixLimits(make)]
  const [ours] = (await quotasOn([url], [USUAL])) as [Decider]
  return [
    floor(url),
    { ...ours, name: ON_POSTGRES },
    { name: 'rate-limiter-flexible on PostgreSQL: one limit', ...one, stop: () => undefined },
    { name: 'rate-limiter-flexible on PostgreSQL: six limits, two unions', ...six, stop: () => flexible.end() },
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
export async function quotasOn(urls: readonly string[], traffic: readonly Traffic[]): Promise<Decider[]> {
  const pools = urls.map((connectionString) => new pg.Pool({ connectionString, max: 2, pipeline: true }))
  const deciders = await quotasFor(traffic, 'PostgreSQL', (index) =>
    postgresStore({ pool: pools[index] as pg.Pool, deadlineMs: 10_000 }),
  )
  return deciders.map((decider, index) => ({
    ...decider,
    async stop() {
      await decider.stop()
      await pools[index]?.end()
    },
  }))
}
