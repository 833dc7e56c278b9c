import { randomUUID } from 'node:crypto'
import type { Clock } from '@scoregw/quota'
import type { Selectable, Transaction, Updateable } from 'kysely'
import type { ChartKey } from '../charts/chart.ts'
import type { Db, Tables, UploadSessionTable } from '../db/schema.ts'
import { withPlayer } from '../db/with-player.ts'
import type { Play } from '../scores/score.ts'
import { type ClaimedUpload, MOST_OPEN, SESSION_MS, type Upload } from './upload.ts'

/**
 * How long a call may keep a session, in milliseconds. No call takes as long, and a crashed call blocks the session for
 * no longer.
 */
const CLAIM_MS = 20_000

/** The columns of a session that a call may change. */
export type UploadChange = Updateable<Omit<UploadSessionTable, 'id' | 'user_id' | 'claim_id' | 'claimed_until'>>

/** Thrown if a user has the maximum number of sessions. */
export class TooManyOpen extends Error {
  override readonly name = 'TooManyOpen'
}

/** Thrown if a call took too long and lost its session to another call. */
export class ClaimLost extends Error {
  override readonly name = 'ClaimLost'
}

/** Sessions, and the scores that they have received. */
export class UploadRepository {
  readonly #db: Db
  readonly #clock: Clock

  constructor(db: Db, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  /**
   * Creates a session. Calls of one user run one after the other here.
   *
   * @throws {TooManyOpen}
   */
  async create(userId: string, expected: number | null): Promise<Upload> {
    return withPlayer(this.#db, this.#clock, userId, async ({ db, now }) => {
      const { open } = await db
        .selectFrom('upload_sessions')
        .select(({ fn }) => fn.countAll<number | bigint>().as('open'))
        .where('user_id', '=', userId)
        .where((where) =>
          where.or([
            where('state', '=', 'stored'),
            where.and([where('state', '=', 'open'), where('expires_at', '>', now)]),
          ]),
        )
        .executeTakeFirstOrThrow()
      if (Number(open) >= MOST_OPEN) throw new TooManyOpen('the user has as many sessions as there may be')
      const row: UploadSessionTable = {
        id: randomUUID(),
        user_id: userId,
        state: 'open',
        expires_at: now + SESSION_MS,
        expected,
        received: 0,
        price: null,
        tokens: 0,
        hold_token: null,
        claim_id: null,
        claimed_until: 0,
        uploaded: null,
        skipped: null,
        charged: null,
      }
      await db.insertInto('upload_sessions').values(row).execute()
      return uploadOf(row)
    })
  }

  async find(id: string): Promise<Upload | undefined> {
    const row = await this.#db.selectFrom('upload_sessions').selectAll().where('id', '=', id).executeTakeFirst()
    return row && uploadOf(row)
  }

  /** Assigns a session to one call; `undefined`: another call has it, or it doesn't exist. */
  async claim(id: string): Promise<ClaimedUpload | undefined> {
    const now = this.#clock.now()
    const claimId = randomUUID()
    const row = await this.#db
      .updateTable('upload_sessions')
      .set({ claim_id: claimId, claimed_until: now + CLAIM_MS })
      .where('id', '=', id)
      .where('claimed_until', '<=', now)
      .returningAll()
      .executeTakeFirst()
    return row && { ...uploadOf(row), claimId }
  }

  /** Ends a claim and writes the call's changes. Does nothing if the claim was lost. */
  async release({ id, claimId }: ClaimedUpload, change: UploadChange = {}): Promise<void> {
    await this.#db
      .updateTable('upload_sessions')
      .set({ ...change, claimed_until: 0 })
      .where('id', '=', id)
      .where('claim_id', '=', claimId)
      .execute()
  }

  /** Returns which of these charts have been received. */
  async has(id: string, keys: readonly ChartKey[]): Promise<ChartKey[]> {
    const ids = [...new Set(keys.map(({ musicId }) => musicId))]
    const rows = await this.#db
      .selectFrom('upload_scores')
      .select(['music_id', 'level'])
      .where('session_id', '=', id)
      .where('music_id', 'in', ids)
      .execute()
    return rows.map(({ music_id: musicId, level }) => ({ musicId, level }))
  }

  /**
   * Adds plays of different charts, replacing earlier ones of the same charts. Writes other changes and ends the claim.
   *
   * @throws {ClaimLost}
   */
  async add(claimed: ClaimedUpload, plays: readonly Play[], change: UploadChange): Promise<void> {
    await this.#db.transaction().execute(async (transaction) => {
      await changeClaimed(transaction, claimed, { ...change, claimed_until: 0 })
      await transaction
        .insertInto('upload_scores')
        .values(
          plays.map((play) => {
            return { session_id: claimed.id, music_id: play.musicId, level: play.level, play: JSON.stringify(play) }
          }),
        )
        .onConflict((conflict) =>
          conflict
            .columns(['session_id', 'music_id', 'level'])
            .doUpdateSet(({ ref }) => ({ play: ref('excluded.play') })),
        )
        .execute()
    })
  }

  /** Returns unclaimed sessions that must be charged or expired. */
  async abandoned(limit: number): Promise<string[]> {
    const now = this.#clock.now()
    const rows = await this.#db
      .selectFrom('upload_sessions')
      .select('id')
      .where('claimed_until', '<=', now)
      .where((where) =>
        where.or([
          where('state', '=', 'stored'),
          where.and([where('state', '=', 'open'), where('expires_at', '<=', now)]),
        ]),
      )
      .limit(limit)
      .execute()
    return rows.map(({ id }) => id)
  }

  /** Deletes a session's scores. */
  async dropScores(id: string): Promise<void> {
    await this.#db.deleteFrom('upload_scores').where('session_id', '=', id).execute()
  }

  /** Deletes sessions that ended long ago. */
  async forget(before: number): Promise<void> {
    await this.#db
      .deleteFrom('upload_sessions')
      .where('state', 'in', ['done', 'expired'])
      .where('expires_at', '<=', before)
      .execute()
  }
}

/**
 * Changes a claimed session as part of a transaction. If others may change it too, make this the first write.
 *
 * @throws {ClaimLost}
 */
export async function changeClaimed(
  transaction: Transaction<Tables>,
  { id, claimId }: ClaimedUpload,
  change: Updateable<UploadSessionTable>,
): Promise<void> {
  const { numUpdatedRows } = await transaction
    .updateTable('upload_sessions')
    .set(change)
    .where('id', '=', id)
    .where('claim_id', '=', claimId)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) throw new ClaimLost('another call has taken the session')
}

function uploadOf(row: Selectable<UploadSessionTable>): Upload {
  const { id, user_id, state, expires_at, expected, received, price, tokens, hold_token } = row
  const { uploaded, skipped, charged } = row
  return {
    ...{ id, state, expected, received, price, tokens, uploaded, skipped, charged },
    userId: user_id,
    expiresAt: expires_at,
    holdToken: hold_token,
  }
}
