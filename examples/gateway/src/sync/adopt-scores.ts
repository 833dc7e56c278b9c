import { chartText } from '../charts/chart.ts'
import { turns } from '../http/turns.ts'
import { isSameRecord, mergeBest } from '../scores/import-best.ts'
import { type OwnedScore, OwnedScores } from './owned-scores.ts'
import { SYNC_LINE, type Turn } from './turn.ts'

/** Scores that are moved before others have a turn. */
const SLICE = 200

/** Moves the scores kept for a player into the newly linked account, the best of each field. */
export async function adoptScores({ db, qq, userId, now, scores, markChanged }: Turn): Promise<void> {
  const kept = new OwnedScores(db, { qq })
  let slice = await kept.after({ musicId: 0, level: 0 }, SLICE)
  if (slice.length === 0) return
  while (slice.length > 0) {
    const stored = new Map((await scores.ofMusic(slice)).map((score) => [chartText(score), score]))
    await scores.putAll(slice.flatMap((score) => adopted(stored.get(chartText(score)), score, now)))
    await turns.wait(SYNC_LINE)
    slice = await kept.after(slice.at(-1) as OwnedScore, SLICE)
  }
  await kept.removeAll()
  await adoptProfile({ db, qq, userId })
  await markChanged()
}

/** What the account gets of a kept score: nothing where its own is as good. */
function adopted(before: OwnedScore | undefined, kept: OwnedScore, now: number): OwnedScore[] {
  if (before === undefined) return [kept]
  const best = mergeBest(before, kept)
  const isSame = isSameRecord(before, best)
  const stamp = isSame ? { updatedAt: before.updatedAt } : { updatedAt: now }
  // Both came from the same sync: the later turn is the one in which an open snapshot may have had it.
  if (isFromSync(before, kept.syncQq)) return [{ ...before, ...best, ...stamp, syncTurn: kept.syncTurn }]
  // A mixture did not come only from sync, and no snapshot deletes it.
  return isSame ? [] : [{ ...best, ...stamp, source: 'bot', syncQq: null, syncTurn: null }]
}

/** Whether a score came whole from an account's sync, and nothing else has written it since. */
export function isFromSync({ source, syncQq }: OwnedScore, qq: number | null): boolean {
  return source === 'bot' && syncQq !== null && syncQq === qq
}

/** Copies the profile that bots reported of a player into the account. */
export async function adoptProfile({ db, qq, userId }: Pick<Turn, 'db' | 'qq' | 'userId'>): Promise<void> {
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
