import { setImmediate } from 'node:timers/promises'
import type { Clock } from '@scoregw/quota'
import { type ChartKey, chartText } from '../charts/chart.ts'
import type { Db } from '../db/schema.ts'
import { withPlayer } from '../db/with-player.ts'
import { PlayerScores } from '../scores/player-scores.ts'
import { isSamePlay, NOT_SYNCED, type Play, type StoredScore } from '../scores/score.ts'
import type { ClaimedUpload } from './upload.ts'
import { changeClaimed } from './upload-repository.ts'

/** Scores per write. Other work can run in between. With SQLite, a slice takes a few milliseconds. */
const SLICE = 50

/** How many of a session's scores were stored. */
export interface StoredCounts {
  readonly uploaded: number
  readonly skipped: number
}

/**
 * Stores a session's scores over existing ones and marks the session as stored, in one transaction.
 *
 * @throws {ClaimLost}
 */
export async function storeUpload(db: Db, clock: Clock, upload: ClaimedUpload): Promise<StoredCounts> {
  return withPlayer(db, clock, upload.userId, async (transaction) => {
    const { now } = transaction
    const scores = new PlayerScores(transaction.db, upload, transaction.markChanged)
    let uploaded = 0
    let skipped = 0
    let behind: ChartKey = { musicId: 0, level: 0 }
    for (;;) {
      const plays = await playsBehind(transaction.db, upload.id, behind)
      const last = plays.at(-1)
      if (last === undefined) break
      behind = last
      const stored = new Map((await scores.ofMusic(plays)).map((score) => [chartText(score), score]))
      const changed = plays.flatMap((play): StoredScore[] => {
        const before = stored.get(chartText(play))
        if (before !== undefined && isSamePlay(before, play)) return []
        return [{ playCount: null, playedAt: null, ...before, ...play, source: 'api', updatedAt: now, ...NOT_SYNCED }]
      })
      await scores.putAll(changed)
      uploaded += changed.length
      skipped += plays.length - changed.length
      await setImmediate()
    }
    await transaction.db.deleteFrom('upload_scores').where('session_id', '=', upload.id).execute()
    await changeClaimed(transaction.db, upload, { state: 'stored', uploaded, skipped })
    return { uploaded, skipped }
  })
}

/** Returns a session's plays after a chart, in order of music id and level. */
async function playsBehind(db: Db, id: string, { musicId, level }: ChartKey): Promise<Play[]> {
  const rows = await db
    .selectFrom('upload_scores')
    .select('play')
    .where('session_id', '=', id)
    .where(({ or, and, eb }) =>
      or([eb('music_id', '>', musicId), and([eb('music_id', '=', musicId), eb('level', '>', level)])]),
    )
    .orderBy('music_id')
    .orderBy('level')
    .limit(SLICE)
    .execute()
  return rows.map(({ play }) => JSON.parse(play) as Play)
}
