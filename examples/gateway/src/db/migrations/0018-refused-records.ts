import type { Kysely } from 'kysely'

/** An index for refusals by time. */
export async function refusedRecords(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createIndex('usage_records_refused')
    .on('usage_records')
    .column('at')
    .where('layer' as never, 'is not', null)
    .execute()
}
