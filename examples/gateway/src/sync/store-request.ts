import { mergeBest } from '../scores/import-best.ts'
import { isSamePlay, isSameRecord, NOT_SYNCED, type PlayRecord, type StoredScore } from '../scores/score.ts'
import type { SyncBody } from './bodies.ts'
import type { SyncTransaction } from './player-turns.ts'
import { isFromSync } from './player-turns.ts'
import type { SyncRecords } from './records.ts'
import type { ChunkResult } from './snapshots.ts'

/** How many faulty records a response names. */
const MAX_ERRORS = 100

/** A parsed request. */
export interface SyncRequest {
  /** Without its records. */
  readonly body: SyncBody
  /** How many records it had. */
  readonly count: number
  readonly records: SyncRecords
}

/** Stores a request's records and what it reports about the player. */
export async function storeRequest(
  transaction: SyncTransaction,
  { body, count, records }: SyncRequest,
  options: WriteOptions,
): Promise<ChunkResult> {
  const { scores, qq, number } = transaction
  const { created: imported, updated } = await scores.write(records.plays, (play, before) => {
    return afterOf(transaction, before, play, options)
  })
  // A faulty record still shows that the snapshot has the chart, so the score stays as it is.
  const marked = options.isMarking ? records.faultyCharts : []
  await scores.write(marked, (_chart, before) => {
    return before !== undefined && isFromSync(before, qq) ? { ...before, syncTurn: number } : undefined
  })
  await storeProfile(transaction, body)
  const skipped = count - imported - updated
  return { imported, updated, skipped, errors: records.faults.slice(0, MAX_ERRORS) }
}

/** Stores what a request reports about the player, in the account too. */
async function storeProfile({ db, qq, userId, now, markChanged }: SyncTransaction, body: SyncBody): Promise<void> {
  const { nickname, source, play_count, old_rating, new_rating } = body
  const rating = totalRating(body)
  const reported = given({ nickname, bot_source: source, rating, old_rating, new_rating, play_count })
  await db
    .updateTable('sync_players')
    .set({ ...reported, synced_at: now })
    .where('qq', '=', qq)
    .execute()
  const ofAccount = given({ player_rating: rating, play_count })
  if (userId === null || Object.keys(ofAccount).length === 0) return
  await db.updateTable('users').set(ofAccount).where('id', '=', userId).execute()
  await markChanged()
}

/** `rating` is the total. Without it, the total is the sum of both parts, if both are given. */
function totalRating({ rating, old_rating, new_rating }: SyncBody): number | undefined {
  if (typeof rating === 'number') return rating
  return typeof old_rating === 'number' && typeof new_rating === 'number' ? old_rating + new_rating : undefined
}

/** Without absent members. */
function given<T extends object>(values: T): { [Name in keyof T]?: NonNullable<T[Name]> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined && value !== null)
  return Object.fromEntries(entries) as { [Name in keyof T]?: NonNullable<T[Name]> }
}

interface WriteOptions {
  /** Replaces stored scores, instead of keeping the best of each field. */
  readonly isFull: boolean
  /** Whether a full snapshot is open. Unchanged scores are then also marked as part of it. */
  readonly isMarking: boolean
}

/** The row to store for a play; `undefined`: nothing changes. */
function afterOf(
  transaction: SyncTransaction,
  before: StoredScore | undefined,
  play: PlayRecord,
  { isFull, isMarking }: WriteOptions,
): StoredScore | undefined {
  const whole = { syncQq: transaction.qq, syncTurn: transaction.number }
  const stamp = { source: 'bot', updatedAt: transaction.now } as const
  if (before === undefined) return { ...play, ...stamp, ...whole }
  const isOurs = isFromSync(before, transaction.qq)
  const { playCount, playedAt } = before
  const after = isFull ? { ...play, playCount, playedAt } : mergeBest(before, play)
  const isSame = isFull ? isSamePlay(before, play) : isSameRecord(before, after)
  if (isSame) return isOurs && isMarking ? { ...before, ...whole } : undefined
  // Merged with a score from elsewhere it is a mixture, which no snapshot deletes.
  return { ...after, ...stamp, ...(isFull || isOurs ? whole : NOT_SYNCED) }
}
