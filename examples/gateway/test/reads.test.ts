import { postgresTests } from '@scoregw/postgres-server'
import { type KyselyPlugin, type RootOperationNode, sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { beijingDay } from '../src/beijing-day.ts'
import { openPostgres } from '../src/db/postgres.ts'
import type { Db } from '../src/db/schema.ts'
import { UsageRecords } from '../src/usage/usage-records.ts'
import { listUsers } from '../src/users/user-repository.ts'
import { START } from './support/gateway.ts'
import { testDatabase } from './support/postgres.ts'
import { closedInTheEnd, embeddedDatabase, type OpenDatabase } from './support/test-database.ts'

const USERS = 20_000

const onPostgres: OpenDatabase = async () => {
  const { url } = await testDatabase()
  return { connect: () => closedInTheEnd(openPostgres(url)) }
}

const KINDS = [
  ['in the embedded database', true, embeddedDatabase, 'explain query plan '],
  ['on PostgreSQL', postgresTests, onPostgres, 'explain '],
] as const

/** A database of many users. */
async function withUsers(open: OpenDatabase): Promise<Db> {
  const db = await (await open()).connect()
  await sql`
    insert into users (id, name, role, created_at, touched_at)
    with recursive n(i) as (select 1 union all select i + 1 from n where i < ${sql.lit(USERS)})
    select 'user-' || i, 'Player ' || i, 'player', 0, 0 from n`.execute(db)
  await sql`analyze users`.execute(db)
  return db
}

/** The plans of every statement that some work runs, as text. */
async function plansOf(db: Db, explain: string, work: (db: Db) => Promise<unknown>): Promise<string> {
  const nodes: RootOperationNode[] = []
  const recording: KyselyPlugin = {
    transformQuery({ node }) {
      nodes.push(node)
      return node
    },
    transformResult: async ({ result }) => result,
  }
  await work(db.withPlugin(recording))
  const plans: unknown[] = []
  for (const node of nodes) {
    const query = db.getExecutor().compileQuery(node, { queryId: 'plan' })
    plans.push((await db.executeQuery({ ...query, sql: `${explain}${query.sql}` })).rows)
  }
  return JSON.stringify(plans)
}

const RECORD = {
  ...{ at: START, operation: 'music.upsert', category: 'write', cost: 15, charged: 15, status: 200 },
  ...{ error: null, settings_version: 1, refusal: null },
}

describe.each(KINDS)('reads %s', (_, isOn, open, explain) => {
  it.runIf(isOn)('a search for users and a flush of usage don’t read all users', async () => {
    const db = await withUsers(open)
    const search = { order: 'id', after: undefined, limit: 51 } as const
    const today = beijingDay(START)
    const searching = await plansOf(db, explain, async (recorded) => {
      expect(await listUsers(recorded, { ...search, text: 'nobody' }, today)).toEqual([])
      const found = await listUsers(recorded, { ...search, text: 'PLAYER 1999' }, today)
      expect(found.map(({ user }) => user.id)).toEqual([
        'user-1999',
        ...Array.from({ length: 10 }, (_, n) => `user-1999${n}`),
      ])
    })
    const usage = await plansOf(db, explain, (recorded) => {
      const ids = Array.from({ length: 100 }, (_, index) => `${index}`)
      return new UsageRecords(recorded).add(ids.map((id) => ({ ...RECORD, id, user_id: `user-${100 + Number(id)}` })))
    })
    expect(await new UsageRecords(db).page('user-150', undefined, 2)).toHaveLength(1)
    for (const plan of [searching, usage]) {
      expect(plan).toMatch(/users_by_folded_name|users_pkey|sqlite_autoindex_users_1/)
      expect(plan).not.toMatch(/SCAN users|Seq Scan on users/)
    }
  })
})
