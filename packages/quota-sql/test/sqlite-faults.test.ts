import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createQuota } from '@scoregw/quota'
import { scoreGatewayPolicy } from '@scoregw/quota/score-gateway'
import { isNotDone, type SyncCounters } from '@scoregw/quota/store'
import { ownTime } from '@scoregw/server-kit'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  quotaSchemaSql,
  type SqliteConnection,
  type SqliteStatement,
  sqliteStore,
  syncSqliteStore,
} from '../src/index.ts'
import { ONE, SCHEMA, take, used } from './support/counting.ts'
import { connectTo } from './support/sqlite.ts'

const DEADLINE_MS = 200
/** For what comes when another process is done. */
const PATIENT_MS = 60_000
/** For work that a timer starts and that is done a few turns later. */
const SLACK_MS = 50

let files = 0

/** A connection that is closed after the test. */
function connect(path: string, journal?: 'DELETE'): ReturnType<typeof connectTo> {
  const database = connectTo(path, journal)
  onTestFinished(() => void database.close())
  return database
}

/** A file with the tables, which goes with the test. */
function newFile(journal?: 'DELETE'): string {
  const path = join(tmpdir(), `quota-faults-${process.pid}-${files++}.sqlite`)
  onTestFinished(() => {
    for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true })
  })
  connect(path, journal).exec(quotaSchemaSql({ dialect: 'sqlite' }))
  return path
}

function takeSync(counters: SyncCounters): unknown {
  return counters.take({ subject: 'u', set: 0, quotas: { layers: [0, 1], limits: [9, 9] }, costs: ONE })
}

const errorOf = async (call: () => unknown): Promise<Error & { code?: unknown }> => {
  try {
    await call()
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error('it was answered')
}

describe('SQLite faults', () => {
  it('reads don’t wait while another process writes the file', async () => {
    const path = newFile()
    const [database, other] = [connect(path), connect(path)]
    const counters = sqliteStore({ database, deadlineMs: DEADLINE_MS }).open(SCHEMA)
    await take(counters, 'u')
    other.exec('begin immediate')
    expect(await used(counters, 'u')).toEqual([1, 1])
    expect((await errorOf(() => take(counters, 'u'))).code).toBe('store_error')
    other.exec('rollback')
    await take(counters, 'u')
    expect(await used(counters, 'u')).toEqual([2, 2])
  })

  it('a read-only file rejects immediately, charges nothing, and the failure policy decides', async () => {
    const path = newFile()
    const database = connect(path)
    database.pragma('query_only = on')
    const store = sqliteStore({ database })
    expect((await errorOf(() => takeSync(syncSqliteStore({ database }).open(SCHEMA)))).code).toBe('store_error')
    const error = await errorOf(() => take(store.open(SCHEMA), 'u'))
    expect([error.code, isNotDone(error)]).toEqual(['store_error', true])
    const policy = scoreGatewayPolicy()
    const quota = createQuota({ policy, store, failurePolicy: { read: 'open' } })
    expect(await quota.consume({ subject: 'u', operation: 'read' })).toMatchObject({
      allowed: true,
      source: 'fallback',
    })
    expect(await used(sqliteStore({ database: connect(path) }).open(SCHEMA), 'u')).toEqual([0, 0])
    await quota.close()
  })

  it('a file locked by another process is waited for until the deadline, then used again', async () => {
    const path = newFile()
    const counters = sqliteStore({ database: connect(path), deadlineMs: DEADLINE_MS }).open(SCHEMA)
    const other = connect(path)
    other.exec('begin immediate')
    const from = ownTime()
    let ticks = 0
    const ticking = setInterval(() => ticks++, 5)
    const error = await errorOf(() => take(counters, 'u'))
    clearInterval(ticking)
    expect([error.code, isNotDone(error)]).toEqual(['store_error', true])
    expect(ownTime() - from).toBeLessThan(DEADLINE_MS + SLACK_MS)
    // Other work of this process went on: no timer runs while a call blocks it.
    expect(ticks).toBeGreaterThan(0)
    other.exec('rollback')
    expect((await take(counters, 'u')).outcome).toBe('admitted')
    expect(await used(counters, 'u')).toEqual([1, 1])
  })

  it('a commit waits for a reader of a file without a write-ahead log, and is charged once', async () => {
    const path = newFile('DELETE')
    const [database, reader] = [connect(path, 'DELETE'), connect(path, 'DELETE')]
    const counters = sqliteStore({ database, deadlineMs: DEADLINE_MS }).open(SCHEMA)
    reader.exec('begin; select count(*) from quota_rows')
    const error = await errorOf(() => take(counters, 'u'))
    expect([error.code, isNotDone(error)]).toEqual(['store_error', true])
    const exec = (text: string): unknown => {
      // It has tried, and did not get through.
      if (text === 'rollback') reader.exec('commit')
      return database.exec(text)
    }
    const connection = { exec, prepare: database.prepare.bind(database) }
    const patient = sqliteStore({ database: connection, deadlineMs: PATIENT_MS }).open(SCHEMA)
    expect((await take(patient, 'u')).outcome).toBe('admitted')
    expect(await used(patient, 'u')).toEqual([1, 1])
  })

  it('a commit that SQLite refuses may have been made', async () => {
    const database = connect(newFile())
    const exec = (text: string): unknown => {
      if (text === 'commit') throw new Error('disk I/O error')
      return database.exec(text)
    }
    const counters = sqliteStore({ database: { exec, prepare: database.prepare.bind(database) } }).open(SCHEMA)
    const error = await errorOf(() => take(counters, 'u'))
    expect([error.code, isNotDone(error)]).toEqual(['store_error', false])
  })

  it('a sweep of a file that another process has for itself waits until the deadline', async () => {
    const path = newFile('DELETE')
    const [database, other] = [connect(path, 'DELETE'), connect(path, 'DELETE')]
    let waits = 0
    const prepare = (text: string): SqliteStatement => {
      const statement = database.prepare(text)
      const all = (...values: readonly unknown[]): unknown => {
        try {
          return statement.all(...values)
        } catch (error) {
          waits++
          // It has tried, and did not get through.
          other.exec('rollback')
          throw error
        }
      }
      return { all, run: statement.run.bind(statement) }
    }
    const of = (connection: SqliteConnection, deadlineMs: number) =>
      sqliteStore({ database: connection, deadlineMs, synchronous: 'full' }).open(SCHEMA).holds
    const patient = of({ exec: database.exec.bind(database), prepare }, PATIENT_MS)
    const hasty = of(database, DEADLINE_MS)
    other.exec('begin exclusive')
    expect((await errorOf(() => hasty.sweep())).message).toContain('another process is writing')
    expect(await patient.sweep()).toEqual({ ended: [], open: 0 })
    expect(waits).toBe(1)
  })

  it('a call has its own settings of the connection, and gives them back', async () => {
    const database = connect(newFile())
    const run: string[] = []
    const exec = (text: string): unknown => {
      run.push(text)
      return database.exec(text)
    }
    const counters = sqliteStore({
      database: { exec, prepare: database.prepare.bind(database) },
      synchronous: 'full',
    }).open(SCHEMA)
    await take(counters, 'u')
    // Once more, with the tables known.
    run.length = 0
    await take(counters, 'u')
    expect(run).toEqual([
      'pragma busy_timeout = 0; pragma synchronous = full',
      'begin immediate',
      'commit',
      'pragma busy_timeout = 5000; pragma synchronous = 0',
    ])
  })

  it('a file locked while another process deletes old rows is used again afterwards', async () => {
    const path = newFile()
    const database = connect(path)
    database.pragma('busy_timeout = 0')
    const counters = syncSqliteStore({ database }).open(SCHEMA)
    const other = connect(path)
    // One call in 64 deletes old rows.
    for (let call = 1; call < 64; call++) takeSync(counters)
    other.exec('begin immediate')
    expect((await errorOf(() => takeSync(counters))).code).toBe('store_error')
    other.exec('rollback')
    expect(takeSync(counters)).toBeDefined()
  })

  it('a closed file and missing tables are reported with the remedy', async () => {
    const database = connect(newFile())
    const counters = sqliteStore({ database }).open(SCHEMA)
    database.exec('drop table quota_rows')
    const error = await errorOf(() => take(counters, 'u'))
    expect([error.code, isNotDone(error)]).toEqual(['store_error', true])
    expect(error.message).toContain('run the migrations')
    database.close()
    expect((await errorOf(() => take(counters, 'u'))).code).toBe('store_error')
  })
})
