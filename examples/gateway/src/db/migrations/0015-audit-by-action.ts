import type { Kysely } from 'kysely'

/** An index for entries of one kind, newest first. */
export async function auditByAction(db: Kysely<unknown>): Promise<void> {
  await db.schema.createIndex('audit_entries_by_action').on('audit_entries').columns(['action', 'seq']).execute()
}
