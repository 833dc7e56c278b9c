import { type PostgresServer, postgresTests, startPostgres } from '@scoregw/postgres-server'
import {
  createQuota,
  initialSettings,
  memoryStore,
  type SettingsChange,
  type SettingsStore,
  type SubjectSettings,
} from '@scoregw/quota'
import { manualClock } from '@scoregw/quota-testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPostgres } from '../src/db/postgres.ts'
import { gatewayPolicy } from '../src/quota/policy.ts'
import { SqlSettings } from '../src/quota/sql-settings.ts'
import { START } from './support/gateway.ts'
import { closedInTheEnd, embeddedDatabase, type OpenDatabase } from './support/test-database.ts'

const { version: _, ...SETTINGS } = initialSettings(gatewayPolicy)
const windows = { '1h': null, '5h': 7, '1d': null }
const SUBJECT: SubjectSettings = { overrides: { read: windows, write: windows }, bypass: ['site'] }

type Database = Awaited<ReturnType<OpenDatabase>>

async function open(database: Database): Promise<SqlSettings> {
  return SqlSettings.open(await database.connect(), manualClock(START))
}

/** What a store tells from now on. */
function told(store: SettingsStore): SettingsChange[] {
  const changes: SettingsChange[] = []
  store.watch((change) => changes.push(change))
  return changes
}

function describeSettings(name: string, openDatabase: OpenDatabase): void {
  describe(`settings in ${name}`, () => {
    it('are nothing at version 0, and then count 1, 2, 3', async () => {
      const store = await open(await openDatabase())
      expect(await store.read()).toBeUndefined()
      expect(await store.write(SETTINGS, {})).toEqual({ written: true, version: 1 })
      expect(await store.write({ ...SETTINGS, mode: 'lenient' }, {})).toEqual({ written: true, version: 2 })
      expect(await store.read()).toEqual({ ...SETTINGS, mode: 'lenient', version: 2 })
    })

    it('are written only over the version that was asked for', async () => {
      const store = await open(await openDatabase())
      expect(await store.write(SETTINGS, { ifVersion: 1 })).toEqual({ written: false, version: 0 })
      expect(await store.write(SETTINGS, { ifVersion: 0 })).toEqual({ written: true, version: 1 })
      expect(await store.write(SETTINGS, { ifVersion: 0 })).toEqual({ written: false, version: 1 })
      expect(await store.write({ ...SETTINGS, mode: 'lenient' }, { ifVersion: 1 })).toEqual({
        written: true,
        version: 2,
      })
    })

    it('of a subject are apart, and their versions go on counting when they are removed', async () => {
      const store = await open(await openDatabase())
      expect(await store.readSubject('personal', 'a')).toBeUndefined()
      expect(await store.writeSubject('personal', 'a', SUBJECT, { ifVersion: 0 })).toEqual({
        written: true,
        version: 1,
      })
      expect(await store.readSubject('personal', 'a')).toEqual({ ...SUBJECT, version: 1 })
      expect(await store.readSubject('personal', 'b')).toBeUndefined()
      expect(await store.readSubject('team', 'a')).toBeUndefined()
      expect(await store.read()).toBeUndefined()
      expect(await store.writeSubject('personal', 'a', null, { ifVersion: 9 })).toEqual({ written: false, version: 1 })
      expect(await store.writeSubject('personal', 'a', null, { ifVersion: 1 })).toEqual({ written: true, version: 0 })
      expect(await store.readSubject('personal', 'a')).toBeUndefined()
      expect(await store.writeSubject('personal', 'a', SUBJECT, { ifVersion: 1 })).toEqual({
        written: false,
        version: 0,
      })
      expect(await store.writeSubject('personal', 'a', SUBJECT, { ifVersion: 0 })).toEqual({
        written: true,
        version: 3,
      })
    })

    it('take keys of any text', async () => {
      const store = await open(await openDatabase())
      const keys = ["'; drop table quota_settings; --", '玩家', 'a"b', ' ', '%', 'A', 'a']
      for (const [index, key] of keys.entries()) {
        await store.writeSubject('personal', key, { ...SUBJECT, bypass: index % 2 === 0 ? ['site'] : [] }, {})
      }
      for (const [index, key] of keys.entries()) {
        expect((await store.readSubject('personal', key))?.bypass).toEqual(index % 2 === 0 ? ['site'] : [])
      }
    })

    it('are told of at once by the store that wrote them, and not when nothing was written', async () => {
      const store = await open(await openDatabase())
      const changes = told(store)
      await store.write(SETTINGS, {})
      await store.writeSubject('personal', 'a', SUBJECT, {})
      await store.write(SETTINGS, { ifVersion: 9 })
      expect(changes).toEqual([{ kind: 'settings' }, { kind: 'subject', layer: 'personal', key: 'a' }])
    })

    it('of another process on the same file are told of at the next look, in order and once', async () => {
      const database = await openDatabase()
      const [writer, other] = [await open(database), await open(database)]
      const changes = told(other)
      await writer.writeSubject('personal', 'a', SUBJECT, {})
      await writer.write(SETTINGS, {})
      expect(changes).toEqual([])
      await other.poll()
      expect(changes).toEqual([{ kind: 'subject', layer: 'personal', key: 'a' }, { kind: 'settings' }])
      await other.poll()
      expect(changes.length).toBe(2)
      expect(await other.read()).toEqual({ ...SETTINGS, version: 1 })
    })

    it('are told of as one when there were too many to tell', async () => {
      const database = await openDatabase()
      const db = await database.connect()
      const other = await open(database)
      const changes = told(other)
      const change = { layer: 'personal', changed_by: null, changed_at: START, before: null, after: null }
      const rows = Array.from({ length: 1_001 }, (_each, index) => ({
        ...change,
        seq: index + 1,
        key: `user-${index}`,
      }))
      await db.insertInto('quota_changes').values(rows).execute()
      await other.poll()
      expect(changes).toEqual([{ kind: 'everything' }])
    })

    it('are not told of to those who no longer listen', async () => {
      const store = await open(await openDatabase())
      const changes: SettingsChange[] = []
      store.watch((change) => changes.push(change))()
      await store.write(SETTINGS, {})
      expect(changes).toEqual([])
    })

    it('are written by many at once, and no version comes twice', async () => {
      const store = await open(await openDatabase())
      const replies = await Promise.all(Array.from({ length: 40 }, () => store.write(SETTINGS, {})))
      const versions = replies.map(({ version }) => version).sort((one, other) => one - other)
      expect(versions).toEqual(replies.map((_reply, index) => index + 1))
      const races = await Promise.all([1, 2, 3].map(() => store.write(SETTINGS, { ifVersion: 40 })))
      expect(races.filter(({ written }) => written).length).toBe(1)
    })

    it('reach the engines of other processes', async () => {
      const database = await openDatabase()
      const clock = manualClock(START)
      const engines = [await open(database), await open(database)].map((settingsStore) => {
        const quota = createQuota({ policy: gatewayPolicy, store: memoryStore({ clock }), settingsStore, clock })
        return { quota, settingsStore }
      })
      const [here, there] = engines as [(typeof engines)[0], (typeof engines)[0]]
      const limits = async (): Promise<unknown[]> =>
        (await there.quota.status('a')).windows.write!.map(({ limit }) => limit)
      expect(await limits()).toEqual([60, 200, 600, 1500, 5000, 18_000])
      await here.quota.settings.update({ mode: 'lenient' })
      await here.quota.subjects.set('a', { overrides: { write: { '1h': 7 } }, bypass: ['site'] })
      await there.settingsStore.poll()
      await there.quota.settings.get()
      await expect.poll(limits).toEqual([7, 300, 900])
    })
  })
}

describeSettings('the embedded database', embeddedDatabase)

describe.runIf(postgresTests)('on PostgreSQL', () => {
  let postgres: PostgresServer | undefined
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres?.stop())

  describeSettings('PostgreSQL', async () => {
    const url = (await postgres?.createDatabase()) ?? ''
    return { connect: () => closedInTheEnd(openPostgres(url)) }
  })
})
