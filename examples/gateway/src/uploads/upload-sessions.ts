import { randomUUID } from 'node:crypto'
import type { Clock } from '@scoregw/quota'
import type { Updateable } from 'kysely'
import { type ChartKey, chartText } from '../charts/chart.ts'
import type { Db, UploadSessionTable } from '../db/schema.ts'
import { withPlayer } from '../db/with-player.ts'
import { HttpError } from '../http/http-error.ts'
import { PlayerScores } from '../scores/player-scores.ts'
import { type Play, replacing } from '../scores/score.ts'

/** How long a session lasts after each call, in milliseconds. */
export const SESSION_MS = 10 * 60_000
/** The most open sessions per user. */
const MOST_OPEN = 5
/** The most scores per session. */
export const MOST_SCORES = 2_000
/** How long a part takes at most, in milliseconds. One of a crashed process blocks others for no longer. */
const PART_MS = 20_000

/**
 * A session that receives scores in parts and stores them together. Its state:
 *
 * - `open`: scores may be added.
 * - `stored`: its scores are stored, and it is to be charged.
 * - `done`: it is charged.
 * - `expired`: its time was over, or its tokens were gone, before it was stored.
 *
 * Calls of several processes may work on a session. Each change names the state that it was made for, and does nothing
 * in another one.
 */
export type Upload = UploadSessionTable
export type UploadChange = Updateable<UploadSessionTable>

/** Whether all scores were received. */
export function isComplete({ expected, received }: Upload): boolean {
  return received > 0 && (expected === null || received === expected)
}

/** Creates a session. @throws {HttpError} `conflict` if the user has the maximum number */
export async function createUpload(db: Db, clock: Clock, userId: string, expected: number | null): Promise<Upload> {
  return withPlayer(db, clock, userId, async (player) => {
    const { now } = player
    const { open } = await player.db
      .selectFrom('upload_sessions')
      .select(({ fn }) => fn.countAll<number | bigint>().as('open'))
      .where('user_id', '=', userId)
      .where(({ or, and, eb }) =>
        or([eb('state', '=', 'stored'), and([eb('state', '=', 'open'), eb('expires_at', '>', now)])]),
      )
      .executeTakeFirstOrThrow()
    if (Number(open) >= MOST_OPEN) {
      const msg = `There are ${MOST_OPEN} open upload sessions already. Finish one, or wait until one ends.`
      throw new HttpError('conflict', msg)
    }
    const upload: Upload = {
      ...{ id: randomUUID(), user_id: userId, state: 'open', expires_at: now + SESSION_MS, expected },
      ...{ received: 0, price: null, tokens: 0, hold_token: null, busy_until: 0 },
      ...{ uploaded: null, skipped: null, charged: null },
    }
    await player.db.insertInto('upload_sessions').values(upload).execute()
    return upload
  })
}

export async function findUpload(db: Db, id: string): Promise<Upload | undefined> {
  return db.selectFrom('upload_sessions').selectAll().where('id', '=', id).executeTakeFirst()
}

/**
 * Admits one part at a time, so that no part holds the tokens of another one and is refused for that.
 *
 * @throws {HttpError} `conflict` while another part is admitted
 */
export async function onePart<T>(db: Db, clock: Clock, id: string, work: () => Promise<T>): Promise<T> {
  const now = clock.now()
  const session = db.updateTable('upload_sessions').where('id', '=', id)
  const { numUpdatedRows } = await session
    .set({ busy_until: now + PART_MS })
    .where('busy_until', '<=', now)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) throw partUnderWay()
  try {
    return await work()
  } finally {
    await session.set({ busy_until: 0 }).execute()
  }
}

export function partUnderWay(): HttpError {
  const msg = 'Another part of this upload session is under way. Send the same request again.'
  return new HttpError('conflict', msg, { retryAfterSeconds: 1 })
}

/** Changes a session that is in a state and has as many scores as when it was read. @returns whether it was */
export async function changeUpload(
  db: Db,
  { id, received }: Upload,
  from: Upload['state'],
  change: UploadChange,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('upload_sessions')
    .set(change)
    .where('id', '=', id)
    .where('state', '=', from)
    .where('received', '=', received)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Returns which of these charts a session has received. */
export async function receivedOf(db: Db, id: string, keys: readonly ChartKey[]): Promise<ReadonlySet<string>> {
  const ids = [...new Set(keys.map(({ musicId }) => musicId))]
  const rows = await db
    .selectFrom('upload_scores')
    .select(['music_id as musicId', 'level'])
    .where('session_id', '=', id)
    .where('music_id', 'in', ids)
    .execute()
  return new Set(rows.map(chartText))
}

/** Adds plays of different charts to an open session, replacing earlier ones. @returns whether it was as it was read */
export async function keepPlays(
  db: Db,
  upload: Upload,
  plays: readonly Play[],
  change: UploadChange,
): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    if (!(await changeUpload(transaction, upload, 'open', change))) return false
    const rows = plays.map((play) => {
      return { session_id: upload.id, music_id: play.musicId, level: play.level, play: JSON.stringify(play) }
    })
    await transaction
      .insertInto('upload_scores')
      .values(rows)
      .onConflict((conflict) =>
        conflict
          .columns(['session_id', 'music_id', 'level'])
          .doUpdateSet(({ ref }) => ({ play: ref('excluded.play') })),
      )
      .execute()
    return true
  })
}

/** Ends an open session and deletes its scores. @returns whether it was as it was read */
export async function expireUpload(db: Db, upload: Upload): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    const { numUpdatedRows } = await transaction
      .updateTable('upload_sessions')
      .set({ state: 'expired' })
      .where('id', '=', upload.id)
      .where('state', '=', 'open')
      // A call in between has extended it.
      .where('expires_at', '=', upload.expires_at)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows === 0n) return false
    await transaction.deleteFrom('upload_scores').where('session_id', '=', upload.id).execute()
    return true
  })
}

/**
 * Stores a session's scores over existing ones, in one transaction.
 *
 * @returns the stored session; `undefined`: it isn't as it was read
 */
export async function storeUpload(db: Db, clock: Clock, upload: Upload): Promise<Upload | undefined> {
  return withPlayer(db, clock, upload.user_id, async (player) => {
    if (!(await changeUpload(player.db, upload, 'open', { state: 'stored' }))) return undefined
    const scores = new PlayerScores(player.db, { userId: upload.user_id }, player.markChanged)
    const rows = await player.db
      .selectFrom('upload_scores')
      .select('play')
      .where('session_id', '=', upload.id)
      .execute()
    const plays = rows.map(({ play }) => JSON.parse(play) as Play)
    const { created, updated } = await scores.write(plays, (play, before) => replacing(play, before, player.now))
    const uploaded = created + updated
    await player.db.deleteFrom('upload_scores').where('session_id', '=', upload.id).execute()
    const counts = { uploaded, skipped: upload.received - uploaded }
    await changeUpload(player.db, upload, 'stored', counts)
    return { ...upload, state: 'stored', ...counts }
  })
}

/** Returns sessions to charge, to end, or whose tokens are to be refunded. */
export async function unfinishedUploads(db: Db, now: number, limit: number): Promise<Upload[]> {
  return db
    .selectFrom('upload_sessions')
    .selectAll()
    .where(({ or, and, eb }) =>
      or([
        eb('state', '=', 'stored'),
        and([eb('state', '=', 'open'), eb('expires_at', '<=', now)]),
        and([eb('state', '=', 'expired'), eb('hold_token', 'is not', null)]),
      ]),
    )
    .limit(limit)
    .execute()
}

/** Deletes sessions that ended long ago. */
export async function forgetUploads(db: Db, before: number): Promise<void> {
  await db
    .deleteFrom('upload_sessions')
    .where('state', 'in', ['done', 'expired'])
    .where('expires_at', '<=', before)
    .execute()
}
