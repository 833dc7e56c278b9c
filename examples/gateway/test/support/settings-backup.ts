import type { Db } from '../../src/db/schema.ts'

/** What holds the settings and how they came about. */
const TABLES = ['quota_settings', 'quota_changes', 'quota_change_counter'] as const

/** Takes a backup of the settings; what it answers puts them back as they were, in one change of the database. */
export async function backUpSettings(db: Db): Promise<() => Promise<void>> {
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
