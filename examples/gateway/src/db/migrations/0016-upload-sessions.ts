import type { Kysely } from 'kysely'

/** Uploads in several requests, whose scores are stored together. */
export async function uploadSessions({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('upload_sessions')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id'))
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .addColumn('expected', 'integer')
    .addColumn('received', 'integer', (column) => column.notNull())
    .addColumn('price', 'bigint')
    .addColumn('tokens', 'bigint', (column) => column.notNull())
    .addColumn('hold_token', 'text')
    .addColumn('claim_id', 'text')
    .addColumn('claimed_until', 'bigint', (column) => column.notNull())
    .addColumn('uploaded', 'integer')
    .addColumn('skipped', 'integer')
    .addColumn('charged', 'bigint')
    .execute()
  await schema.createIndex('upload_sessions_by_user').on('upload_sessions').columns(['user_id', 'state']).execute()
  await schema.createIndex('upload_sessions_by_state').on('upload_sessions').columns(['state', 'expires_at']).execute()
  await schema
    .createTable('upload_scores')
    .addColumn('session_id', 'text', (column) => column.notNull().references('upload_sessions.id').onDelete('cascade'))
    .addColumn('music_id', 'integer', (column) => column.notNull())
    .addColumn('level', 'integer', (column) => column.notNull())
    .addColumn('play', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('upload_scores_key', ['session_id', 'music_id', 'level'])
    .execute()
}
