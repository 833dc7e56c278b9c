import type { Transaction } from 'kysely'
import type { Tables } from '../db/schema.ts'
import type { OwnedScores } from './owned-scores.ts'

/** Work on the records of all players together counts as one caller. */
export const SYNC_LINE = 'score sync'

/** A transaction that has one player of score sync, and the account that is the player's, to itself. */
export interface Turn {
  readonly db: Transaction<Tables>
  readonly qq: number
  /** The instant it began. */
  readonly now: number
  /** The player's writes, counted. */
  readonly number: number
  /** The linked user; `null`: none. */
  readonly userId: string | null
  /** The account's, or those that are kept for the account to come. */
  readonly scores: OwnedScores
  /** To be called when scores or the player's data change: answers show the account's owner when that was last. */
  markChanged(): Promise<void>
}
