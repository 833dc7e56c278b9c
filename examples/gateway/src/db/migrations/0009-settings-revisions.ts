import { newRevision } from '@scoregw/quota/store'
import type { Kysely } from 'kysely'
import type { FormerTables } from './former-tables.ts'

/** Revisions for each document of the quota's settings and each change: versions repeat after a restore. */
export async function settingsRevisions(db: Kysely<unknown>): Promise<void> {
  for (const table of ['quota_settings', 'quota_changes']) {
    await db.schema
      .alterTable(table)
      .addColumn('revision', 'text', (column) => column.notNull().defaultTo(''))
      .execute()
  }
  const settings = db as Kysely<FormerTables>
  for (const { layer, key } of await settings.selectFrom('quota_settings').select(['layer', 'key']).execute()) {
    await settings
      .updateTable('quota_settings')
      .set({ revision: newRevision() })
      .where('layer', '=', layer)
      .where('key', '=', key)
      .execute()
  }
}
