import { startPostgres } from '@scoregw/postgres-server'
import { description, names as USERS } from '../memory/users.ts'
import { atLeast, type Findings, type Rate, resultOf } from '../report.ts'
import { type Contestant, interleave } from '../rounds.ts'
import type { SqlDecider } from './decider.ts'
import { ON_POSTGRES, postgresDeciders } from './on-postgres.ts'
import { ON_SQLITE, sqliteDeciders } from './on-sqlite.ts'
import { withinDeciders } from './within-postgres.ts'

const CALLERS = [1, 64, 512]

/** What is known of goals that are missed. */
const BECAUSE = {
  lone: 'a transaction is begun, named for whoever may have to ask what became of it, and committed: two round trips',
  batch: 'every user has a row, which PostgreSQL finds, compares and writes in a fifth of the time of an upsert',
  sqlite: 'a bare transaction that reads and writes a row for each user has 0.48 of an UPDATE of one row by itself',
} as const

/**
 * Decisions by one PostgreSQL, whose commits reach the disk, and by SQLite files; six counters each. And purchases that are
 * charged within their transactions.
 */
export async function sql(quick: boolean): Promise<Findings> {
  console.log(`sql: six counters a decision, ${description}, one process and one server or file`)
  const server = await startPostgres({ durable: true })
  const groups = [
    await postgresDeciders(await server.createDatabase()),
    await sqliteDeciders(),
    await withinDeciders(await server.createDatabase()),
  ]
  try {
    const options = quick ? { rounds: 1, roundMs: 20, warmUpMs: 20 } : { rounds: 7, roundMs: 250, warmUpMs: 500 }
    const results: Rate[] = []
    for (const deciders of groups) {
      // Every user's counters are there before anything is measured.
      for (const decider of deciders) await decide(decider, 64, quick ? 50 : 1_500)
      for (const callers of CALLERS) {
        const contestants = deciders.map((decider) => contestant(decider, callers))
        results.push(...(await interleave(contestants, options)))
      }
    }
    const ratio = (name: string, callers: number): number => resultOf(results, named(name, callers)).ratio
    const targets = [
      atLeast('PostgreSQL, 64 callers, of an upsert', 3, ratio(ON_POSTGRES, 64), BECAUSE.batch),
      atLeast('PostgreSQL, 512 callers, of an upsert', 10, ratio(ON_POSTGRES, 512), BECAUSE.batch),
      atLeast('PostgreSQL, a lone caller, of an upsert', 0.4, ratio(ON_POSTGRES, 1), BECAUSE.lone),
      atLeast('SQLite, 64 callers, of an UPDATE', 0.5, ratio(ON_SQLITE, 64), BECAUSE.sqlite),
    ]
    return { results, targets }
  } finally {
    for (const decider of groups.flat()) await decider.stop()
    await server.stop()
  }
}

function named(name: string, callers: number): string {
  return `${name}, ${callers} ${callers === 1 ? 'caller' : 'callers'}`
}

function contestant(decider: SqlDecider, callers: number): Contestant {
  return {
    name: named(decider.name, callers),
    perSecondOver: (durationMs) => decide(decider, callers, durationMs),
  }
}

/** Decisions a second of callers who ask as soon as they were answered. Everybody must be admitted. */
async function decide({ name, admit }: SqlDecider, callers: number, durationMs: number): Promise<number> {
  const startedAt = performance.now()
  let decisions = 0
  const call = async (): Promise<void> => {
    while (performance.now() - startedAt < durationMs) {
      const user = USERS[decisions++ % USERS.length] as string
      if (!(await admit(user))) throw new Error(`${name} did not admit ${user}`)
    }
  }
  await Promise.all(Array.from({ length: callers }, call))
  return decisions / ((performance.now() - startedAt) / 1000)
}
