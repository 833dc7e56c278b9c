import type { Clock } from '@scoregw/quota'
import { PostgresAdapter, sql, type Transaction } from 'kysely'
import type { Db, Tables } from '../db/schema.ts'
import { UserGone, withPlayer } from '../db/with-player.ts'
import { mergeBest } from '../scores/import-best.ts'
import { PlayerScores } from '../scores/player-scores.ts'
import { isSameRecord, NOT_SYNCED, type StoredScore } from '../scores/score.ts'
import { playerBusy } from './sync-error.ts'

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

/** Moves a player's scores into the account that was just linked, keeping the best of each field. */
async function adoptScores({ db, qq, userId, now, scores, markChanged }: SyncTransaction): Promise<void> {
  const kept = new PlayerScores(db, { qq })
  if ((await kept.count()) === 0) return
  for await (const slice of kept.slices()) {
    await scores.write(slice, (score, before) => adopted(before, score, now))
  }
  await kept.removeAll()
  await adoptProfile({ db, qq, userId })
  await markChanged()
}

/** The score to write for a kept score; `undefined` if the account's own is as good. */
function adopted(before: StoredScore | undefined, kept: StoredScore, now: number): StoredScore | undefined {
  if (before === undefined) return kept
  const best = mergeBest(before, kept)
  const isSame = isSameRecord(before, best)
  const stamp = isSame ? { updatedAt: before.updatedAt } : { updatedAt: now }
  // Both came from the same sync. Keep the later write: an open snapshot may contain it.
  if (isFromSync(before, kept.syncQq)) return { ...before, ...best, ...stamp, syncTurn: kept.syncTurn }
  // A mixture comes from sync only in part, so no snapshot deletes it.
  return isSame ? undefined : { ...best, ...stamp, source: 'bot', ...NOT_SYNCED }
}

/** Whether an account's sync wrote the whole score, and nothing has written it since. */
export function isFromSync({ source, syncQq }: StoredScore, qq: number | null): boolean {
  return source === 'bot' && syncQq !== null && syncQq === qq
}

/** Copies the profile that bots reported into the player's account. */
export async function adoptProfile({ db, qq, userId }: Pick<SyncTransaction, 'db' | 'qq' | 'userId'>): Promise<void> {
  if (userId === null) return
  const { rating, play_count } = await db
    .selectFrom('sync_players')
    .select(['rating', 'play_count'])
    .where('qq', '=', qq)
    .executeTakeFirstOrThrow()
  if (rating === null && play_count === null) return
  await db
    .updateTable('users')
    .set({ ...(rating === null ? {} : { player_rating: rating }), ...(play_count === null ? {} : { play_count }) })
    .where('id', '=', userId)
    .execute()
}
