import { postgresTests } from '@scoregw/postgres-server'
import type { SettingsChange } from '@scoregw/quota/store'
import { manualClock } from '@scoregw/quota-testkit'
import { type Kysely, sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { quotaSchemaSql, type SettingsWrite, sqlSettings } from '../src/index.ts'
import { TestDatabase } from './support/database.ts'
import { kyselyOnPool } from './support/pool.ts'
import { connectTo, kyselyOn } from './support/sqlite.ts'

const NOW = Date.UTC(2026, 7, 6, 14)

/** Two processes' settings, and what the second hears once it watches. */
function pairOn(db: Kysely<unknown>) {
  const [writer, other] = [sqlSettings({ db }), sqlSettings({ db, pollMs: 1_000 })]
  const heard: SettingsChange[] = []
  return { writer, other, heard, watch: () => other.watch((change) => heard.push(change)) }
}

/** What the conformance suite, which knows no tables, cannot ask. */
function describeChanges(open: () => Kysely<unknown>): void {
  let made: Kysely<unknown> | undefined
  const emptied = async (): Promise<Kysely<unknown>> => {
    made ??= open()
    for (const table of ['quota_settings', 'quota_changes']) await sql`delete from ${sql.table(table)}`.execute(made)
    await sql`update quota_change_counter set last_seq = 0`.execute(made)
    return made
  }

  it('changes are reported one by one in order, and as one when there are too many', async () => {
    const db = await emptied()
    const { writer, other, heard, watch } = pairOn(db)
    await other.poll()
    const unwatch = watch()
    await writer.writeSubject('personal', 'a\0b', {}, {})
    await writer.write({}, {})
    await other.poll()
    await other.poll()
    expect(heard.splice(0)).toEqual([{ kind: 'subject', layer: 'personal', key: 'a\0b' }, { kind: 'settings' }])
    const seqs = Array.from({ length: 1_001 }, (_, index) => 3 + index)
    const rows = seqs.map((seq) => sql`(${seq}, 'personal', ${`u${seq}`}, ${`r${seq}`}, 0)`)
    await sql`insert into quota_changes (seq, layer, subject, revision, changed_at) values ${sql.join(rows)}`.execute(
      db,
    )
    await other.poll()
    expect(heard).toEqual([{ kind: 'everything' }])
    unwatch()
  })

  it('changes from before the first poll aren’t reported one by one', async () => {
    const db = await emptied()
    const { writer, other, heard, watch } = pairOn(db)
    await writer.writeSubject('personal', 'u', {}, {})
    const unwatch = watch()
    for (const _ of [1, 2]) await other.poll()
    expect(heard).toEqual([{ kind: 'everything' }])
    unwatch()
  })

  it.each([false, true])(
    'settings are read again when their change disappears before a poll finds it; own: %s',
    async (isOwn) => {
      const db = await emptied()
      const { writer, other, heard, watch } = pairOn(db)
      await writer.write({ mode: 'lenient' }, {})
      await other.poll()
      const unwatch = watch()
      await (isOwn ? other : writer).writeSubject('personal', 'u', { plan: 'pro' }, {})
      if (!isOwn) expect((await other.readSubject('personal', 'u'))?.document).toEqual({ plan: 'pro' })
      // A write that conflicts makes no change, and what was read stays known.
      expect(await other.write({}, { ifRevision: 'another' })).toMatchObject({ written: false })
      heard.length = 0
      // A backup from before the last change is restored.
      await sql`delete from quota_settings where layer <> ''`.execute(db)
      await sql`delete from quota_changes where seq = 2`.execute(db)
      await other.poll()
      await other.poll()
      expect(heard).toEqual([{ kind: 'everything' }])
      unwatch()
    },
  )

  it('a change is reported that has the number of one that was lost', async () => {
    const db = await emptied()
    const { writer, other, heard, watch } = pairOn(db)
    await writer.write({ mode: 'lenient' }, {})
    await other.poll()
    const unwatch = watch()
    // A backup from before the change is restored.
    await emptied()
    await writer.write({ mode: 'normal' }, {})
    for (const _ of [1, 2]) await other.poll()
    expect(heard).toEqual([{ kind: 'everything' }])
    unwatch()
  })

  it('changes are recorded with their author and the values before and after', async () => {
    const db = await emptied()
    const settings = sqlSettings({ db, clock: manualClock(NOW) })
    await settings.write({ mode: 'normal' }, { by: 'admin' })
    await settings.writeSubject('personal', 'u', { bypass: [] }, {})
    await settings.writeSubject('personal', 'u', null, { by: 'admin' })
    const { rows } = await sql`select seq, layer, subject, changed_by, changed_at, "before", "after" from quota_changes
      order by seq`.execute(db)
    const of = (seq: number, layer: string, subject: string, by: string | null, texts: object) => {
      return { seq, layer, subject, changed_by: by, changed_at: NOW, ...texts }
    }
    expect(
      rows.map((row) => ({ ...(row as object), seq: Number((row as { seq: unknown }).seq), changed_at: NOW })),
    ).toEqual([
      of(1, '', '', 'admin', { before: null, after: '{"mode":"normal"}' }),
      of(2, 'personal', 'u', null, { before: null, after: '{"bypass":[]}' }),
      of(3, 'personal', 'u', 'admin', { before: '{"bypass":[]}', after: null }),
    ])
  })

  it('changes are committed with their transaction or not at all', async () => {
    const db = await emptied()
    await sql`create table if not exists audit (entry text not null)`.execute(db)
    await sql`delete from audit`.execute(db)
    const entries = async () =>
      (await sql<{ entry: string }>`select entry from audit`.execute(db)).rows.map(
        ({ entry }) => JSON.parse(entry) as unknown,
      )
    let isRefused = false
    const settings = sqlSettings({
      db,
      clock: manualClock(NOW),
      async onWrite(transaction, write: SettingsWrite) {
        await sql`insert into audit (entry) values (${JSON.stringify(write)})`.execute(transaction)
        if (isRefused) throw new Error('no room in the audit')
      },
    })
    const { revision } = await settings.writeSubject('personal', 'u', { bypass: [] }, { by: 'admin' })
    const first = {
      subject: { layer: 'personal', key: 'u' },
      by: 'admin',
      at: NOW,
      before: null,
      after: { bypass: [] },
    }
    expect(await entries()).toEqual([first])
    // A change that is not written is not reported.
    expect(await settings.writeSubject('personal', 'u', null, { ifRevision: 'x' })).toMatchObject({ written: false })
    isRefused = true
    const refused = settings.writeSubject('personal', 'u', null, { ifRevision: revision })
    await expect(refused).rejects.toThrow('no room in the audit')
    expect(await settings.readSubject('personal', 'u')).toMatchObject({ revision })
    expect(await entries()).toEqual([first])
    isRefused = false
    await settings.write({ mode: 'lenient' }, {})
    expect(await entries()).toEqual([first, { by: null, at: NOW, before: null, after: { mode: 'lenient' } }])
    const { rows } = await sql<{ seq: number }>`select seq from quota_changes order by seq`.execute(db)
    expect(rows.map(({ seq }) => Number(seq))).toHaveLength(2)
  })
}

describe('changes of settings in SQLite', () => {
  describeChanges(() => {
    const database = connectTo(':memory:')
    database.exec(quotaSchemaSql({ dialect: 'sqlite' }))
    return kyselyOn(database)
  })
})

describe.runIf(postgresTests)('changes of settings in PostgreSQL', () => {
  const database = new TestDatabase()
  describeChanges(() => kyselyOnPool(database.pool()))
})
