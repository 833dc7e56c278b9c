import type { Kysely } from 'kysely'

/** A column for users whose credentials are refused. */
export async function disabledUsers({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .alterTable('users')
    .addColumn('disabled', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
}
