import type { Kysely } from 'kysely'

/** Players' data apart from scores: a balance, a linked account, tickets, items, gates. */
export async function players({ schema }: Kysely<unknown>): Promise<void> {
  await schema.alterTable('users').addColumn('qq', 'bigint').execute()
  await schema.createIndex('users_by_qq').unique().on('users').column('qq').execute()
  await schema
    .alterTable('users')
    .addColumn('balance', 'integer', (column) => column.notNull().defaultTo(10))
    .execute()
  await schema
    .alterTable('users')
    .addColumn('player_rating', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
  await schema
    .alterTable('users')
    .addColumn('play_count', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
}
