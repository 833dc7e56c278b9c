import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { postgresTests } from '@scoregw/postgres-server'
import { slowTests, testSeed } from '@scoregw/server-kit'
import type { Kysely } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import { postgresStore, quotaSchemaSql, sqliteStore } from '../src/index.ts'
import { TestDatabase } from './support/database.ts'
import { kyselyOnPool } from './support/pool.ts'
import { connectTo, kyselyOn } from './support/sqlite.ts'
import { doneAndCharged, quotaOn, WORK_TABLE, type Worked, type WorkQuota } from './support/work.ts'

const deep = process.env.QUOTA_TEST_DEEP === '1'
/** Processes that are killed at any time; each does more than a hundred pieces, most of them with a transaction open then. */
const KILLS = 100
const PIECES_A_KILL = 100
/** After how many charges a process dies between a charge and the end of its transaction. */
const CHARGES = deep ? [0, 1, 2, 3, 5, 8, 13, 21] : [3]
const TIMEOUT_MS = deep ? 3_600_000 : 60_000

interface Place {
  /** The address that a worker receives. */
  readonly address: string
  readonly db: Kysely<Worked>
  readonly quota: WorkQuota
  /** Resolves when nothing of a process is left that was killed. */
  gone(name: string): Promise<void>
}

function startWorker(...args: string[]): ChildProcess {
  const execArgv = ['--conditions=@scoregw/source', '--import=tsx']
  const child = fork(new URL('./support/worker.ts', import.meta.url), args, { execArgv })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

/** Work and charges have to agree, and to be at least the reported ones. */
async function agrees({ db, quota }: Place, least: number, when: string): Promise<void> {
  const { done, charged } = await doneAndCharged(db, quota)
  expect(charged, when).toEqual(done)
  expect(done.reduce((sum, [pieces]) => sum + pieces, 0)).toBeGreaterThanOrEqual(least)
}

/** Has one worker after the other die when it has charged and has yet to commit. */
async function dying(place: Place): Promise<void> {
  let least = 0
  for (const charges of CHARGES) {
    const name = `dies after ${charges}`
    const child = startWorker(place.address, String(testSeed + charges), name, String(charges))
    child.on('message', () => least++)
    const [, signal] = await once(child, 'close')
    expect(signal).toBe('SIGKILL')
    await place.gone(name)
    await agrees(place, least, `${name} charges, seed ${testSeed + charges}`)
  }
}

/** Kills one worker after the other in the middle of its transactions. */
async function killed(place: Place): Promise<void> {
  let least = 0
  for (let round = 0; round < KILLS; round++) {
    const name = `worker ${round}`
    const seed = testSeed + round
    const child = startWorker(place.address, String(seed), name)
    let reported = 0
    const enough = new Promise<void>((resolve, reject) => {
      child.on('exit', (code) => reject(new Error(`the worker ended by itself with ${code}, seed ${seed}`)))
      child.on('message', (count) => {
        reported = Number(count)
        // Not in step with anything that the worker does.
        if (reported >= PIECES_A_KILL + (seed % 17)) setTimeout(resolve, seed % 5)
      })
    })
    await enough
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
    await place.gone(name)
    least += reported
    await agrees(place, least, `after ${round + 1} kills, seed ${seed}`)
  }
}

describe.runIf(postgresTests && slowTests)('processes killed within transactions on PostgreSQL', () => {
  const database = new TestDatabase()
  const place = async (): Promise<Place> => {
    const pool = database.pool()
    await pool.query(`drop table if exists work; delete from quota_rows; ${WORK_TABLE}`)
    const quota = quotaOn(postgresStore({ pool: database.pool(), deadlineMs: 5_000 }), 1e9)
    onTestFinished(() => quota.close())
    return {
      address: database.url,
      db: kyselyOnPool(pool),
      quota,
      async gone(name) {
        const left = async (): Promise<number> =>
          (await pool.query('select 1 from pg_stat_activity where application_name = $1', [name])).rowCount ?? 0
        await expect.poll(left, { timeout: 15_000 }).toBe(0)
      },
    }
  }
  describeKills(place)
})

describe.runIf(slowTests)('processes killed within transactions on SQLite', () => {
  describeKills(async () => {
    const address = join(mkdtempSync(join(tmpdir(), 'quota-kills-')), 'work.sqlite')
    onTestFinished(() => rmSync(dirname(address), { recursive: true, force: true }))
    const database = connectTo(address)
    database.exec(`${quotaSchemaSql({ dialect: 'sqlite' })}; ${WORK_TABLE}`)
    const db = kyselyOn(database) as Kysely<Worked>
    const quota = quotaOn(sqliteStore({ database, db, deadlineMs: 5_000 }), 1e9)
    onTestFinished(() => quota.close())
    return { address, db, quota, gone: () => Promise.resolve() }
  })
})

function describeKills(place: () => Promise<Place>): void {
  it('a kill between a charge and the end of its transaction leaves charge and work consistent', {
    timeout: TIMEOUT_MS,
  }, async () => {
    await dying(await place())
  })

  it.runIf(deep)(
    `${KILLS} kills at random times leave charge and work consistent`,
    {
      timeout: TIMEOUT_MS,
    },
    async () => {
      await killed(await place())
    },
  )
}
