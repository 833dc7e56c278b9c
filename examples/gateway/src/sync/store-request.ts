import { setImmediate } from 'node:timers/promises'
import { type ChartKey, chartText } from '../charts/chart.ts'
import { isSameRecord, mergeBest, type PlayRecord } from '../scores/import-best.ts'
import { isSamePlay, NOT_SYNCED, type StoredScore } from '../scores/score.ts'
import { isFromSync } from './adopt-scores.ts'
import type { SyncBody } from './bodies.ts'
import type { SyncRecords } from './records.ts'
import type { ChunkResult } from './snapshots.ts'
import type { SyncTransaction } from './sync-transaction.ts'

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
  const counts = await writeRecords(transaction, records, options)
  await storeProfile(transaction, body)
  return {
    ...counts,
    skipped: count - counts.imported - counts.updated,
    errors: records.faults.slice(0, MAX_ERRORS),
  }
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

/**
 * How many scores are read and written before other requests get a turn: a few milliseconds in an embedded database.
 */
const SLICE = 100

interface WriteOptions {
  /** Replaces stored scores, instead of keeping the best of each field. */
  readonly isFull: boolean
  /** Whether a full snapshot is open. Unchanged scores are then also marked as part of it. */
  readonly isMarking: boolean
}

/** How many plays created or updated a score; the others are unchanged. */
interface WriteCounts {
  readonly imported: number
  readonly updated: number
}

/** Merges a request's plays into the player's scores. */
async function writeRecords(
  transaction: SyncTransaction,
  { plays, faultyCharts }: SyncRecords,
  options: WriteOptions,
): Promise<WriteCounts> {
  const { scores } = transaction
  let imported = 0
  let updated = 0
  for (const slice of slicesOf(plays)) {
    const stored = new Map((await scores.ofMusic(slice)).map((score) => [chartText(score), score]))
    const written: StoredScore[] = []
    for (const play of slice) {
      const before = stored.get(chartText(play))
      const after = afterOf(transaction, before, play, options)
      if (after === undefined) continue
      written.push(after)
      if (before === undefined) imported++
      else if (!isSameRecord(before, after)) updated++
    }
    await scores.putAll(written)
    await setImmediate()
  }
  if (options.isMarking) await markFaulty(transaction, faultyCharts)
  if (imported + updated > 0) await transaction.markChanged()
  return { imported, updated }
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

/** A faulty record still shows that the snapshot has the chart, so the score stays as it is. */
async function markFaulty({ scores, qq, number }: SyncTransaction, charts: readonly ChartKey[]): Promise<void> {
  const wanted = new Set(charts.map(chartText))
  for (const slice of slicesOf(charts)) {
    const stored = await scores.ofMusic(slice)
    const named = stored.filter((score) => wanted.has(chartText(score)) && isFromSync(score, qq))
    await scores.putAll(named.map((score) => ({ ...score, syncTurn: number })))
    await setImmediate()
  }
}

/** In the order of the music, so that the levels of one piece are read once. */
function slicesOf<T extends ChartKey>(charts: readonly T[]): T[][] {
  const ordered = charts.toSorted((a, b) => a.musicId - b.musicId)
  return Array.from({ length: Math.ceil(ordered.length / SLICE) }, (_, index) =>
    ordered.slice(index * SLICE, (index + 1) * SLICE),
  )
}
