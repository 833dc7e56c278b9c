import type { Kysely } from 'kysely'
import { COUNTERS, type Db } from '../../src/db/schema.ts'

/** What holds the settings and how they came about. */
interface SettingsTables {
  counter_settings: { layer: string; subject: string; version: number; revision: string; document: string | null }
  counter_changes: { seq: number }
  counter_change_counter: { last_seq: number }
}
const TABLES = [`${COUNTERS}_settings`, `${COUNTERS}_changes`, `${COUNTERS}_change_counter`] as const

/** The same database, with the tables of the settings. */
export function withSettings(db: Db): Kysely<SettingsTables> {
  return db as unknown as Kysely<SettingsTables>
}

/** Takes a backup of the settings; what it answers puts them back as they were, in one change of the database. */
export async function backUpSettings(given: Db): Promise<() => Promise<void>> {
  const db = withSettings(given)
  const saved = await Promise.all(
    TABLES.map(async (table) => [table, await db.selectFrom(table).selectAll().execute()] as const),
  )
  return () =>
    db.transaction().execute(async (transaction) => {
      for (const [table, rows] of saved) {
        await transaction.deleteFrom(table).execute()
        if (rows.length > 0)
          await transaction
            .insertInto(table)
            .values(rows as never)
            .execute()
      }
    })
}

/** As if nobody had ever set anything. */
export async function loseSettings(db: Db): Promise<void> {
  await withSettings(db)
    .transaction()
    .execute(async (transaction) => {
      await transaction.deleteFrom('counter_settings').execute()
      await transaction.deleteFrom('counter_changes').execute()
      await transaction.updateTable('counter_change_counter').set({ last_seq: 0 }).execute()
    })
}
