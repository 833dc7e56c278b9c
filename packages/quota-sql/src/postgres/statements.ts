import { createHash } from 'node:crypto'
import { COLUMN_CELLS, cellColumns, FORMAT, type TableNames } from '../schema/tables.ts'

/** The statements of a step, and small ones. */
export interface PostgresStatements extends Readonly<Record<keyof ReturnType<typeof fixedTexts>, Statement>> {
  /** By the number of cells that rows have at most. */
  readonly readRows: (cells: number) => Statement
  readonly updateRows: (cells: number) => Statement
}

/** A statement. The server keeps it parsed under its name, of which each text has its own. */
export interface Statement {
  readonly name: string
  readonly text: string
}

const NOW = 'floor(extract(epoch from clock_timestamp()) * 1000)::bigint'
/** Stands for null in an array, since a server may read `null` there as text (`array_nulls`). No instant is negative. */
export const NONE = -1

/** Creates the statements, once per set of table names. Rows are arrays. */
export function postgresStatements(names: TableNames): PostgresStatements {
  const fixed = Object.entries(fixedTexts(names)).map(([name, text]) => [name, statementOf(text)])
  return {
    ...(Object.fromEntries(fixed) as Record<keyof ReturnType<typeof fixedTexts>, Statement>),
    readRows: byWidth((width) => statementOf(readRows(names, width))),
    updateRows: byWidth((width) => statementOf(updateRows(names, width))),
  }
}

function fixedTexts(names: TableNames) {
  const { rows, layouts, ids, format } = names
  const keys = 'unnest($1::text[]) with ordinality as a(key, place)'
  const idKeys = 'unnest($1::text[], $2::text[], $3::text[]) with ordinality as a(layer, owner, id, place)'
  const isId = '(i.layer, i.owner, i.id) = (a.layer, a.owner, a.id)'
  const mayWrite = (table: string): string =>
    ['select', 'insert', 'update', 'delete']
      .map((right) => `has_table_privilege(to_regclass('${table}'), '${right}')`)
      .join(' and ')
  const forget = (table: string, key: string, ended: string): string =>
    `delete from ${table} where (${key}) in (select ${key} from ${table}
       where ${ended} <= coalesce($1::bigint, ${NOW}) limit $2 for update skip locked)`
  return {
    /**
     * Values: keys of rows, or the columns of ids, in lock order. Locks them, and inserts missing ones. Rows: the
     * inserted keys. An upsert can only go from row to row, and also locks existing rows.
     */
    lockRows: `insert into ${rows} as r (key, layout) select key, 0 from ${keys} order by place
      on conflict (key) do update set layout = r.layout where false returning r.key`,
    lockIds: `insert into ${ids} as i (layer, owner, id, record) select layer, owner, id, '' from ${idKeys} order by place
      on conflict (layer, owner, id) do update set record = i.record where false returning i.layer, i.owner, i.id`,
    /** Values: the columns of ids. Rows: index, record. */
    readIds: `select a.place, i.record from ${idKeys} join ${ids} i on ${isId}`,
    /** Values: as for {@link lockRows} and {@link lockIds}. */
    deleteRows: `delete from ${rows} where key = any($1::text[])`,
    deleteIds: `delete from ${ids} i using ${idKeys} where ${isId}`,
    /** Values: hashes. Rows: hash, list. */
    layouts: `select hash, list from ${layouts} where hash = any($1::bigint[])`,
    /** Values: hashes in order, lists. Keeps existing ones. Tables of another version get none. */
    keepLayouts: `insert into ${layouts} (hash, list) select a.* from unnest($1::bigint[], $2::text[]) a
      where exists (select from ${format} where version = ${FORMAT}) on conflict do nothing`,
    /** Values: hashes. Rows: the tables' version, hash, list; one at least. */
    keptLayouts: `select f.version, l.hash, l.list from ${format} f left join ${layouts} l on l.hash = any($1::bigint[])`,
    /** Values: an array of owners. Rows: layer, owner, id, record. */
    openHolds: `select layer, owner, id, record from ${ids} where owner = any($1::text[]) and hold_ends_at is not null`,
    /** Values: the columns of ids, records, ends of records, ends of holds; {@link NONE} for an end that is null. */
    updateIds: `update ${ids} i set record = a.record, expires_at = nullif(a.expires_at, ${NONE}),
        hold_ends_at = nullif(a.hold_ends_at, ${NONE})
      from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[])
        as a(layer, owner, id, record, expires_at, hold_ends_at) where ${isId}`,
    /** Values: the instant (`null` for the server's), the most rows. Rows: layer, owner, id, record. */
    dueHolds: `select layer, owner, id, record from ${ids}
      where hold_ends_at is not null and hold_ends_at <= coalesce($1::bigint, ${NOW}) order by hold_ends_at limit $2`,
    /** Rows: how many holds are open. */
    countHolds: `select count(*) from ${ids} where hold_ends_at is not null`,
    /** Values: the instant (`null` for the server's), the most rows. */
    forgetRows: forget(rows, 'key', 'ends_at') as string,
    forgetIds: forget(ids, 'layer, owner, id', 'expires_at') as string,
    /** Rows: the tables' version. */
    format: `select version from ${format}`,
    /** Rows: the tables' version, whether the server is read-only, whether the role may write. */
    ready: `select version, current_setting('transaction_read_only') = 'on', ${[rows, layouts, ids].map(mayWrite).join(' and ')}
      from ${format}`,
  }
}

/** Statements by the number of cells that they read or write: those of rows with few cells take less time. */
function byWidth(make: (width: number) => Statement): (cells: number) => Statement {
  const made: Statement[] = []
  return (cells) => {
    const width = Math.min(Math.max(1, cells), COLUMN_CELLS + 1)
    made[width] ??= make(width)
    return made[width]
  }
}

/**
 * Values: keys. Rows: instant, revision, and for each existing row its index (from 1), layout, end, further cells, and the
 * columns of its first cells; at least one row.
 */
function readRows({ rows, settings }: TableNames, width: number): string {
  const columns = ['layout', 'ends_at', width > COLUMN_CELLS ? 'more::text' : 'null as more', ...cellColumns(width)]
  return `select t.now, t.revision, r.*
    from (select ${NOW} as now, ${revisionIn(settings)} as revision) t left join
      (select a.place, ${columns.join(', ')}
        from unnest($1::text[]) with ordinality as a(key, place) join ${rows} r on r.key = a.key) r on true`
}

/** Values: keys, layouts, ends ({@link NONE} for null), the columns of cells, and further cells as arrays in text, if any. */
function updateRows({ rows }: TableNames, width: number): string {
  const cells = [...cellColumns(width)]
  const values = cells.map((_, at) => `$${4 + at}::bigint[]`)
  const set = cells.map((name) => `${name} = a.${name}`)
  if (width > COLUMN_CELLS) {
    values.push(`$${4 + cells.length}::text[]`)
    set.push("more = nullif(a.more::bigint[], '{}')")
    cells.push('more')
    // The row may have had more cells, by another policy.
  } else set.push('more = null')
  return `update ${rows} r set layout = a.layout, ends_at = nullif(a.ends_at, ${NONE}), ${set.join(', ')}
    from unnest($1::text[], $2::bigint[], $3::bigint[], ${values.join(', ')}) as a(key, layout, ends_at, ${cells.join(', ')})
    where r.key = a.key`
}

export function statementOf(text: string): Statement {
  return { name: `quota ${createHash('sha256').update(text).digest('base64url').slice(0, 24)}`, text }
}

/** The revision in force; `''` for none. */
export function revisionIn(settings: string): string {
  return `coalesce((select s.revision from ${settings} s
    where s.layer = '' and s.subject = '' and s.document is not null), '')`
}
