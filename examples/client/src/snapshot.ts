import type { Client } from 'openapi-fetch'
import type { components, paths } from './generated/sync.ts'
import { dataOf } from './refused.ts'

/** A score in the form of Diving-Fish. */
export type SyncRecord = components['schemas']['SyncRecord']

/** Everything that a player has. */
export interface Snapshot {
  readonly qq: number
  readonly records: readonly SyncRecord[]
  /** The same for every chunk, and another one for every snapshot. */
  readonly id: string
  readonly chunkSize: number
}

export interface Synced {
  readonly imported: number
  readonly updated: number
  readonly skipped: number
  /** The player's current number of scores. */
  readonly stored: number
  /** Records that were left out, and why. */
  readonly faults: readonly string[]
}

/**
 * Sends a snapshot chunk by chunk. With the last one, what came by an earlier sync and is not in this one is deleted.
 *
 * @param onProgress called after each chunk with the number of records sent so far
 */
export async function syncSnapshot(
  sync: Client<paths>,
  { qq, records, id, chunkSize }: Snapshot,
  onProgress: (sent: number) => void,
): Promise<Synced> {
  const total = Math.max(1, Math.ceil(records.length / chunkSize))
  let synced: Synced = { imported: 0, updated: 0, skipped: 0, stored: 0, faults: [] }
  for (let index = 0; index < total; index++) {
    const chunk = records.slice(index * chunkSize, (index + 1) * chunkSize)
    const answer = dataOf(
      await sync.POST('/api/bot/sync', {
        body: {
          qq,
          records: chunk,
          full_snapshot: true,
          snapshot_id: id,
          snapshot_final: index === total - 1,
          chunk_index: index,
          chunk_total: total,
        },
      }),
    )
    synced = {
      imported: synced.imported + answer.imported,
      updated: synced.updated + answer.updated,
      skipped: synced.skipped + answer.skipped,
      stored: answer.stored_records,
      faults: [
        ...synced.faults,
        ...answer.errors.map((fault) => `record ${index * chunkSize + fault.index}: ${fault.msg}`),
      ],
    }
    onProgress(index * chunkSize + chunk.length)
  }
  return synced
}
