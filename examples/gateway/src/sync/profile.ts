import type { SyncBody } from './bodies.ts'
import type { SyncTransaction } from './sync-transaction.ts'

/** Stores what a request reports about the player, in the account too. */
export async function storeProfile(
  { db, qq, userId, now, markChanged }: SyncTransaction,
  body: SyncBody,
): Promise<void> {
  const { nickname, source, play_count, old_rating, new_rating } = body
  const rating = totalRating(body)
  const reported = given({ nickname, bot_source: source, rating, old_rating, new_rating, play_count })
  await db
    .updateTable('sync_players')
    .set({ ...reported, synced_at: now })
    .where('qq', '=', qq)
    .execute()
  const ofAccount = given({ player_rating: rating, play_count })
  if (userId === null || Object.keys(ofAccount).length === 0) return
  await db.updateTable('users').set(ofAccount).where('id', '=', userId).execute()
  await markChanged()
}

/** `rating` is the total. Without it, the total is the sum of both parts, if both are given. */
function totalRating({ rating, old_rating, new_rating }: SyncBody): number | undefined {
  if (typeof rating === 'number') return rating
  return typeof old_rating === 'number' && typeof new_rating === 'number' ? old_rating + new_rating : undefined
}

/** Without absent members. */
function given<T extends object>(values: T): { [Name in keyof T]?: NonNullable<T[Name]> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined && value !== null)
  return Object.fromEntries(entries) as { [Name in keyof T]?: NonNullable<T[Name]> }
}
