import type { Db } from '../db/schema.ts'

/** What a player's account says of the player. */
export interface PlayerData {
  readonly userId: string
  readonly userName: string
  readonly playerRating: number
  readonly playCount: number
  /** When this or a score changed last, epoch milliseconds. */
  readonly updatedAt: number
}

/** Players' own data. */
export class PlayerRepository {
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  /** When the player played last, epoch milliseconds, as far as scores tell; `null`: none does. */
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
