import type { SyncBody } from './bodies.ts'
import type { SyncRecords } from './records.ts'
import type { ChunkResult } from './snapshots.ts'
import type { Turn } from './turn.ts'
import { type WriteOptions, writeRecords } from './write-records.ts'

/** Most faulty records that an answer names. */
const MAX_ERRORS = 100

/** A request, read. */
export interface SyncRequest {
  /** Without its records, which are read. */
  readonly body: SyncBody
  /** How many records it had. */
  readonly count: number
  readonly records: SyncRecords
}

/** Writes a request's records and what it says of the player. */
export async function storeRequest(
  turn: Turn,
  { body, count, records }: SyncRequest,
  options: WriteOptions,
): Promise<ChunkResult> {
  const counts = await writeRecords(turn, records, options)
  await storeProfile(turn, body)
  return {
    ...counts,
    skipped: count - counts.imported - counts.updated,
    stored_records: await turn.scores.count(),
    errors: records.faults.slice(0, MAX_ERRORS),
  }
}

async function storeProfile({ db, qq, userId, now, markChanged }: Turn, body: SyncBody): Promise<void> {
  const { nickname, source, play_count } = body
  const rating = body.new_rating ?? body.rating
  const told = given({ nickname, bot_source: source, rating, play_count })
  await db
    .updateTable('sync_players')
    .set({ ...told, synced_at: now })
    .where('qq', '=', qq)
    .execute()
  const ofAccount = given({ player_rating: rating, play_count })
  if (userId === null || Object.keys(ofAccount).length === 0) return
  await db.updateTable('users').set(ofAccount).where('id', '=', userId).execute()
  await markChanged()
}

/** Without what was not told. */
function given<T extends object>(values: T): { [Name in keyof T]?: NonNullable<T[Name]> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined && value !== null)
  return Object.fromEntries(entries) as { [Name in keyof T]?: NonNullable<T[Name]> }
}
