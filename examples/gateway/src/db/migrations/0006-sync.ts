import type { Kysely } from 'kysely'

/** Data that bots send: players, the scores of those without an account, and open snapshots. */
export async function sync(db: Kysely<unknown>): Promise<void> {
  await marks(db)
  await playersAndScores(db)
  await snapshots(db)
}

/** Which sync wrote a score completely, and in which of its writes. */
async function marks({ schema }: Kysely<unknown>): Promise<void> {
  await schema.alterTable('scores').addColumn('sync_qq', 'bigint').execute()
  await schema.alterTable('scores').addColumn('sync_turn', 'integer').execute()
}

async function playersAndScores({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('sync_players')
    .addColumn('qq', 'bigint', (column) => column.primaryKey())
    .addColumn('turn', 'integer', (column) => column.notNull())
    .addColumn('nickname', 'text')
    .addColumn('bot_source', 'text')
    .addColumn('rating', 'integer')
    .addColumn('play_count', 'integer')
    .addColumn('synced_at', 'bigint')
    .execute()
  await schema
    .createTable('sync_scores')
    .addColumn('qq', 'bigint', (column) => column.notNull().references('sync_players.qq'))
    .addColumn('music_id', 'integer', (column) => column.notNull())
    .addColumn('level', 'integer', (column) => column.notNull())
    .addColumn('achievement', 'integer', (column) => column.notNull())
    .addColumn('dx_score', 'integer', (column) => column.notNull())
    .addColumn('dx_score_source', 'text', (column) => column.notNull())
    .addColumn('combo_status', 'integer', (column) => column.notNull())
    .addColumn('sync_status', 'integer', (column) => column.notNull())
    .addColumn('play_count', 'integer')
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('played_at', 'bigint')
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .addColumn('sync_qq', 'bigint')
    .addColumn('sync_turn', 'integer')
    .addPrimaryKeyConstraint('sync_scores_key', ['qq', 'music_id', 'level'])
    .execute()
}

async function snapshots({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('sync_snapshots')
    .addColumn('qq', 'bigint', (column) => column.notNull().references('sync_players.qq'))
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('is_full', 'integer', (column) => column.notNull())
    .addColumn('first_turn', 'integer', (column) => column.notNull())
    .addColumn('chunk_total', 'integer')
    .addColumn('user_id', 'text')
    .addColumn('has_final', 'integer', (column) => column.notNull())
    .addColumn('valid_records', 'integer', (column) => column.notNull())
    .addColumn('touched_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('sync_snapshots_key', ['qq', 'id'])
    .execute()
  await schema.createIndex('sync_snapshots_by_id').on('sync_snapshots').column('id').execute()
  await schema.createIndex('sync_snapshots_by_time').on('sync_snapshots').column('touched_at').execute()
  await schema
    .createTable('sync_chunks')
    .addColumn('qq', 'bigint', (column) => column.notNull())
    .addColumn('snapshot_id', 'text', (column) => column.notNull())
    .addColumn('turn', 'integer', (column) => column.notNull())
    .addColumn('chunk_index', 'integer')
    .addColumn('checksum', 'text', (column) => column.notNull())
    .addColumn('result', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('sync_chunks_key', ['qq', 'snapshot_id', 'turn'])
    .addForeignKeyConstraint(
      'sync_chunks_snapshot',
      ['qq', 'snapshot_id'],
      'sync_snapshots',
      ['qq', 'id'],
      (constraint) => constraint.onDelete('cascade'),
    )
    .execute()
}
