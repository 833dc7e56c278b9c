import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgresTests } from '@scoregw/postgres-server'
import { manualClock } from '@scoregw/quota-testkit'
import { slowTests } from '@scoregw/server-kit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type PostgresStore, postgresStore, quotaSchemaSql, type SqliteStore, sqliteStore } from '../src/index.ts'
import { TestDatabase } from './support/database.ts'
import { connectTo } from './support/sqlite.ts'
import { quotaOn } from './support/work.ts'

const TTL_MS = 30_000

/** Has a process take a hold and kills it; its three units have to be back at the hold's end, and not before. */
async function givesBack(
  address: string,
  store: PostgresStore | SqliteStore,
  clock: ReturnType<typeof manualClock>,
): Promise<void> {
  const quota = quotaOn(store, 100)
  onTestFinished(() => quota.close())
  const ended: unknown[] = []
  quota.on('holdEnded', ({ cost }) => ended.push(cost))
  const used = async () => Object.values((await quota.status('a')).limits).map((limit) => limit?.used)

  const args = [address, String(clock.now()), String(TTL_MS)]
  const execArgv = ['--conditions=@scoregw/source', '--import=tsx']
  const child = fork(new URL('./support/holder.ts', import.meta.url), args, { execArgv })
  onTestFinished(() => void child.kill('SIGKILL'))
  expect((await once(child, 'message'))[0]).toBe(clock.now() + TTL_MS)
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone

  clock.advance(TTL_MS - 1)
  await quota.holds.sweep()
  expect([await used(), ended]).toEqual([[2, 30, 400, 2, 30, 400], []])
  clock.advance(1)
  await quota.holds.sweep()
  expect([await used(), ended]).toEqual([[0, 0, 0, 0, 0, 0], [{ requests: 2, tokens: 30, money: 400 }]])
}

describe.runIf(postgresTests && slowTests)('a killed holder on PostgreSQL', () => {
  const database = new TestDatabase()

  it('every unit of a killed holder is given back on PostgreSQL when its hold ends', { timeout: 60_000 }, async () => {
    const clock = manualClock()
    const store = postgresStore({ pool: database.pool(), testClock: clock, deadlineMs: 5_000 })
    await givesBack(database.url, store, clock)
  })
})

describe.runIf(slowTests)('a killed holder on SQLite', () => {
  it('every unit of a killed holder is given back on SQLite when its hold ends', { timeout: 60_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'quota-holder-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const address = join(folder, 'holds.sqlite')
    const [clock, database] = [manualClock(), connectTo(address)]
    database.exec(quotaSchemaSql({ dialect: 'sqlite' }))
    await givesBack(address, sqliteStore({ database, clock, deadlineMs: 5_000 }), clock)
  })
})
