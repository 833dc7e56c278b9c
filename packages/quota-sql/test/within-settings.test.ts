import { postgresTests } from '@scoregw/postgres-server'
import { createQuota, type Quota } from '@scoregw/quota'
import { scoreGatewayPolicy } from '@scoregw/quota/score-gateway'
import type { AsyncSettingsStore } from '@scoregw/quota/store'
import { Kysely, PostgresDialect, sql, type Transaction } from 'kysely'
import { describe, expect, it } from 'vitest'
import { postgresStore, quotaSchemaSql, type SqlSettings, sqliteStore, sqlSettings } from '../src/index.ts'
import { TestDatabase } from './support/database.ts'
import { connectTo, kyselyOn } from './support/sqlite.ts'

const LOOK = { operation: 'read', cost: 1 } as const

/** Looks often enough by itself only where a test says so: newer settings are found by the counters. */
const SELDOM = { pollMs: 1_000 } as const

const policy = scoreGatewayPolicy()

/** Opens all the connections' transactions, and does the work of each when every one is open. */
function inAll<T>(
  db: Kysely<unknown>,
  connections: number,
  work: (transaction: Transaction<unknown>, index: number) => Promise<T>,
): Promise<readonly T[]> {
  let open = 0
  let go = (): void => undefined
  const areOpen = new Promise<void>((resolve) => {
    go = resolve
  })
  const each = Array.from({ length: connections }, (_, index) =>
    db.transaction().execute(async (transaction) => {
      await sql`select 1`.execute(transaction)
      open++
      if (open === connections) go()
      await areOpen
      return work(transaction, index)
    }),
  )
  return Promise.all(each)
}

/** Engines on one database, the settings of which are read by the application's own connections. */
interface Place {
  readonly db: Kysely<unknown>
  /** How many transactions the application can have open. */
  readonly connections: number
  readonly quota: () => Quota
  /** An engine with connections of its own, as that of another process. */
  readonly other: () => Quota
}

function promises(place: () => Place): void {
  it('a transaction reads the first settings and a subject’s', async () => {
    const { db, connections, quota: make } = place()
    const quota = make()
    const decisions = await inAll(db, connections, (transaction, index) =>
      quota.inTransaction(transaction).consume({ ...LOOK, subject: `first ${index}` }),
    )
    expect(decisions.map(({ allowed }) => allowed)).toEqual(decisions.map(() => true))
    await quota.close()
  })

  it('a transaction uses changed settings and subjects', async () => {
    const { db, connections, quota: make, other: makeOther } = place()
    const [quota, other] = [make(), makeOther()]
    await quota.ready()
    await other.settings.update({ mode: 'lenient' })
    await other.subjects.set('changed', { limits: { 'personal-read-1h': 0 } })
    const decisions = await inAll(db, connections, (transaction, index) =>
      quota.inTransaction(transaction).consume({ ...LOOK, subject: index === 0 ? 'changed' : 'unchanged' }),
    )
    expect(decisions.map(({ allowed }) => allowed)).toEqual(decisions.map((_, index) => index > 0))
    expect(quota.settings.current().settings.mode).toBe('lenient')
    await other.settings.update({ mode: 'normal' })
    await Promise.all([quota.close(), other.close()])
  })

  it('concurrent decisions within one transaction are all made and charged', async () => {
    const { db, quota: make } = place()
    const quota = make()
    const subjects = ['a', 'b', 'c', 'd']
    const decisions = await db
      .transaction()
      .execute((transaction) =>
        Promise.all(
          subjects.map((subject) =>
            quota.inTransaction(transaction).consume({ ...LOOK, subject: `at once ${subject}` }),
          ),
        ),
      )
    expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, true, true])
    const used = await Promise.all(
      subjects.map(async (subject) => (await quota.status(`at once ${subject}`)).limits['personal-read-1h']?.used),
    )
    expect(used).toEqual([1, 1, 1, 1])
    await quota.close()
  })
}

describe.runIf(postgresTests)('settings within a transaction on PostgreSQL', () => {
  const database = new TestDatabase()

  function kyselyOf(max: number): Kysely<unknown> {
    const pool = database.pool({ max })
    return new Kysely({
      dialect: new PostgresDialect({ pool: { connect: () => pool.connect(), end: async () => undefined } }),
    })
  }

  function placeOf(max: number): Place {
    const db = kyselyOf(max)
    // A deadline that a busy machine keeps, and that a test which starves does not wait for too long.
    const store = postgresStore({ pool: database.pool(), deadlineMs: 5_000 })
    const engine = (settingsDb: Kysely<unknown>): Quota =>
      createQuota({ policy, store, settingsStore: sqlSettings({ db: settingsDb, ...SELDOM }) })
    return { db, connections: max, quota: () => engine(db), other: () => engine(kyselyOf(2)) }
  }

  promises(() => placeOf(2))

  it('an older snapshot’s settings aren’t cached for later calls', async () => {
    const { db, quota: make } = placeOf(3)
    const quota = make()
    const request = { ...LOOK, subject: 'of old' }
    await quota.subjects.set('of old', { limits: { 'personal-read-1h': 7 } })
    await db
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(async (transaction) => {
        await sql`select 1 from quota_settings`.execute(transaction)
        await quota.subjects.set('of old', { limits: { 'personal-read-1h': 0 } })
        expect(await quota.inTransaction(transaction).consume(request)).toMatchObject({ allowed: true })
      })
    expect(await quota.consume(request)).toMatchObject({ allowed: false })
    await quota.close()
  })

  it('unreadable settings leave the transaction usable', async () => {
    const db = kyselyOf(1)
    const store = postgresStore({ pool: database.pool(), deadlineMs: 5_000 })
    const quota = createQuota({ policy, store, settingsStore: sqlSettings({ db, ...SELDOM }) })
    await sql`create role nobody_in_particular`.execute(db)
    await db.transaction().execute(async (transaction) => {
      await sql`set local role nobody_in_particular`.execute(transaction)
      await expect(quota.inTransaction(transaction).consume({ ...LOOK, subject: 'u' })).rejects.toMatchObject({
        code: 'quota_unavailable',
        message: expect.stringContaining('the settings store') as string,
      })
      await sql`select 1`.execute(transaction)
    })
    await quota.close()
  })

  it('another failed read on the transaction doesn’t affect the settings', async () => {
    const { db, quota: make } = placeOf(1)
    const store = postgresStore({ pool: database.pool(), deadlineMs: 5_000 })
    const absent = sqlSettings({ db, prefix: 'absent', ...SELDOM })
    const failing = createQuota({ policy, store, settingsStore: absent })
    const quota = make()
    const settled = await db
      .transaction()
      .execute((transaction) =>
        Promise.allSettled(
          [failing, quota, failing, quota].map((each, index) =>
            each.inTransaction(transaction).consume({ ...LOOK, subject: `disturbed ${index}` }),
          ),
        ),
      )
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected', 'fulfilled'])
    await Promise.all([quota.close(), failing.close()])
  })

  it('the error names the settings store if it can’t take part in the transaction', async () => {
    const db = kyselyOf(1)
    const store = postgresStore({ pool: database.pool(), deadlineMs: 5_000 })
    for (const isRead of [false, true]) {
      const settingsStore = apart(sqlSettings({ db, ...SELDOM }))
      const quota = createQuota({ policy, store, settingsStore, deadlineMs: 500 })
      if (isRead) await quota.ready()
      const consumed = db
        .transaction()
        .execute((transaction) => quota.inTransaction(transaction).consume({ ...LOOK, subject: 'apart' }))
      await expect(consumed).rejects.toMatchObject({
        code: 'quota_unavailable',
        message: expect.stringContaining('the settings store') as string,
      })
      await quota.close()
    }
  })
})

/** The same settings by connections of their own alone. */
function apart(settings: SqlSettings): AsyncSettingsStore {
  return {
    sync: false,
    isMarked: true,
    read: () => settings.read(),
    write: (document, options) => settings.write(document, options),
    readSubject: (layer, key) => settings.readSubject(layer, key),
    writeSubject: (layer, key, document, options) => settings.writeSubject(layer, key, document, options),
    watch: (listener) => settings.watch(listener),
    close: () => settings.close(),
  }
}

describe('settings within a transaction on SQLite', () => {
  function placeOf(): Place {
    const database = connectTo(':memory:')
    database.exec(quotaSchemaSql({ dialect: 'sqlite' }))
    const db = kyselyOn(database) as Kysely<unknown>
    const store = sqliteStore({ database, db })
    const engine = (): Quota => createQuota({ policy, store, settingsStore: sqlSettings({ db, ...SELDOM }) })
    return { db, connections: 1, quota: engine, other: engine }
  }

  promises(placeOf)
})
