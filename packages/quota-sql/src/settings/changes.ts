import { type QueryExecutorProvider, sql } from 'kysely'

/** How many changes are reported one by one; after more, everything is read again. */
const MAX_REPORTED = 1_000

/** Identifies a change. The number isn't enough: a restored database may reuse it. */
export interface ChangeMark {
  readonly seq: number
  readonly revision: string
}

export const NO_CHANGE: ChangeMark = { seq: 0, revision: '' }

/** The place of a document. The settings of all subjects have neither layer nor subject. */
export interface Place {
  readonly layer: string
  /** The stored form of the key. */
  readonly subject: string
}

/** The result of reading changes. */
export interface ChangesSeen {
  /** Where something changed, in order; `everything` if that is unknown. */
  readonly places: readonly Place[] | 'everything'
  readonly newest: ChangeMark
}

interface Row extends Place {
  readonly seq: number | string
  readonly revision: string
}

/**
 * The changes after the last seen one. If a known change is missing, the database was restored to an earlier state.
 *
 * @param known another known change: this process made or read it
 */
export async function changesSince(
  db: QueryExecutorProvider,
  table: string,
  seen: ChangeMark,
  known: ChangeMark,
): Promise<ChangesSeen> {
  const { rows } = await sql<Row>`select seq, layer, subject, revision from ${sql.table(table)}
    where seq >= ${seen.seq} order by seq desc limit ${MAX_REPORTED + 2}`.execute(db)
  const found = rows.map(({ seq, ...row }) => ({ ...row, seq: Number(seq) }))
  const isThere = (mark: ChangeMark): boolean =>
    found.some(({ seq, revision }) => seq === mark.seq && revision === mark.revision)
  const isKnown = (seen.seq === 0 || isThere(seen)) && (known.seq <= seen.seq || isThere(known))
  const changes = found.filter(({ seq }) => seq > seen.seq)
  if (!isKnown || changes.length > MAX_REPORTED) return { places: 'everything', newest: await newestChange(db, table) }
  return { places: changes.reverse(), newest: found[0] ?? seen }
}

async function newestChange(db: QueryExecutorProvider, table: string): Promise<ChangeMark> {
  const { rows } = await sql<Row>`select seq, revision from ${sql.table(table)} order by seq desc limit 1`.execute(db)
  const [row] = rows
  return row === undefined ? NO_CHANGE : { seq: Number(row.seq), revision: row.revision }
}
