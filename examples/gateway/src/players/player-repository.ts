import type { Db } from '../db/schema.ts'

/** The player's account data. */
export interface PlayerData {
  readonly userId: string
  readonly userName: string
  readonly playerRating: number
  readonly playCount: number
  /** When this data or a score last changed, in epoch milliseconds. */
  readonly updatedAt: number
}

/** Players' account data. */
export class PlayerRepository {
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  /** Returns when the player last played according to the scores, in epoch milliseconds; `null`: unknown. */
  async lastPlayedAt(userId: string): Promise<number | null> {
    const { at } = await this.#db
      .selectFrom('scores')
      .select(({ fn }) => fn.max('played_at').as('at'))
      .where('user_id', '=', userId)
      .executeTakeFirstOrThrow()
    return at
  }

  async find(userId: string): Promise<PlayerData | undefined> {
    const row = await this.#db
      .selectFrom('users')
      .select(['id', 'name', 'player_rating', 'play_count', 'data_changed_at', 'created_at'])
      .where('id', '=', userId)
      .executeTakeFirst()
    if (row === undefined) return undefined
    return {
      userId: row.id,
      userName: row.name,
      playerRating: row.player_rating,
      playCount: row.play_count,
      updatedAt: row.data_changed_at ?? row.created_at,
    }
  }
}
