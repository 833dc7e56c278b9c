import type { Clock } from '@scoregw/quota'
import { PostgresAdapter, sql, type Transaction } from 'kysely'
import type { Db, Tables } from '../db/schema.ts'
import { UserGone, withPlayer } from '../db/with-player.ts'
import { PlayerScores } from '../scores/player-scores.ts'
import { adoptScores } from './adopt-scores.ts'
import { playerBusy } from './sync-error.ts'
import type { SyncTransaction } from './sync-transaction.ts'

/** The linked user changed before the locks were held, so the transaction starts over. */
class LinkMoved extends Error {}

/** How often it starts over. */
const MAX_ATTEMPTS = 3

/**
 * Lets a player's writes run one after the other. A set does so in the process, database locks do so across processes.
 * The locks end with their process. Hand-written: mutexes on npm work within one process, or need a server of their
 * own.
 */
export class PlayerTurns {
  readonly #db: Db
  readonly #clock: Clock
  readonly #isPostgres: boolean
  readonly #busy = new Set<number>()

  constructor(db: Db, clock: Clock) {
    this.#db = db
    this.#clock = clock
    this.#isPostgres = db.getExecutor().adapter instanceof PostgresAdapter
  }

  /**
   * Runs if no other write of the player is in flight in this process.
   *
   * @throws {SyncError} `player_busy`
   */
  async alone<T>(qq: number, work: () => Promise<T>): Promise<T> {
    if (this.#busy.has(qq)) throw playerBusy(qq)
    this.#busy.add(qq)
    try {
      return await work()
    } finally {
      this.#busy.delete(qq)
    }
  }

  /**
   * Works in one transaction, all of it or nothing. With `isPatient` it waits for a write in flight in another process.
   *
   * @throws {SyncError} `player_busy`
   */
  async take<T>(qq: number, isPatient: boolean, work: (transaction: SyncTransaction) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#take(qq, isPatient, work)
      } catch (error) {
        const isMoved = error instanceof LinkMoved || error instanceof UserGone
        if (isMoved && attempt < MAX_ATTEMPTS) continue
        throw isMoved || isLocked(error) ? playerBusy(qq, error) : error
      }
    }
  }

  async #take<T>(qq: number, isPatient: boolean, work: (transaction: SyncTransaction) => Promise<T>): Promise<T> {
    const userId = await linkedUser(this.#db, qq)
    const begin = async (db: Transaction<Tables>, now: number, markChanged: () => Promise<void>): Promise<T> => {
      if (this.#isPostgres && !isPatient) await tryLock(db, qq)
      const number = await nextTurn(db, qq)
      if ((await linkedUser(db, qq)) !== userId) throw new LinkMoved()
      const scores = new PlayerScores(db, userId === null ? { qq } : { userId }, markChanged)
      const transaction: SyncTransaction = { db, qq, now, number, userId, scores, markChanged }
      // The account may have been linked a moment ago, without the scores that were kept for it.
      if (userId !== null) await adoptScores(transaction)
      return work(transaction)
    }
    // Lock the user's row before the player's, as everything does that locks both: so they never deadlock.
    if (userId === null) {
      return this.#db.transaction().execute((db) => begin(db, this.#clock.now(), async () => undefined))
    }
    return withPlayer(this.#db, this.#clock, userId, ({ db, now, markChanged }) => begin(db, now, markChanged))
  }
}

/** The user linked to a player; `null` if there is none. */
export async function linkedUser(db: Db, qq: number): Promise<string | null> {
  const row = await db.selectFrom('users').select('id').where('qq', '=', qq).executeTakeFirst()
  return row?.id ?? null
}

/** Locks the player, even an unknown one, until the transaction ends. */
async function tryLock(db: Transaction<Tables>, qq: number): Promise<void> {
  const { rows } = await sql<{ isLocked: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${`score-sync:${qq}`}, 0)) as "isLocked"
  `.execute(db)
  if (rows[0]?.isLocked !== true) throw playerBusy(qq)
}

/** A write, so that the transaction waits here for the player's other transactions. */
async function nextTurn(db: Transaction<Tables>, qq: number): Promise<number> {
  const { turn } = await db
    .insertInto('sync_players')
    .values({ qq, turn: 1 })
    .onConflict((conflict) =>
      conflict.column('qq').doUpdateSet(({ eb, ref }) => ({ turn: eb(ref('sync_players.turn'), '+', 1) })),
    )
    .returning('turn')
    .executeTakeFirstOrThrow()
  return turn
}

/** Whether the database gave up waiting for a lock. Nothing was written, and a retry may succeed. */
function isLocked(error: unknown): boolean {
  const { code } = (error ?? {}) as { readonly code?: unknown }
  return typeof code === 'string' && (code.startsWith('SQLITE_BUSY') || ['40001', '40P01', '55P03'].includes(code))
}
