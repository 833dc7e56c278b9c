import type { Clock } from '@scoregw/quota'
import type { Transaction } from 'kysely'
import type { Db, Tables } from './schema.ts'

/** What a player's transaction begins with; what it answers is its caller's alone. */
export type ChargeFirst = (transaction: Transaction<Tables>) => Promise<object | undefined>

/** The user was deleted after the request had begun. Nothing was done. */
export class UserGone extends Error {
  override readonly name = 'UserGone'
}

/** A transaction that has one player's data to itself. */
export interface PlayerTransaction {
  readonly db: Transaction<Tables>
  /** The instant it began. */
  readonly now: number
  /** To be called when the player's data or scores change: answers show the player when that was last. */
  markChanged(): Promise<void>
}

/**
 * Works on a player's data in one transaction: all of it happens, or nothing.
 *
 * @param charge is called before the work, and undoes everything where it throws
 * @throws {UserGone} when the player was deleted meanwhile
 */
export async function withPlayer<T>(
  db: Db,
  clock: Clock,
  userId: string,
  work: (transaction: PlayerTransaction) => Promise<T>,
  charge: ChargeFirst = async () => undefined,
): Promise<T> {
  return db.transaction().execute(async (transaction) => {
    const now = clock.now()
    // A write comes first, so that the transaction waits here for another one of the same player and reads what that
    // one left; on an embedded database it takes the write lock, which a reader could no longer get.
    const { numUpdatedRows } = await transaction
      .updateTable('users')
      .set({ touched_at: now })
      .where('id', '=', userId)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows === 0n) throw new UserGone('the user was deleted meanwhile')
    await charge(transaction)
    let isMarked = false
    return work({
      db: transaction,
      now,
      async markChanged() {
        if (isMarked) return
        isMarked = true
        await transaction.updateTable('users').set({ data_changed_at: now }).where('id', '=', userId).execute()
      },
    })
  })
}
