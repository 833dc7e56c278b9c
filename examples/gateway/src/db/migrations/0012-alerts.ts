import type { Kysely } from 'kysely'

/** Alerts for administrators: webhook, deliveries, sender. */
export async function alerts({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('alerts')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('occasion', 'text', (column) => column.notNull().unique())
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('attempts', 'integer', (column) => column.notNull())
    .addColumn('next_at', 'bigint')
    .addColumn('last_status', 'integer')
    .addColumn('last_fault', 'text')
    .addColumn('sent_at', 'bigint')
    .execute()
  await schema.createIndex('alerts_by_time').on('alerts').columns(['at', 'id']).execute()
  await schema.createIndex('alerts_due').on('alerts').columns(['state', 'next_at']).execute()
  await schema
    .createTable('webhooks')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('version', 'integer', (column) => column.notNull())
    .addColumn('revision', 'text', (column) => column.notNull())
    .addColumn('url', 'text')
    .addColumn('layers', 'text', (column) => column.notNull())
    .addColumn('secret', 'text')
    .addColumn('old_secret', 'text')
    .addColumn('old_until', 'bigint')
    .execute()
  await schema
    .createTable('alert_sender')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('lease_id', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .execute()
}
