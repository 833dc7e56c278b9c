import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Kysely, sql } from 'kysely'
import Database from 'libsql'
import { describe, expect, it } from 'vitest'
import { GatewaySqliteDialect } from '../src/db/sqlite-dialect.ts'
import { ADMIN_TOKEN, ENTRY, sender, tempDir, USER_TOKEN } from './support/gateway.ts'
import { runGateway } from './support/process.ts'

const TOKENS = { DEMO_USER_TOKEN: USER_TOKEN, DEMO_ADMIN_TOKEN: ADMIN_TOKEN }

const POLL = { interval: 20, timeout: 10_000 }

/** The write lock of a gateway's file, as a backup or another process has it. */
function lockOf(dataDir: string): { free(): void } {
  const file = new Database(join(dataDir, 'gateway.sqlite'))
  file.exec('begin immediate')
  return {
    free() {
      file.exec('rollback')
      file.close()
    },
  }
}

async function lockable() {
  const dataDir = tempDir()
  const child = await runGateway(dataDir, TOKENS)
  const [, sync = ''] = /Score sync +(\S+)/.exec(child.stdout()) ?? []
  const [, charts = ''] = /Chart preview +(\S+)/.exec(child.stdout()) ?? []
  const send = sender(child.baseUrl)
  const upsert = async (dxScore: number) =>
    (await send('POST', '/v1/music/upsert', { body: { musicList: [{ ...ENTRY, dxScore }] } })).status
  const block = { overrides: { read: { '1h': 0 } } }
  const put = async () => (await send('PUT', '/admin/users/demo/quota', { token: ADMIN_TOKEN, body: block })).status
  const create = async () =>
    (await send('PUT', '/admin/users/second', { token: ADMIN_TOKEN, body: { role: 'player' } })).status
  const alive = () =>
    Promise.all([child.baseUrl, sync, charts].map(async (base) => (await fetch(`${base}/healthz`)).status))
  return { send, upsert, put, create, alive, lock: () => lockOf(dataDir) }
}

describe('a database file locked by another process', () => {
  it('all three services answer during the lock, and then the waiting requests', async () => {
    const { upsert, create, alive, lock } = await lockable()
    expect(await upsert(1)).toBe(200)
    const { free } = lock()
    const waiting: number[] = []
    // A charge, and a write that is none.
    const writes = [upsert(2), create()].map(async (answered) => waiting.push(await answered))
    for (let round = 0; round < 3; round++) expect(await alive()).toEqual([200, 200, 200])
    // Blocked for as long as the lock may be waited for, it would have answered these with 503 first.
    expect(waiting).toEqual([])
    free()
    await Promise.all(writes)
    expect(waiting.sort()).toEqual([200, 201])
  })

  it('a write gets 503 after its deadline and works when the file is free', async () => {
    const { send, upsert, put, alive, lock } = await lockable()
    const { free } = lock()
    expect(await Promise.all([upsert(1), put(), upsert(2), put()])).toEqual([503, 503, 503, 503])
    expect(await alive()).toEqual([200, 200, 200])
    free()
    await expect.poll(() => upsert(4), POLL).toBe(200)
    await expect.poll(put, POLL).toBe(200)
    expect((await send('GET', '/readyz', { token: null })).status).toBe(200)
  })

  it('statements that a library wrote as text wait too, and can be committed afterwards', async () => {
    const path = join(tempDir(), 'gateway.sqlite')
    const [file, other] = [new Database(path), new Database(path)]
    file.exec('create table counts (n integer)')
    const db = new Kysely<unknown>({ dialect: new GatewaySqliteDialect(file) })
    other.exec('begin immediate')
    let isDone = false
    const insert = sql`insert into counts values (1)`.execute(db).then(() => {
      isDone = true
    })
    // Refused immediately, it would have failed by now, and left its statement in progress.
    for (let turn = 0; turn < 20; turn++) await pause(1)
    expect(isDone).toBe(false)
    other.exec('rollback')
    await insert
    await db.transaction().execute((transaction) => sql`insert into counts values (2)`.execute(transaction))
    expect(file.prepare('select count(*) as n from counts').get()).toMatchObject({ n: 2 })
    await db.destroy()
    other.close()
  })
})
