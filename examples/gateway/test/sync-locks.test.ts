import { setImmediate } from 'node:timers/promises'
import { postgresTests } from '@scoregw/postgres-server'
import { systemClock } from '@scoregw/quota/store'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openDatabase } from '../src/db/connect.ts'
import { HttpError } from '../src/http/http-error.ts'
import { PlayerScores } from '../src/scores/player-scores.ts'
import { type SyncBody, syncBody } from '../src/sync/bodies.ts'
import { SyncService } from '../src/sync/sync-service.ts'
import { UserRepository } from '../src/users/user-repository.ts'
import { type TestDatabase, testDatabase } from './support/postgres.ts'
import { manyRecords } from './support/sync.ts'

const QQ = 20_002
/** PostgreSQL's code for a lock that wasn't to be had in time. */
const LOCK_NOT_AVAILABLE = '55P03'

describe.runIf(postgresTests)('two sync processes on one PostgreSQL', () => {
  it('writes of a player run one at a time while the account is linked and unlinked', async () => {
    const database = await testDatabase()
    const opened = [1, 2].map(() => openDatabase({ databaseUrl: database.url, dataDir: '' }))
    const databases = await Promise.all(opened)
    onTestFinished(() => void Promise.all(databases.map((db) => db.destroy())))
    const services = databases.map((db) => new SyncService(db, systemClock))
    const [db] = databases
    await new UserRepository(db!, systemClock).create({ id: 'u', name: 'u', role: 'player' })

    const codes = new Set<string>()
    const chunks = Array.from({ length: 8 }, (_, index) => manyRecords(300, 1_000 * index + 1))
    let left = chunks.length
    const pushes = chunks.map(async (records, index) => {
      for (let isStored = false; !isStored; ) {
        try {
          await services[index % 2]!.sync(syncBody.parse({ qq: QQ, records }))
          isStored = true
        } catch (error) {
          if (!(error instanceof HttpError)) throw error
          codes.add(error.code)
          await setImmediate()
        }
      }
      left--
    })
    const link = (qq: number | null) => db!.updateTable('users').set({ qq }).where('id', '=', 'u').execute()
    /** On a busy machine the pushes hold the account for longer than a statement waits. */
    const linkInTheEnd = (qq: number | null): Promise<unknown> =>
      link(qq).catch((error) => (error.code === LOCK_NOT_AVAILABLE ? linkInTheEnd(qq) : Promise.reject(error)))
    const links = (async () => {
      while (left > 0) {
        await linkInTheEnd(QQ)
        await services[0]!.adopt('u', QQ)
        await linkInTheEnd(null)
      }
    })()
    await Promise.all([...pushes, links])
    expect([...codes]).toEqual(['player_busy'])
    await link(QQ)
    await services[1]!.adopt('u', QQ)
    expect(await new PlayerScores(db!, { userId: 'u' }).count()).toBe(chunks.flat().length)
    expect(await new PlayerScores(db!, { qq: QQ }).count()).toBe(0)
  })

  it('a write of a player that another process is writing is rejected immediately, and others aren’t', async () => {
    const database = await testDatabase()
    const databases = await Promise.all([1, 2].map(() => openDatabase({ databaseUrl: database.url, dataDir: '' })))
    onTestFinished(() => void Promise.all(databases.map((db) => db.destroy())))
    const [one, two] = databases.map((db) => new SyncService(db, systemClock))
    const records = manyRecords(20)
    const pushOf = (qq: number): SyncBody => syncBody.parse({ qq, records })
    // The first write has the player's lock and waits for the row, while the others come.
    let first: Promise<unknown> | undefined
    await databases[1]!.transaction().execute(async (transaction) => {
      await transaction.insertInto('sync_players').values({ qq: QQ, turn: 1 }).execute()
      first = one!.sync(pushOf(QQ))
      await waitingForLock(database)
      await expect(two!.sync(pushOf(QQ))).rejects.toMatchObject({ code: 'player_busy', retryAfterSeconds: 1 })
      await two!.sync(pushOf(QQ + 1))
    })
    await first
    for (const qq of [QQ, QQ + 1]) expect(await new PlayerScores(databases[0]!, { qq }).count()).toBe(records.length)
  })

  it('a write that waits while the account is unlinked changes nothing in the account', async () => {
    const database = await testDatabase()
    const db = await openDatabase({ databaseUrl: database.url, dataDir: '' })
    onTestFinished(() => db.destroy())
    const service = new SyncService(db, systemClock)
    const users = new UserRepository(db, systemClock)
    await users.create({ id: 'u', name: 'u', role: 'player' })
    await db.updateTable('users').set({ qq: QQ }).where('id', '=', 'u').execute()
    let push: Promise<unknown> | undefined
    await db.transaction().execute(async (transaction) => {
      await transaction.updateTable('users').set({ qq: null }).where('id', '=', 'u').execute()
      push = service.sync(syncBody.parse({ qq: QQ, records: manyRecords(3) }))
      await waitingForLock(database)
    })
    await push
    expect(await new PlayerScores(db, { userId: 'u' }).count()).toBe(0)
    expect(await new PlayerScores(db, { qq: QQ }).count()).toBe(3)
  })
})

/** Until one connection waits for a lock. */
async function waitingForLock(database: TestDatabase): Promise<void> {
  const waiting =
    "select count(*)::int as count from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
  await expect.poll(async () => (await database.sql(waiting))[0]?.count).toBe(1)
}
