import type { Clock } from '@scoregw/quota'
import type { Transaction } from 'kysely'
import type { Db, Tables } from './schema.ts'

/**
 * Charges for a request in the transaction of its work. What it throws must roll the transaction back.
 *
 * @returns the tokens charged
 */
export type Charge = (transaction: Transaction<Tables>) => Promise<number>

/** The user was deleted after the request began. Nothing was done. */
export class UserGone extends Error {
  override readonly name = 'UserGone'
}

/** A transaction with exclusive access to one player's data. */
export interface PlayerTransaction {
  readonly db: Transaction<Tables>
  /** The instant at which it began, epoch milliseconds. */
  readonly now: number
  /** Call it when the player's data or scores change. Responses show when that last happened. */
  markChanged(): Promise<void>
}

/**
 * Works on a player's data in one transaction, all of it or nothing.
 *
 * @param charge called before the work, which gets its result; an error that it throws undoes everything
 * @throws {UserGone} if the player was deleted meanwhile
 */
export async function withPlayer<T>(
  db: Db,
  clock: Clock,
  userId: string,
  work: (transaction: PlayerTransaction, charged: number) => Promise<T>,
  charge: Charge = async () => 0,
): Promise<T> {
  return db.transaction().execute(async (transaction) => {
    const now = clock.now()
    // A write comes first, so that the transaction waits for another one of the same player and then reads its result.
    // In an embedded database it also takes the write lock, which a transaction that has read could not get any more.
    const { numUpdatedRows } = await transaction
      .updateTable('users')
      .set({ touched_at: now })
      .where('id', '=', userId)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows === 0n) throw new UserGone('the user was deleted meanwhile')
    const charged = await charge(transaction)
    let isMarked = false
    const player: PlayerTransaction = {
      db: transaction,
      now,
      async markChanged() {
        if (isMarked) return
        isMarked = true
        await transaction.updateTable('users').set({ data_changed_at: now }).where('id', '=', userId).execute()
      },
    }
    return work(player, charged)
  })
}
