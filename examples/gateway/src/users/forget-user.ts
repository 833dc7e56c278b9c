import type { Transaction } from 'kysely'
import type { Tables } from '../db/schema.ts'

/** Tables with rows of users that nothing else needs. The scores of upload sessions go with their sessions. */
const OF_USERS = [
  'gateway_tokens',
  'scores',
  'tickets',
  'items',
  'gates',
  'idempotency_keys',
  'source_imports',
  'upload_sessions',
  'usage_records',
  'usage_days',
] as const satisfies readonly (keyof Tables)[]

/**
 * Deletes a user's rows, and the user. What bots report of a linked account is not the user's, and stays; snapshots that
 * wrote the user's scores are over. The audit trail stays.
 */
export async function forgetUser(db: Transaction<Tables>, userId: string): Promise<void> {
  for (const table of OF_USERS) await db.deleteFrom(table).where('user_id', '=', userId).execute()
  const snapshots = db.updateTable('sync_snapshots').where('user_id', '=', userId)
  await snapshots.where('state', '=', 'open').set({ state: 'expired' }).execute()
  await snapshots.set({ user_id: null }).execute()
  await db.deleteFrom('users').where('id', '=', userId).execute()
}
