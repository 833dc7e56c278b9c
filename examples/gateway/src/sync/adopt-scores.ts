import { setImmediate } from 'node:timers/promises'
import { chartText } from '../charts/chart.ts'
import { isSameRecord, mergeBest } from '../scores/import-best.ts'
import { PlayerScores } from '../scores/player-scores.ts'
import { NOT_SYNCED, type StoredScore } from '../scores/score.ts'
import type { SyncTransaction } from './sync-transaction.ts'

/** How many scores are moved before other requests get a turn. */
const SLICE = 200

/** Moves a player's scores into the account that was just linked, keeping the best of each field. */
export async function adoptScores({ db, qq, userId, now, scores, markChanged }: SyncTransaction): Promise<void> {
  const kept = new PlayerScores(db, { qq })
  let slice = await kept.after({ musicId: 0, level: 0 }, SLICE)
  if (slice.length === 0) return
  while (slice.length > 0) {
    const stored = new Map((await scores.ofMusic(slice)).map((score) => [chartText(score), score]))
    await scores.putAll(slice.flatMap((score) => adopted(stored.get(chartText(score)), score, now)))
    await setImmediate()
    slice = await kept.after(slice.at(-1) as StoredScore, SLICE)
  }
  await kept.removeAll()
  await adoptProfile({ db, qq, userId })
  await markChanged()
}

/** The score to write for a kept score; none if the account's own is as good. */
function adopted(before: StoredScore | undefined, kept: StoredScore, now: number): StoredScore[] {
  if (before === undefined) return [kept]
  const best = mergeBest(before, kept)
  const isSame = isSameRecord(before, best)
  const stamp = isSame ? { updatedAt: before.updatedAt } : { updatedAt: now }
  // Both came from the same sync. Keep the later write: an open snapshot may contain it.
  if (isFromSync(before, kept.syncQq)) return [{ ...before, ...best, ...stamp, syncTurn: kept.syncTurn }]
  // A mixture comes from sync only in part, so no snapshot deletes it.
  return isSame ? [] : [{ ...best, ...stamp, source: 'bot', ...NOT_SYNCED }]
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
