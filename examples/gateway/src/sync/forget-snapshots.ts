import type { Clock } from '@scoregw/quota'
import type { Chore } from '../chores.ts'
import type { Db } from '../db/schema.ts'

/** How long, in milliseconds, a snapshot's id is known after its last chunk. */
const KEPT_MS = 7 * 86_400_000
const EVERY_MS = 10 * 60_000

/**
 * Forgets old snapshots, finished or expired, with their chunks. An expired one is kept as long as a finished one: else
 * a late final chunk of it would begin a snapshot of its own, and delete what the first chunks had.
 */
export function forgetSnapshots(db: Db, clock: Clock): Chore {
  return {
    what: 'forgetting old snapshots',
    everyMs: EVERY_MS,
    async run() {
      await db
        .deleteFrom('sync_snapshots')
        .where('touched_at', '<', clock.now() - KEPT_MS)
        .execute()
    },
  }
}
