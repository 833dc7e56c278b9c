import type { Clock } from '@scoregw/quota'
import type { Insertable, Selectable, Transaction } from 'kysely'
import type { ChartKey } from '../charts/chart.ts'
import type { Db, ScoreTable, Tables } from '../db/schema.ts'
import type { StoredScore } from './score.ts'

/** The scores of one player inside a transaction that has the player to itself. */
export interface PlayerScores {
  /** Those of some music, of all its levels. */
  ofMusic(keys: readonly ChartKey[]): Promise<StoredScore[]>
  put(score: StoredScore): Promise<void>
  /** Whether there was one. */
  remove(key: ChartKey): Promise<boolean>
}

/** Players' scores. */
export class ScoreRepository {
  readonly #db: Db
  readonly #clock: Clock

  constructor(db: Db, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  /** All scores of a player, by music and level. */
  async all(userId: string): Promise<StoredScore[]> {
    const rows = await this.#db
      .selectFrom('scores')
      .selectAll()
      .where('user_id', '=', userId)
      .orderBy('music_id')
      .orderBy('level')
      .execute()
    return rows.map(fromRow)
  }

  /** Works on a player's scores in one transaction: all of it happens, or nothing. */
  async change<T>(userId: string, work: (scores: PlayerScores) => Promise<T>): Promise<T> {
    return this.#db.transaction().execute(async (transaction) => {
      // A write comes first, so that the transaction waits here for another one of the same player and reads what that
      // one left; on an embedded database it takes the write lock, which a reader could no longer get.
      await transaction.updateTable('users').set({ touched_at: this.#clock.now() }).where('id', '=', userId).execute()
      return work(playerScores(transaction, userId))
    })
  }
}

function playerScores(db: Transaction<Tables>, userId: string): PlayerScores {
  return {
    async ofMusic(keys) {
      const ids = [...new Set(keys.map(({ musicId }) => musicId))]
      const rows = await db
        .selectFrom('scores')
        .selectAll()
        .where('user_id', '=', userId)
        .where('music_id', 'in', ids)
        .execute()
      return rows.map(fromRow)
    },
    async put(score) {
      const { user_id, music_id, level, ...values } = toRow(userId, score)
      await db
        .insertInto('scores')
        .values({ user_id, music_id, level, ...values })
        .onConflict((conflict) => conflict.columns(['user_id', 'music_id', 'level']).doUpdateSet(values))
        .execute()
    },
    async remove({ musicId, level }) {
      const { numDeletedRows } = await db
        .deleteFrom('scores')
        .where('user_id', '=', userId)
        .where('music_id', '=', musicId)
        .where('level', '=', level)
        .executeTakeFirstOrThrow()
      return numDeletedRows > 0n
    },
  }
}

function toRow(userId: string, score: StoredScore): Insertable<ScoreTable> {
  return {
    user_id: userId,
    music_id: score.musicId,
    level: score.level,
    achievement: score.achievement,
    dx_score: score.dxScore,
    dx_score_source: score.dxScoreSource,
    combo_status: score.comboStatus,
    sync_status: score.syncStatus,
    play_count: score.playCount,
    source: score.source,
    played_at: score.playedAt,
    updated_at: score.updatedAt,
  }
}

function fromRow(row: Selectable<ScoreTable>): StoredScore {
  return {
    musicId: row.music_id,
    level: row.level as StoredScore['level'],
    achievement: row.achievement,
    dxScore: row.dx_score,
    dxScoreSource: row.dx_score_source,
    comboStatus: row.combo_status,
    syncStatus: row.sync_status,
    playCount: row.play_count,
    source: row.source,
    playedAt: row.played_at,
    updatedAt: row.updated_at,
  }
}
