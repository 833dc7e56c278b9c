import { type PostgresServer, startPostgres } from '@scoregw/postgres-server'
import { type Decider, decide, named, ratesOf, stopping } from '../deciders/decider.ts'
import { description } from '../memory/users.ts'
import { atLeast, type Findings, type Rate, resultOf } from '../report.ts'
import type { RoundOptions } from '../rounds.ts'
import { NEW_SUBJECTS } from '../traffic/attacks.ts'
import { ORDINARY } from '../traffic/ordinary.ts'
import * as postgres from './on-postgres.ts'
import * as sqlite from './on-sqlite.ts'
import { withinDeciders } from './within-postgres.ts'

const { ON_POSTGRES } = postgres
const { ON_SQLITE } = sqlite
const CALLERS = [1, 64, 512]
/** Traffic that is measured on each database. */
const TRAFFIC = [...ORDINARY, NEW_SUBJECTS]
/** Callers of ordinary traffic. */
const ORDINARY_CALLERS = 64

/** Why goals are missed. */
const BECAUSE = {
  lone: 'a statement that opens windows, makes rows and leaves its number for a lost answer takes longer to begin than an upsert',
  batch: 'every user has a row, which PostgreSQL finds, guards and writes in a third of the time of an upsert',
  sqlite: 'every user has a row, which is read and written',
} as const

const UNSEEN = 'quota on PostgreSQL: subjects never seen before, 64 callers'

/**
 * Decisions by one PostgreSQL with synced commits, and by SQLite files, with six counters each. Also purchases that are
 * charged within their transactions.
 */
export async function sql(quick: boolean): Promise<Findings> {
  console.log(`sql: six counters a decision, ${description}, one process and one server or file`)
  const server = await startPostgres({ durable: true, settings: { max_connections: '200' } })
  const files = new sqlite.SqliteFiles()
  const options = quick ? { rounds: 1, roundMs: 20, warmUpMs: 20 } : { rounds: 7, roundMs: 250, warmUpMs: 500 }
  try {
    const groups = [
      await postgres.postgresDeciders(await server.createDatabase()),
      await sqlite.sqliteDeciders(files),
      await withinDeciders(await server.createDatabase()),
    ]
    const results: Rate[] = []
    for (const deciders of groups) results.push(...(await measured(deciders, CALLERS, options)))
    const ordinary = [
      ...(await measured(await ordinaryOnPostgres(server), [ORDINARY_CALLERS], options)),
      ...(await measured(await ordinaryOnSqlite(files), [ORDINARY_CALLERS], options)),
    ]
    const ratio = (name: string, callers: number): number => resultOf(results, named(name, callers)).ratio
    const targets = [
      atLeast('PostgreSQL, 64 callers, of an upsert', 3, ratio(ON_POSTGRES, 64), BECAUSE.batch),
      atLeast('PostgreSQL, 512 callers, of an upsert', 4, ratio(ON_POSTGRES, 512), BECAUSE.batch),
      atLeast('PostgreSQL, a lone caller, of an upsert', 0.45, ratio(ON_POSTGRES, 1), BECAUSE.lone),
      atLeast('SQLite, 64 callers, of an UPDATE', 0.5, ratio(ON_SQLITE, 64), BECAUSE.sqlite),
      atLeast(`${UNSEEN}, of an upsert`, 1.6, resultOf(ordinary, UNSEEN).ratio),
    ]
    return { results, ordinary, targets }
  } finally {
    files.remove()
    await server.stop()
  }
}

/** Compares some deciders with the first of them, and stops them. */
function measured(deciders: readonly Decider[], callers: readonly number[], options: RoundOptions): Promise<Rate[]> {
  return stopping(deciders, async () => {
    // Creates every user's counters before the measurement.
    for (const decider of deciders) await decide(decider, 64, { durationMs: 3 * options.warmUpMs })
    return ratesOf(deciders, callers, options)
  })
}

async function ordinaryOnSqlite(files: sqlite.SqliteFiles): Promise<Decider[]> {
  return [sqlite.floor(files), ...(await sqlite.quotasOn(files, TRAFFIC))]
}

async function ordinaryOnPostgres(server: PostgresServer): Promise<Decider[]> {
  const [plain = '', ...urls] = await databases(server, 1 + TRAFFIC.length)
  return [postgres.floor(plain), ...(await postgres.quotasOn(urls, TRAFFIC))]
}

async function databases(server: PostgresServer, count: number): Promise<string[]> {
  const urls: string[] = []
  for (let index = 0; index < count; index++) {
    const url = await server.createDatabase()
    await postgres.prepareDatabase(url)
    urls.push(url)
  }
  return urls
}
