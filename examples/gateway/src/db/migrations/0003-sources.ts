import type { Kysely } from 'kysely'

/** Imports from sources that are running. */
export async function sources({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('source_imports')
    .addColumn('user_id', 'text', (column) => column.primaryKey())
    .addColumn('lease_id', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .execute()
}
