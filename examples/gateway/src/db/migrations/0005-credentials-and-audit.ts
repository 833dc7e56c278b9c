import { type Kysely, sql } from 'kysely'
import type { Tables } from '../schema.ts'
import type { FormerTables } from './former-tables.ts'

/** Bots' tokens, chart keys, and the audit trail. */
export async function credentialsAndAudit(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('service_credentials')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('service', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('audit_entries')
    .addColumn('seq', 'bigint', (column) => column.primaryKey())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('by', 'text')
    .addColumn('action', 'text', (column) => column.notNull())
    .addColumn('subject', 'text')
    .addColumn('before', 'text')
    .addColumn('after', 'text')
    .execute()
  await db.schema
    .createTable('audit_counter')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('last_seq', 'bigint', (column) => column.notNull())
    .execute()
  await takeOver(db as Kysely<FormerTables & Tables>)
}

/** The recorded changes of quotas become the first entries. */
async function takeOver(db: Kysely<FormerTables & Tables>): Promise<void> {
  await db
    .insertInto('audit_entries')
    .columns(['seq', 'at', 'by', 'action', 'subject', 'before', 'after'])
    .expression(
      db
        .selectFrom('quota_changes')
        .select([
          'seq',
          'changed_at',
          'changed_by',
          sql<string>`case when layer = '' then 'settings.change' else 'user-quota.change' end`.as('action'),
          sql<string | null>`case when layer = '' then null else key end`.as('subject'),
          'before',
          'after',
        ]),
    )
    .execute()
  const { last_seq } = await db.selectFrom('quota_change_counter').select('last_seq').executeTakeFirstOrThrow()
  await db.insertInto('audit_counter').values({ id: 1, last_seq }).execute()
}
