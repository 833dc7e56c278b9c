import { fork } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgresTests } from '@scoregw/postgres-server'
import type { Quota } from '@scoregw/quota'
import type { Kysely } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import { postgresStore, quotaSchemaSql, sqliteStore } from '../src/index.ts'
import { TestDatabase } from './support/database.ts'
import { kyselyOnPool } from './support/pool.ts'
import { connectTo, kyselyOn } from './support/sqlite.ts'
import { doneAndCharged, quotaOn, WORK_TABLE, type Worked } from './support/work.ts'

const deep = process.env.QUOTA_TEST_DEEP === '1'
/** Processes that are killed; each does more than a hundred pieces, most of them with a transaction open when it ends. */
const KILLS = deep ? 100 : 1
const PIECES_A_KILL = 100
const SEED = Number(process.env.QUOTA_TEST_SEED ?? Date.now() % 1e9)
const TIMEOUT_MS = deep ? 3_600_000 : 60_000

interface Place {
  /** What a worker is told to find it by. */
  readonly address: string
  readonly db: Kysely<Worked>
  readonly quota: Quota<'work'>
  /** Resolves when nothing of a process is left that was killed. */
  gone(name: string): Promise<void>
}

/** Kills one worker after the other in the middle of its transactions, and looks whether work and charges agree. */
async function killed({ address, db, quota, gone }: Place): Promise<void> {
  let least = 0
  for (let round = 0; round < KILLS; round++) {
    const name = `worker ${round}`
    const seed = SEED + round
    const child = fork(new URL('./support/worker.ts', import.meta.url), [address, String(seed), name], {
      execArgv: ['--conditions=@scoregw/source', '--import=tsx'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    let told = 0
    const enough = new Promise<void>((resolve, reject) => {
      child.on('exit', (code) => reject(new Error(`the worker ended by itself with ${code}, seed ${seed}`)))
      child.on('message', (count) => {
        told = Number(count)
        // Not in step with anything that the worker does.
        if (told >= PIECES_A_KILL + (seed % 17)) setTimeout(resolve, seed % 5)
      })
    })
    await enough
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
    await gone(name)
    least += told
    const { done, charged } = await doneAndCharged(db, quota)
    expect(charged, `after ${round + 1} kills, seed ${seed}`).toEqual(done)
    expect(done.reduce((sum, each) => sum + each, 0)).toBeGreaterThanOrEqual(least)
  }
}

describe.runIf(postgresTests)('processes that are killed within transactions on PostgreSQL', () => {
  const database = new TestDatabase()

  it(`${KILLS} of them: what was done is what was charged`, { timeout: TIMEOUT_MS }, async () => {
    const pool = database.pool()
    await pool.query(WORK_TABLE)
    const store = postgresStore({ pool: database.pool(), deadlineMs: 5_000 })
    const quota = quotaOn(store, 1e9)
    await killed({
      address: database.url,
      db: kyselyOnPool(pool),
      quota,
      async gone(name) {
        const left = async (): Promise<number> =>
          (await pool.query('select 1 from pg_stat_activity where application_name = $1', [name])).rowCount ?? 0
        await expect.poll(left, { timeout: 10_000 }).toBe(0)
      },
    })
    await quota.close()
  })
})

describe('processes that are killed within transactions on SQLite', () => {
  it(`${KILLS} of them: what was done is what was charged`, { timeout: TIMEOUT_MS }, async () => {
    const address = join(tmpdir(), `quota-kills-${process.pid}.sqlite`)
    onTestFinished(() => {
      for (const suffix of ['', '-wal', '-shm']) rmSync(address + suffix, { force: true })
    })
    const database = connectTo(address)
    database.exec(`${quotaSchemaSql({ dialect: 'sqlite' })}; ${WORK_TABLE}`)
    const db = kyselyOn(database) as Kysely<Worked>
    const quota = quotaOn(sqliteStore({ database, db, deadlineMs: 5_000 }), 1e9)
    await killed({ address, db, quota, gone: () => Promise.resolve() })
    await quota.close()
  })
})
