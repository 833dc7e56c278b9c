import { isSameRecord, NOT_SYNCED, type StoredScore } from '../scores/score.ts'
import { mergeBest } from '../scores/import-best.ts'
import { PlayerScores } from '../scores/player-scores.ts'
import type { SyncTransaction } from './sync-transaction.ts'

/** Moves a player's scores into the account that was just linked, keeping the best of each field. */
export async function adoptScores({ db, qq, userId, now, scores, markChanged }: SyncTransaction): Promise<void> {
  const kept = new PlayerScores(db, { qq })
  if ((await kept.count()) === 0) return
  for await (const slice of kept.slices()) {
    await scores.write(slice, (score, before) => adopted(before, score, now))
  }
  await kept.removeAll()
  await adoptProfile({ db, qq, userId })
  await markChanged()
}

/** The score to write for a kept score; `undefined` if the account's own is as good. */
function adopted(before: StoredScore | undefined, kept: StoredScore, now: number): StoredScore | undefined {
  if (before === undefined) return kept
  const best = mergeBest(before, kept)
  const isSame = isSameRecord(before, best)
  const stamp = isSame ? { updatedAt: before.updatedAt } : { updatedAt: now }
  // Both came from the same sync. Keep the later write: an open snapshot may contain it.
  if (isFromSync(before, kept.syncQq)) return { ...before, ...best, ...stamp, syncTurn: kept.syncTurn }
  // A mixture comes from sync only in part, so no snapshot deletes it.
  return isSame ? undefined : { ...best, ...stamp, source: 'bot', ...NOT_SYNCED }
}

/** Whether an account's sync wrote the whole score, and nothing has written it since. */
export function isFromSync({ source, syncQq }: StoredScore, qq: number | null): boolean {
  return source === 'bot' && syncQq !== null && syncQq === qq
}

/** Copies the profile that bots reported into the player's account. */
export async function adoptProfile({ db, qq, userId }: Pick<SyncTransaction, 'db' | 'qq' | 'userId'>): Promise<void> {
  if (userId === null) return
  const { rating, play_count } = await db
    .selectFrom('sync_players')
    .select(['rating', 'play_count'])
    .where('qq', '=', qq)
    .executeTakeFirstOrThrow()
  if (rating === null && play_count === null) return
  await db
    .updateTable('users')
    .set({ ...(rating === null ? {} : { player_rating: rating }), ...(play_count === null ? {} : { play_count }) })
    .where('id', '=', userId)
    .execute()
}
