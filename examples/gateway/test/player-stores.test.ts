import { postgresTests } from '@scoregw/postgres-server'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { type Gate, putGates, untouchedGate } from '../src/players/gates.ts'
import { type Item, putItems } from '../src/players/items.ts'
import { HOUR_MS, type TestGateway, testGateway } from './support/gateway.ts'
import { type TestDatabase, testDatabase } from './support/postgres.ts'
import { shared } from './support/shared.ts'

interface Place {
  readonly gateway: TestGateway
  readonly database?: TestDatabase | undefined
  readonly url?: string | undefined
}

async function onPostgres(): Promise<Place> {
  const database = await testDatabase()
  return { gateway: await testGateway({ env: { DATABASE_URL: database.url } }), database }
}

const item = (itemKind: Item['itemKind'], itemId: number, stock: number, isValid = true): Item => {
  return { itemKind, itemId, stock, isValid }
}

function playerSuite(open: () => Promise<Place>): void {
  const place = shared(open)

  /** A player without anything, and what he reads. */
  async function player(id: string) {
    const { app } = place().gateway.gateway
    await app.users.create({ id, name: id, role: 'player' })
    await app.tokens.add({ userId: id }, `gw_token-of-${id}`, 'test')
    const read = async (path: string) => {
      const { body } = await place().gateway.send('POST', path, { token: `gw_token-of-${id}` })
      return body.businessData
    }
    return { db: app.db, clock: app.clock, read }
  }

  it('items are listed by kind and id, overwritten, and separate for each player', async () => {
    const { db, clock, read } = await player('ann')
    const bob = await player('bob')
    const items = async (of = read) => (await of('/v1/user/item-list')).userItemList
    expect(await items()).toEqual([])
    await putItems(db, clock, 'ann', [item(15, 1, 2), item(2, 9, 1), item(2, 8, 1, false)])
    await putItems(db, clock, 'bob', [item(2, 9, 5)])
    expect(await items()).toEqual([item(2, 8, 1, false), item(2, 9, 1), item(15, 1, 2)])
    await putItems(db, clock, 'ann', [item(2, 9, 7, false), item(2, 8, 1)])
    expect(await items()).toEqual([item(2, 8, 1), item(2, 9, 7, false), item(15, 1, 2)])
    expect(await items(bob.read)).toEqual([item(2, 9, 5)])
  })

  it('ten gates are listed, with stored ones as they were, and a change of them is a change of the data', async () => {
    const { db, clock, read } = await player('cay')
    const gates = async () => (await read('/v1/user/kaleidx-scope')).userKaleidxScopeList
    const untouched = ([1, 2, 3, 4, 5, 6, 7, 8, 9, 10] as const).map(untouchedGate)
    expect(await gates()).toEqual(untouched)
    const seven: Gate = {
      gateId: 7,
      isGateFound: true,
      isKeyFound: false,
      isClear: true,
      totalRestLife: 1,
      totalAchievement: 2 ** 40,
      totalDeluxscore: 3,
      bestAchievement: 1_010_000,
      bestDeluxscore: 5,
      bestAchievementDate: '2026-08-06T14:06:26.001Z',
      bestDeluxscoreDate: '2026-08-06T14:06:26.002Z',
      playCount: 6,
      clearDate: '2026-08-06T14:06:26.003Z',
      lastPlayDate: '2026-08-06T14:06:26.004Z',
      isInfoWatched: true,
    }
    const createdAt = (await read('/v1/user/data')).updatedAt
    place().gateway.clock.advance(1_000)
    await putGates(db, clock, 'cay', [seven])
    expect((await gates())[6]).toEqual(seven)
    expect(Date.parse((await read('/v1/user/data')).updatedAt) - Date.parse(createdAt)).toBe(1_000)
    const later = { ...seven, playCount: 7, clearDate: null }
    const found = { ...untouchedGate(1), isGateFound: true }
    await putGates(db, clock, 'cay', [later, found])
    expect(await gates()).toEqual([found, ...untouched.slice(1, 6), later, ...untouched.slice(7)])
  })

  it('any number of expired keys are deleted, and no others', async () => {
    const { gateway } = place()
    const { db, chores, clock } = gateway.gateway.app
    const chore = chores.find(({ what }) => what === 'removing old idempotency keys')
    const row = { user_id: 'demo', request_hash: 'h', reply: '{}' }
    const keys = async () => (await db.selectFrom('idempotency_keys').select('key').execute()).map(({ key }) => key)
    const now = clock.now()
    const old = Array.from({ length: 1_001 }, (_each, index) => ({ ...row, key: `old ${index}`, expires_at: now }))
    for (let at = 0; at < old.length; at += 500) {
      const values = old.slice(at, at + 500)
      await db.insertInto('idempotency_keys').values(values).execute()
    }
    const kept = { ...row, key: 'kept', expires_at: now + 1 }
    await db.insertInto('idempotency_keys').values(kept).execute()
    await chore?.run()
    expect(await keys()).toEqual(['kept'])
    gateway.clock.advance(HOUR_MS)
    await chore?.run()
    expect(await keys()).toEqual([])
  })
}

describe('player data in the embedded database', () => playerSuite(async () => ({ gateway: await testGateway() })))
describe.runIf(postgresTests)('player data in PostgreSQL', () => playerSuite(onPostgres))

describe.runIf(postgresTests)('idempotency keys in PostgreSQL', () => {
  it('a reply that is stored while its expired key is removed is kept', async () => {
    const { gateway, database } = await onPostgres()
    const { db, chores, clock } = gateway.gateway.app
    const chore = chores.find(({ what }) => what === 'removing old idempotency keys')
    const row = { user_id: 'demo', key: 'one', request_hash: 'h', reply: '{}', expires_at: clock.now() }
    await db.insertInto('idempotency_keys').values(row).execute()
    let removing: Promise<void> | undefined
    await db.transaction().execute(async (transaction) => {
      await transaction
        .updateTable('idempotency_keys')
        .set({ expires_at: clock.now() + HOUR_MS })
        .execute()
      removing = Promise.resolve(chore?.run())
      const waiting = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
      await expect.poll(() => database?.sql(waiting), { interval: 5 }).toHaveLength(1)
    })
    await removing
    const { rows } = await sql<{ key: string }>`select key from idempotency_keys`.execute(db)
    expect(rows).toEqual([{ key: 'one' }])
  })
})
