import type { Db } from '../db/schema.ts'

/** The log's line for a part that cannot be read: an earlier version saved it, or it is damaged. */
export const UNREADABLE_PART: string =
  'a part of the saved counters cannot be read: what it counted begins at 0 again (docs/gateway/upgrades.md)'

/** The parts of the counters that were saved last, whole; none where there are none. */
export async function savedParts(db: Db): Promise<readonly { readonly part: number; readonly content: string }[]> {
  const snapshot = await db
    .selectFrom('quota_counter_snapshots')
    .select('id')
    .where('is_complete', '=', 1)
    .orderBy('saved_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (snapshot === undefined) return []
  return await db
    .selectFrom('quota_counter_parts')
    .select(['part', 'content'])
    .where('snapshot_id', '=', snapshot.id)
    .orderBy('part')
    .execute()
}
