import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { PostgresServer } from '@scoregw/postgres-server'
import type { Limiter } from '../fleet/backend.ts'
import { OURS, OURS_SIX } from '../fleet/limits.ts'
import { FLOOR, ours, postgres, startServer } from '../fleet/postgres.ts'
import { progress } from '../print.ts'
import { atMost, type Findings, type Instructions, resultOf } from '../report.ts'

/** So many rows fill pages. Each update then removes a row's former version, as on any server in use. */
const USERS = 1_000
/** A backend plans a named statement anew for its first calls. */
const WARM_UP = 20
/** Calls whose instructions are counted. What a backend does besides differs by up to ten million. */
const CALLS = 1_000

/** At most how many upserts one caller's decision costs a backend. */
const GOALS = [
  [OURS, 1.6],
  [OURS_SIX, 3.8],
] as const

/** Each with one connection, so that one backend does everything. */
const LIMITERS = { ...postgres.limiters, [OURS]: ours('one', 1), [OURS_SIX]: ours('six', 1) }

/** The contestants of suite `fleet` on a PostgreSQL under callgrind, with one caller. */
export async function countOnPostgres(quick: boolean): Promise<Instructions[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-callgrind-'))
  // The server has a user of its own.
  await chmod(folder, 0o777)
  // Each backend writes its counts when it ends.
  const under = ['valgrind', '--tool=callgrind', `--callgrind-out-file=${join(folder, '%p')}`]
  const { server, address } = await startServer({ under, settings: { autovacuum: 'off', jit: 'off' } })
  const found: Instructions[] = []
  try {
    for (const [name, open] of Object.entries(LIMITERS)) {
      progress(`PostgreSQL, ${name}`)
      /** The instructions of a backend that serves so many calls, or none for so long. */
      const count = async (calls: number, idleMs?: number): Promise<{ instructions: number; tookMs: number }> => {
        const limiter = await open(address)
        await made(limiter, WARM_UP)
        const from = performance.now()
        await (idleMs === undefined ? made(limiter, calls) : setTimeout(idleMs))
        const tookMs = performance.now() - from
        const backends = await backendsOf(server)
        await limiter.close()
        const counts = await Promise.all(backends.map((pid) => countOf(join(folder, pid))))
        return { instructions: counts.reduce((sum, each) => sum + each, 0), tookMs }
      }
      await count(quick ? 0 : 2 * USERS)
      const calls = quick ? 5 : CALLS
      const busy = await count(calls)
      // What a store does by a timer isn't the calls'.
      const idle = await count(0, busy.tookMs)
      const perDecision = (busy.instructions - idle.instructions) / calls
      found.push({ name: onPostgres(name), perDecision, decisionsACall: 1 })
    }
  } finally {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
  return found
}

export function targetsOnPostgres(found: readonly Instructions[]): Findings['targets'] {
  const of = (name: string): number => resultOf(found, onPostgres(name)).perDecision
  return GOALS.map(([name, most]) => {
    return atMost(`instructions of a PostgreSQL backend, ${name}, of an upsert`, most, of(name) / of(FLOOR))
  })
}

function onPostgres(name: string): string {
  return `PostgreSQL, ${name}, 1 caller`
}

let next = 0

async function made({ decide }: Limiter, calls: number): Promise<void> {
  for (let n = 0; n < calls; n++) await decide(`user-${next++ % USERS}`)
}

/** The processes of open connections, except this one's own. */
async function backendsOf(server: PostgresServer): Promise<string[]> {
  const rows = await server.sql(
    "select pid::text from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()",
  )
  return rows.map(({ pid }) => String(pid))
}

/** Reads what a process has counted, once it has ended. */
async function countOf(file: string): Promise<number> {
  for (;;) {
    const text = await readFile(file, 'latin1').catch(() => '')
    const found = /^totals: (\d+)/m.exec(text)
    if (found !== null) return Number(found[1])
    await setTimeout(20)
  }
}
