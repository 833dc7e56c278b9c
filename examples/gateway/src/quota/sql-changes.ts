import type { Db } from '../db/schema.ts'

/** Most changes told one by one; after more, everything is read anew. */
const MAX_TOLD = 1_000

/** One change, so that it is known again: a database that was restored may give its number to another. */
export interface ChangeMark {
  readonly seq: number
  readonly revision: string
}

export const NO_CHANGE: ChangeMark = { seq: 0, revision: '' }

/** What a look at the changes found. */
export interface ChangesSeen {
  /** Where something changed, in order; or that it cannot be told. */
  readonly places: readonly { readonly layer: string; readonly key: string }[] | 'everything'
  readonly newest: ChangeMark
}

export async function newestChange(db: Db): Promise<ChangeMark> {
  const row = await db
    .selectFrom('quota_changes')
    .select(['seq', 'revision'])
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row ?? NO_CHANGE
}

/**
 * The changes after one that was seen. Where one that is known is not there any more, the database has another past.
 *
 * @param written another one that is known: this process wrote it
 */
export async function changesSince(db: Db, seen: ChangeMark, written: ChangeMark): Promise<ChangesSeen> {
  const rows = await db
    .selectFrom('quota_changes')
    .select(['seq', 'layer', 'key', 'revision'])
    .where('seq', '>=', seen.seq)
    .orderBy('seq', 'desc')
    .limit(MAX_TOLD + 2)
    .execute()
  const isThere = (mark: ChangeMark): boolean =>
    rows.some(({ seq, revision }) => seq === mark.seq && revision === mark.revision)
  const isKnown = (seen.seq === 0 || isThere(seen)) && (written.seq <= seen.seq || isThere(written))
  const changes = rows.filter(({ seq }) => seq > seen.seq)
  if (!isKnown || changes.length > MAX_TOLD) return { places: 'everything', newest: await newestChange(db) }
  return { places: changes.reverse(), newest: rows[0] ?? seen }
}
