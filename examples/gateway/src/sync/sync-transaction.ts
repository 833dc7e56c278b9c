import type { Transaction } from 'kysely'
import type { Tables } from '../db/schema.ts'
import type { PlayerScores } from '../scores/player-scores.ts'

/** A transaction with exclusive access to one player of score sync, and to the linked account. */
export interface SyncTransaction {
  readonly db: Transaction<Tables>
  readonly qq: number
  /** The instant at which it began, epoch milliseconds. */
  readonly now: number
  /** The number of this write among the player's. */
  readonly number: number
  /** The linked user; `null` if there is none. */
  readonly userId: string | null
  /** The account's scores, or those that are kept until an account is linked. */
  readonly scores: PlayerScores
  /** Call it when scores or the player's data change. Responses show the account's owner when that last happened. */
  markChanged(): Promise<void>
}
