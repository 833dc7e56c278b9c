import type { Kysely } from 'kysely'

/** Users' requests, one by one and as daily sums. */
export async function usageRecords({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('usage_records')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) => column.notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('operation', 'text', (column) => column.notNull())
    .addColumn('category', 'text', (column) => column.notNull())
    .addColumn('cost', 'bigint')
    .addColumn('charged', 'bigint', (column) => column.notNull())
    .addColumn('status', 'integer', (column) => column.notNull())
    .addColumn('error', 'text')
    .addColumn('settings_version', 'integer')
    .addColumn('layer', 'text')
    .addColumn('scope', 'text')
    .addColumn('window_label', 'text')
    .addColumn('kind', 'text')
    .addColumn('limit_tokens', 'bigint')
    .addColumn('used_tokens', 'bigint')
    .addColumn('requested_tokens', 'bigint')
    .addColumn('reset_at', 'bigint')
    .execute()
  await schema.createIndex('usage_records_by_user').on('usage_records').columns(['user_id', 'at', 'id']).execute()
  await schema.createIndex('usage_records_by_time').on('usage_records').column('at').execute()
  await schema
    .createTable('usage_days')
    .addColumn('user_id', 'text', (column) => column.notNull())
    .addColumn('day', 'integer', (column) => column.notNull())
    .addColumn('requests', 'bigint', (column) => column.notNull())
    .addColumn('tokens', 'bigint', (column) => column.notNull())
    .addColumn('failures', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('usage_days_key', ['user_id', 'day'])
    .execute()
  await schema.createIndex('usage_days_by_day').on('usage_days').column('day').execute()
}
