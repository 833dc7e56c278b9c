import { type PostgresServer, postgresTests, startPostgres } from '@scoregw/postgres-server'
import { createQuota, memoryStore, type SettingsStore } from '@scoregw/quota'
import type { SettingsChange } from '@scoregw/quota/store'
import { initialSettings } from '@scoregw/quota/store'
import { manualClock } from '@scoregw/quota-testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPostgres } from '../src/db/postgres.ts'
import { gatewayPolicy } from '../src/quota/policy.ts'
import { SqlSettings } from '../src/quota/sql-settings.ts'
import { START } from './support/gateway.ts'
import { backUpSettings } from './support/settings-backup.ts'
import { closedInTheEnd, embeddedDatabase, type OpenDatabase } from './support/test-database.ts'

const { version: _, revision: __, ...SETTINGS } = initialSettings(gatewayPolicy)
const LENIENT = { ...SETTINGS, mode: 'lenient' }
const windows = { '1h': null, '5h': 7, '1d': null }
const SUBJECT = { overrides: { read: windows, write: windows }, bypass: ['site'] }
const REVISION = expect.stringMatching(/^[\w-]{22}$/)

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
    it('are nothing at version 0, and then count 1, 2, 3, each with a revision of its own', async () => {
      const store = await open(await openDatabase())
      expect(await store.read()).toBeUndefined()
      const first = await store.write(SETTINGS, {})
      expect(first).toEqual({ written: true, version: 1, revision: REVISION })
      const second = await store.write(LENIENT, {})
      expect(second).toEqual({ written: true, version: 2, revision: REVISION })
      expect(second.revision).not.toBe(first.revision)
      expect(await store.read()).toEqual({ document: LENIENT, version: 2, revision: second.revision })
    })

    it('are written only over the revision that was asked for', async () => {
      const store = await open(await openDatabase())
      expect(await store.write(SETTINGS, { ifRevision: 'x' })).toEqual({ written: false, version: 0, revision: '' })
      const { revision } = await store.write(SETTINGS, { ifRevision: '' })
      expect(await store.write(SETTINGS, { ifRevision: '' })).toEqual({ written: false, version: 1, revision })
      expect(await store.write(LENIENT, { ifRevision: revision })).toMatchObject({ written: true, version: 2 })
      expect(await store.write(SETTINGS, { ifRevision: revision })).toMatchObject({ written: false, version: 2 })
    })

    it('of a subject are apart, and their versions go on counting when they are removed', async () => {
      const store = await open(await openDatabase())
      expect(await store.readSubject('personal', 'a')).toBeUndefined()
      const first = await store.writeSubject('personal', 'a', SUBJECT, { ifRevision: '' })
      expect(first).toEqual({ written: true, version: 1, revision: REVISION })
      const { revision } = first
      expect(await store.readSubject('personal', 'a')).toEqual({ document: SUBJECT, version: 1, revision })
      expect(await store.readSubject('personal', 'b')).toBeUndefined()
      expect(await store.readSubject('team', 'a')).toBeUndefined()
      expect(await store.read()).toBeUndefined()
      const remove = (ifRevision: string) => store.writeSubject('personal', 'a', null, { ifRevision })
      expect(await remove('x')).toEqual({ written: false, version: 1, revision })
      expect(await remove(revision)).toEqual({ written: true, version: 0, revision: '' })
      expect(await store.readSubject('personal', 'a')).toBeUndefined()
      expect(await remove(revision)).toEqual({ written: false, version: 0, revision: '' })
      expect(await store.writeSubject('personal', 'a', SUBJECT, { ifRevision: '' })).toMatchObject({
        written: true,
        version: 3,
      })
    })

    it('are whatever is stored: nobody looks into them', async () => {
      const database = await openDatabase()
      const [store, db] = [await open(database), await database.connect()]
      for (const document of [5, 'text', [1], { layers: { gone: 1 } }]) {
        await store.write(document, {})
        expect((await store.read())?.document).toEqual(document)
      }
      await db.updateTable('quota_settings').set({ document: '{"mode":' }).execute()
      expect(await store.read()).toEqual({ document: '{"mode":', version: 4, revision: REVISION })
      expect(await store.write(SETTINGS, {})).toMatchObject({ written: true, version: 5 })
    })

    it('take keys of any text', async () => {
      const store = await open(await openDatabase())
      const keys = ["'; drop table quota_settings; --", '玩家', 'a"b', ' ', '%', 'A', 'a']
      for (const [index, key] of keys.entries()) {
        await store.writeSubject('personal', key, { ...SUBJECT, bypass: index % 2 === 0 ? ['site'] : [] }, {})
      }
      for (const [index, key] of keys.entries()) {
        const bypass = index % 2 === 0 ? ['site'] : []
        expect((await store.readSubject('personal', key))?.document).toMatchObject({ bypass })
      }
    })

    it('are told of at once by the store that wrote them, and not when nothing was written', async () => {
      const store = await open(await openDatabase())
      const changes = told(store)
      await store.write(SETTINGS, {})
      await store.writeSubject('personal', 'a', SUBJECT, {})
      await store.write(SETTINGS, { ifRevision: 'x' })
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
      expect(await other.read()).toEqual({ document: SETTINGS, version: 1, revision: REVISION })
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

    it('that were restored from an older backup are told of at the next look, however many changes there were', async () => {
      const database = await openDatabase()
      const [writer, other] = [await open(database), await open(database)]
      await writer.write(SETTINGS, {})
      await other.poll()
      const restore = await backUpSettings(await database.connect())
      const changes = told(other)
      await writer.write(LENIENT, {})
      await other.poll()
      expect(changes).toEqual([{ kind: 'settings' }])
      await restore()
      await other.poll()
      expect(changes.splice(0)).toEqual([{ kind: 'settings' }, { kind: 'everything' }])
      expect(await other.read()).toMatchObject({ document: SETTINGS, version: 1 })
      // Also by the process that made the change which is gone, though it had not looked since.
      const own = told(writer)
      await writer.poll()
      expect(own).toEqual([{ kind: 'everything' }])
      await writer.poll()
      expect(own).toHaveLength(1)
      // The same version again, and more changes than there were: neither number tells of them.
      await writer.write(LENIENT, {})
      await other.poll()
      await restore()
      await writer.writeSubject('personal', 'a', SUBJECT, {})
      changes.splice(0)
      await other.poll()
      expect(changes).toEqual([{ kind: 'everything' }])
      await other.poll()
      expect(changes).toHaveLength(1)
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
      const { revision } = (await store.read()) ?? { revision: '' }
      const races = await Promise.all([1, 2, 3].map(() => store.write(SETTINGS, { ifRevision: revision })))
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
