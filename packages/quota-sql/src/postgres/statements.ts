import { FORMAT, type TableNames } from '../schema/tables.ts'

/** The names of the statements. */
export type PostgresStatements = Readonly<Record<keyof ReturnType<typeof postgresStatements>, string>>

const NOW = 'floor(extract(epoch from clock_timestamp()) * 1000)::bigint'
/** How long the last statement of a process is kept, in milliseconds. */
const FENCE_MS = 86_400_000

/** The statements of a step, created once per set of table names. Rows are arrays. */
export function postgresStatements(names: TableNames) {
  const { rows, layouts, fences, ids, settings, format } = names
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
    lockRows: `insert into ${rows} as r (key, layout, cells) select key, 0, '{}' from ${keys} order by place
      on conflict (key) do update set limits = r.limits where false returning r.key`,
    lockIds: `insert into ${ids} as i (layer, owner, id, record) select layer, owner, id, '' from ${idKeys} order by place
      on conflict (layer, owner, id) do update set record = i.record where false returning i.layer, i.owner, i.id`,
    /**
     * Values: keys. Rows: instant, revision, and for each existing row its index (from 1), layout, cells and end; at
     * least one row.
     */
    readRows: `select t.now, t.revision, r.place, r.layout, r.cells, r.ends_at
      from (select ${NOW} as now, ${revisionIn(settings)} as revision) t left join
        (select a.place, r.layout, r.cells::text, r.ends_at from ${keys} join ${rows} r on r.key = a.key) r on true`,
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
    /** Values: keys, layouts, cells, ends. */
    updateRows: `update ${rows} r set layout = a.layout, cells = a.cells::bigint[], ends_at = a.ends_at, limits = null
      from unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[]) as a(key, layout, cells, ends_at) where r.key = a.key`,
    /** Values: the columns of ids, records, ends of records, ends of holds. */
    updateIds: `update ${ids} i set record = a.record, expires_at = a.expires_at, hold_ends_at = a.hold_ends_at
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
    forgetFences: forget(fences, 'id', `at + ${FENCE_MS}`) as string,
    /** Values: a fence, the number of a transaction. Fails if the fence was closed for that number. */
    raiseFence: `with raised as (${raise(fences, `select $1::text, $2::bigint, ${NOW}, 0, null`)})
      select 1 / count(*) from raised`,
    /**
     * Values: a fence, the number of a transaction, which from now on cannot be committed any more. Rows: the number
     * and the instant of the last committed transaction, and the keys of the rows that it added to, `null` for all.
     */
    closeFence: `insert into ${fences} as f (id, seq, at, closed) values ($1, 0, ${NOW}, $2)
      on conflict (id) do update set closed = greatest(f.closed, excluded.closed) returning f.seq, f.at, f.keys`,
    /** Rows: the tables' version. */
    format: `select version from ${format}`,
    /** Rows: the tables' version, whether the server is read-only, whether the role may write. */
    ready: `select version, current_setting('transaction_read_only') = 'on', ${[rows, layouts, fences, ids].map(mayWrite).join(' and ')}
      from ${format}`,
  }
}

/** The revision in force; `''` for none. */
export function revisionIn(settings: string): string {
  return `coalesce((select s.revision from ${settings} s
    where s.layer = '' and s.subject = '' and s.document is not null), '')`
}

/** Stores a transaction's number in its fence, unless that is closed. @param values of the fence's columns */
export function raise(fences: string, values: string): string {
  return `insert into ${fences} as f (id, seq, at, closed, keys) ${values}
    on conflict (id) do update set seq = excluded.seq, at = excluded.at, keys = excluded.keys
    where f.seq < excluded.seq and f.closed < excluded.seq returning keys`
}
