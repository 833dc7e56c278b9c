import type { Clock } from '@scoregw/quota'
import type { Insertable, Selectable } from 'kysely'
import type { ChartKey } from '../charts/chart.ts'
import type { Db, ScoreTable } from '../db/schema.ts'
import { type Charge, type PlayerTransaction, withPlayer } from '../db/with-player.ts'
import type { StoredScore } from './score.ts'

/** One player's scores, inside a transaction with exclusive access to them. */
export interface PlayerScores {
  /** The scores of some music, at all levels. */
  ofMusic(keys: readonly ChartKey[]): Promise<StoredScore[]>
  /** Stores scores of different charts, replacing existing ones. At most a few hundred. */
  putAll(scores: readonly StoredScore[]): Promise<void>
  /** @returns whether it existed */
  remove(key: ChartKey): Promise<boolean>
  /** The player's rating, as reported by a source. */
  setRating(rating: number): Promise<void>
  /** @returns how many there were */
  removeAll(): Promise<number>
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
    return rows.map(storedScoreOf)
  }

  /** Works on a player's scores in one transaction, all of it or nothing. */
  async change<T>(userId: string, work: (scores: PlayerScores) => Promise<T>, charge?: Charge): Promise<T> {
    return withPlayer(this.#db, this.#clock, userId, (transaction) => work(playerScores(transaction, userId)), charge)
  }
}

/** The scores of a transaction's player. */
export function playerScores({ db, markChanged }: PlayerTransaction, userId: string): PlayerScores {
  return {
    async ofMusic(keys) {
      const ids = [...new Set(keys.map(({ musicId }) => musicId))]
      const rows = await db
        .selectFrom('scores')
        .selectAll()
        .where('user_id', '=', userId)
        .where('music_id', 'in', ids)
        .execute()
      return rows.map(storedScoreOf)
    },
    async putAll(scores) {
      if (scores.length === 0) return
      await db
        .insertInto('scores')
        .values(scores.map((score) => toRow(userId, score)))
        .onConflict((conflict) =>
          conflict.columns(['user_id', 'music_id', 'level']).doUpdateSet(({ ref }) => ({
            achievement: ref('excluded.achievement'),
            dx_score: ref('excluded.dx_score'),
            dx_score_source: ref('excluded.dx_score_source'),
            combo_status: ref('excluded.combo_status'),
            sync_status: ref('excluded.sync_status'),
            play_count: ref('excluded.play_count'),
            source: ref('excluded.source'),
            played_at: ref('excluded.played_at'),
            updated_at: ref('excluded.updated_at'),
          })),
        )
        .execute()
      await markChanged()
    },
    async remove({ musicId, level }) {
      const { numDeletedRows } = await db
        .deleteFrom('scores')
        .where('user_id', '=', userId)
        .where('music_id', '=', musicId)
        .where('level', '=', level)
        .executeTakeFirstOrThrow()
      if (numDeletedRows > 0n) await markChanged()
      return numDeletedRows > 0n
    },
    async setRating(rating) {
      const { numUpdatedRows } = await db
        .updateTable('users')
        .set({ player_rating: rating })
        .where('id', '=', userId)
        .where('player_rating', '!=', rating)
        .executeTakeFirstOrThrow()
      if (numUpdatedRows > 0n) await markChanged()
    },
    async removeAll() {
      const { numDeletedRows } = await db.deleteFrom('scores').where('user_id', '=', userId).executeTakeFirstOrThrow()
      if (numDeletedRows > 0n) await markChanged()
      return Number(numDeletedRows)
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

/** A score as its row has it. */
export function storedScoreOf(row: Omit<Selectable<ScoreTable>, 'user_id' | 'sync_qq' | 'sync_turn'>): StoredScore {
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
