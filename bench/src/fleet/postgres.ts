import { readFileSync } from 'node:fs'
import { type PostgresOptions, type PostgresServer, startPostgres } from '@scoregw/postgres-server'
import { postgresStore, quotaSchemaSql } from '@scoregw/quota-sql'
import pg from 'pg'
import { RateLimiterPostgres } from 'rate-limiter-flexible'
import type { Admit } from '../deciders/decider.ts'
import { flexibleOne, flexibleSix, type LimiterOptions, whenReady } from '../deciders/flexible.ts'
import type { Backend, Limiter } from './backend.ts'
import { FLEXIBLE, FLEXIBLE_SIX, limiterOf, OURS, OURS_SIX, oneLimit, ourLimiter, sixLimits } from './limits.ts'

export const FLOOR = 'an upsert of one counter'
const UPSERT = `insert into floor values ($1, 1)
  on conflict (key) do update set points = floor.points + excluded.points returning points`

export const postgres: Backend = {
  goals: [
    { name: 'server for one limit, of an upsert', most: 1.8, of: [OURS, FLOOR], cost: 'server' },
    { name: 'server for six limits, of an upsert', most: 4, of: [OURS_SIX, FLOOR], cost: 'server' },
    { name: 'Node for one limit, of an upsert', most: 2.5, of: [OURS, FLOOR], cost: 'node' },
    { name: 'Node for six limits, of an upsert', most: 3.5, of: [OURS_SIX, FLOOR], cost: 'node' },
  ],
  async start() {
    // Each process has up to a dozen connections.
    const { server, address } = await startServer({ durable: true, settings: { max_connections: '400' } })
    return { address, cpuUs: await cpuOf(server), stop: () => server.stop() }
  },
  limiters: {
    [FLOOR]: on((pool) => async (user) => {
      return (await pool.query({ name: 'floor', text: UPSERT, values: [user] })).rowCount === 1
    }),
    [OURS]: ours('one'),
    [FLEXIBLE]: on((pool) => flexibleOne((options) => new RateLimiterPostgres(flexibleOptions(pool, options)), 1)),
    [OURS_SIX]: ours('six'),
    [FLEXIBLE_SIX]: on((pool) => flexibleSix((options) => new RateLimiterPostgres(flexibleOptions(pool, options)), 1)),
  },
}

/** Starts a server with the tables of all limiters. */
export async function startServer(options: PostgresOptions): Promise<{ server: PostgresServer; address: string }> {
  const server = await startPostgres(options)
  const address = await server.createDatabase()
  const admin = poolOf(address)
  await admin.query('create table floor (key text primary key, points bigint not null)')
  for (const prefix of ['one', 'six']) await admin.query(quotaSchemaSql({ dialect: 'postgres', prefix }))
  // One process makes the table, since all at once would fail.
  const made = flexibleOptions(admin, { keyPrefix: 'made', points: 1, duration: 1 })
  await whenReady((ready) => new RateLimiterPostgres({ ...made, tableCreated: false }, ready))
  await admin.end()
  return { server, address }
}

/** Its connections stay open between turns. */
function poolOf(connectionString: string, options: pg.PoolConfig = {}): pg.Pool {
  return new pg.Pool({ connectionString, max: 6, idleTimeoutMillis: 0, ...options })
}

function on(make: (pool: pg.Pool) => Admit | Promise<Admit>): (address: string) => Limiter {
  return (address) => {
    const pool = poolOf(address)
    return limiterOf(make(pool), () => pool.end())
  }
}

/** @param max how many connections it may open: one is enough without concurrent calls */
export function ours(prefix: 'one' | 'six', max = 2): (address: string) => Limiter {
  return (address) => {
    const pool = poolOf(address, { max, pipeline: true })
    const store = postgresStore({ pool, prefix, deadlineMs: 10_000 })
    return ourLimiter(prefix === 'one' ? oneLimit(store) : sixLimits(store), () => pool.end())
  }
}

function flexibleOptions(storeClient: pg.Pool, options: LimiterOptions) {
  const table = { storeType: 'pool', tableName: 'flexible', tableCreated: true, clearExpiredByTimeout: false }
  return { storeClient, ...table, ...options }
}

/** The processor time of all processes of a server so far, in microseconds, as Linux counts it. */
async function cpuOf(server: PostgresServer): Promise<() => Promise<number>> {
  const [{ pid } = {}] = await server.sql("select split_part(pg_read_file('postmaster.pid'), chr(10), 1) as pid")
  // What ended processes used stays in the sum.
  const used = new Map<string, number>()
  return async () => {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
    for (const each of [String(pid), ...children]) used.set(each, nanosecondsOf(each) ?? used.get(each) ?? 0)
    return [...used.values()].reduce((sum, each) => sum + each, 0) / 1_000
  }
}

/** `undefined` if the process has just ended. */
function nanosecondsOf(pid: string): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ', 1)[0])
  } catch {
    return undefined
  }
}
