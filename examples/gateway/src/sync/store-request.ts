import type { SyncBody } from './bodies.ts'
import { storeProfile } from './profile.ts'
import type { SyncRecords } from './records.ts'
import type { ChunkResult } from './snapshots.ts'
import type { SyncTransaction } from './sync-transaction.ts'
import { type WriteOptions, writeRecords } from './write-records.ts'

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
