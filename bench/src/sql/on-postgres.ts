import { postgresStore, quotaSchemaSql } from '@scoregw/quota-sql'
import pg from 'pg'
import { type RateLimiterAbstract, RateLimiterPostgres } from 'rate-limiter-flexible'
import { COST, type LimiterOptions, oneLimit, quotaOn, type SqlDecider, sixLimits } from './decider.ts'

const FLOOR = 'PostgreSQL: one upsert of one counter'
export const ON_POSTGRES = 'quota on PostgreSQL: six counters'

/** All of them, the first the one to compare with; each on a pool of its own. */
export async function postgresDeciders(url: string): Promise<SqlDecider[]> {
  const pools: pg.Pool[] = []
  const pool = (config: { readonly max: number; readonly pipeline?: boolean }): pg.Pool => {
    const made = new pg.Pool({ connectionString: url, ...config })
    pools.push(made)
    return made
  }
  const admin = pool({ max: 1 })
  await admin.query(quotaSchemaSql({ dialect: 'postgres' }))
  await admin.query('create table floor (key text primary key, points bigint not null)')

  const plain = pool({ max: 10 })
  const text = `insert into floor values ($1, $2)
    on conflict (key) do update set points = floor.points + excluded.points returning points`
  const flexible = pool({ max: 10 })
  const make = (options: LimiterOptions): Promise<RateLimiterAbstract> =>
    new Promise((resolve, reject) => {
      const all = { ...options, storeClient: flexible, storeType: 'pool', tableName: 'flexible' }
      const limiter: RateLimiterAbstract = new RateLimiterPostgres(all, (error?: Error) =>
        error === undefined || error === null ? resolve(limiter) : reject(error),
      )
    })
  const [one, six] = [await oneLimit(make), await sixLimits(make)]
  const ours = quotaOn(postgresStore({ pool: pool({ max: 2, pipeline: true }), deadlineMs: 10_000 }))
  const nothing = async (): Promise<void> => undefined
  return [
    {
      name: FLOOR,
      admit: async (user) => Number((await plain.query({ name: 'floor', text, values: [user, COST] })).rowCount) === 1,
      stop: nothing,
    },
    { name: ON_POSTGRES, ...ours },
    { name: 'rate-limiter-flexible on PostgreSQL: one limit', ...one, stop: nothing },
    {
      name: 'rate-limiter-flexible on PostgreSQL: six limits, two unions',
      ...six,
      stop: async () => void (await Promise.all(pools.map((each) => each.end()))),
    },
  ]
}
