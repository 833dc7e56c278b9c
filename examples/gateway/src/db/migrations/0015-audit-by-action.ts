import type { Kysely } from 'kysely'

/** Entries of one kind, the newest first, without a read of the others. */
export async function auditByAction(db: Kysely<unknown>): Promise<void> {
  await db.schema.createIndex('audit_entries_by_action').on('audit_entries').columns(['action', 'seq']).execute()
}
