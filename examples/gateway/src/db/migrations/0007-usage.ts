import type { Kysely } from 'kysely'

/** Outcomes of requests per minute, and the factor of mode `adaptive`. */
export async function usage({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('outcome_minutes')
    .addColumn('minute', 'integer', (column) => column.primaryKey())
    .addColumn('calls', 'bigint', (column) => column.notNull())
    .addColumn('code_zero', 'bigint', (column) => column.notNull())
    .addColumn('client_error', 'bigint', (column) => column.notNull())
    .addColumn('server_error', 'bigint', (column) => column.notNull())
    .addColumn('business_fail', 'bigint', (column) => column.notNull())
    .addColumn('refused', 'bigint', (column) => column.notNull())
    .addColumn('quota_unavailable', 'bigint', (column) => column.notNull())
    .execute()
  await schema
    .createTable('adaptive_factor')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('version', 'integer', (column) => column.notNull())
    .addColumn('minute', 'integer', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .execute()
}
