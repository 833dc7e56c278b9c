import type { Kysely } from 'kysely'
import type { FormerTables } from './former-tables.ts'

/** Users, charts, scores, and what the quota keeps. */
export async function first(db: Kysely<unknown>): Promise<void> {
  await usersAndTokens(db)
  await chartsAndScores(db)
  await quotaSettings(db)
  await quotaCounters(db)
}

async function usersAndTokens({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('users')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('role', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('touched_at', 'bigint', (column) => column.notNull())
    .execute()
  await schema
    .createTable('gateway_tokens')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id'))
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('label', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute()
  await schema.createIndex('gateway_tokens_by_user').on('gateway_tokens').column('user_id').execute()
}

async function chartsAndScores({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('charts')
    .addColumn('music_id', 'integer', (column) => column.notNull())
    .addColumn('level', 'integer', (column) => column.notNull())
    .addColumn('title', 'text', (column) => column.notNull())
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('notes', 'integer')
    .addPrimaryKeyConstraint('charts_key', ['music_id', 'level'])
    .execute()
  await schema
    .createTable('scores')
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id'))
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
    .addPrimaryKeyConstraint('scores_key', ['user_id', 'music_id', 'level'])
    .execute()
}

async function quotaSettings(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('quota_settings')
    .addColumn('layer', 'text', (column) => column.notNull())
    .addColumn('key', 'text', (column) => column.notNull())
    .addColumn('version', 'integer', (column) => column.notNull())
    .addColumn('document', 'text')
    .addPrimaryKeyConstraint('quota_settings_key', ['layer', 'key'])
    .execute()
  await db.schema
    .createTable('quota_changes')
    .addColumn('seq', 'bigint', (column) => column.primaryKey())
    .addColumn('layer', 'text', (column) => column.notNull())
    .addColumn('key', 'text', (column) => column.notNull())
    .addColumn('changed_by', 'text')
    .addColumn('changed_at', 'bigint', (column) => column.notNull())
    .addColumn('before', 'text')
    .addColumn('after', 'text')
    .execute()
  await db.schema
    .createTable('quota_change_counter')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('last_seq', 'bigint', (column) => column.notNull())
    .execute()
  await (db as Kysely<FormerTables>).insertInto('quota_change_counter').values({ id: 1, last_seq: 0 }).execute()
}

async function quotaCounters({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('quota_counter_snapshots')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('saved_at', 'bigint', (column) => column.notNull())
    .addColumn('is_complete', 'integer', (column) => column.notNull())
    .execute()
  await schema
    .createTable('quota_counter_parts')
    .addColumn('snapshot_id', 'text', (column) => column.notNull())
    .addColumn('part', 'integer', (column) => column.notNull())
    .addColumn('content', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('quota_counter_parts_key', ['snapshot_id', 'part'])
    .execute()
}
