import type { Kysely } from 'kysely'

/** The parts of a player's rating, and its history by day. */
export async function syncRatings({ schema }: Kysely<unknown>): Promise<void> {
  await schema.alterTable('sync_players').addColumn('old_rating', 'integer').execute()
  await schema.alterTable('sync_players').addColumn('new_rating', 'integer').execute()
  await schema
    .createTable('sync_days')
    .addColumn('qq', 'bigint', (column) => column.notNull().references('sync_players.qq'))
    .addColumn('day', 'integer', (column) => column.notNull())
    .addColumn('rating', 'integer')
    .addColumn('old_rating', 'integer')
    .addColumn('new_rating', 'integer')
    .addColumn('record_count', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('sync_days_key', ['qq', 'day'])
    .execute()
  await schema.createIndex('sync_days_by_day').on('sync_days').column('day').execute()
}
