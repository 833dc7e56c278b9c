import type { TableNames } from '../schema/tables.ts'

/** The statements of a step, made once for the names of the tables. Rows come as arrays. */
export interface PostgresStatements {
  /** Values: three arrays, the columns of keys in order. Rows: place (from 1), record. Locks. */
  readonly lockIds: string
  /**
   * Values: as of {@link lockIds}. Rows: instant, revision, and place and cells of each row that there is, and the
   * transaction; at least one. Locks.
   */
  readonly lockRows: string
  /** The same without locks, and without a transaction. */
  readonly lookAtRows: string
  /** Values: a transaction as of {@link lockRows}. Rows: what became of it. */
  readonly whatBecame: string
  /** Values: as of {@link lockIds}. Rows: one for each that is there. */
  readonly findRows: string
  readonly findIds: string
  /** Values: an array of owners. Rows: category, owner, id, record. */
  readonly openHolds: string
  /** Values: the columns of keys, cells, ends. */
  readonly updateRows: string
  readonly insertRows: string
  /**
   * Values: the columns of keys in order, cells as they are to be and to become; the last key and its cells; how many rows;
   * the revision; the first instant and the one after the last, or `null`. Rows: one, whether they became so, and the
   * instant. Fails where some did and others could not.
   */
  readonly swapRows: string
  /** Values: as of {@link lockIds}, and a transaction. Rows: one for each row that it has written, and nobody since. */
  readonly findWritten: string
  /** Values: the columns of keys, records, ends of records, ends of holds. */
  readonly updateIds: string
  readonly insertIds: string
  /** Values: the instant, `null`: the server's; most. Rows: category, owner, id, record. */
  readonly dueHolds: string
  /** Rows: how many holds are open. */
  readonly countHolds: string
  /** Values: the instant, `null`: the server's; most. Rows: how many went. */
  readonly forgetRows: string
  readonly forgetIds: string
  /** Rows: the version of what is stored, whether the server is read-only, whether the role may write. */
  readonly ready: string
}

const NOW = 'floor(extract(epoch from clock_timestamp()) * 1000)::bigint'

export function postgresStatements(names: TableNames): PostgresStatements {
  const { rows, ids, settings, format } = names
  const rowKey = '(r.layer, r.category, r.subject) = (a.layer, a.category, a.subject)'
  const idKey = '(i.category, i.owner, i.id) = (a.category, a.owner, a.id)'
  const asked = (columns: string): string =>
    `unnest($1::text[], $2::text[], $3::text[]) with ordinality as a(${columns})`
  const rowsAsked = asked('layer, category, subject, place')
  const idsAsked = asked('category, owner, id, place')
  // What counts the rows comes after the last of them is locked, and so does the instant.
  const rowsOf = (found: string, transaction = ''): string =>
    `with found as materialized (${found})
     select t.now, t.revision, f.place, f.cells${transaction}
     from (select ${NOW} as now, count(*),
             coalesce((select s.revision from ${settings} s
               where s.layer = '' and s.subject = '' and s.document is not null), '') as revision
           from found) t left join found f on true`
  // One row after the other, in the order of the keys: so they are locked.
  const found = (lock: string): string =>
    `select a.place, r.cells from ${rowsAsked} cross join lateral
       (select r.cells from ${rows} r where ${rowKey} ${lock}) r`
  const mayWrite = (table: string): string =>
    ['select', 'insert', 'update', 'delete'].map((right) => `has_table_privilege('${table}', '${right}')`).join(' and ')
  const forget = (table: string, key: string, column: string): string =>
    `delete from ${table} where (${key}) in (select ${key} from ${table}
       where ${column} <= coalesce($1::bigint, ${NOW}) limit $2 for update skip locked)`
  return {
    lockIds: `select a.place, i.record from ${idsAsked} cross join lateral
      (select i.record from ${ids} i where ${idKey} for update) i`,
    lockRows: rowsOf(found('for update'), ', pg_current_xact_id()::text'),
    lookAtRows: rowsOf(found('')),
    whatBecame: 'select pg_xact_status($1::xid8)',
    findRows: `select 1 from ${rowsAsked} join ${rows} r on ${rowKey} limit 1`,
    // A look at the row that others are most likely to have changed spares the server the attempt.
    swapRows: `with written as (update ${rows} r set cells = a.after
        from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
          as a(layer, category, subject, before, after)
        where ${rowKey} and r.cells = a.before and $9 =
          (select l.cells from ${rows} l where (l.layer, l.category, l.subject) = ($6, $7, $8))
        returning 1)
      select case when t.count = 0 then false
          when t.count = $10::int and t.now >= coalesce($12::bigint, t.now) and t.now < coalesce($13::bigint, t.now + 1)
            and $11 = coalesce((select s.revision from ${settings} s
              where s.layer = '' and s.subject = '' and s.document is not null), '') then true
          else ('counters that others have changed: ' || t.count)::boolean end, t.now
      from (select ${NOW} as now, count(*) as count from written) t`,
    findWritten: `select 1 from ${rowsAsked} join ${rows} r on ${rowKey} and r.xmin = $4::xid8::xid limit 1`,
    findIds: `select 1 from ${idsAsked} join ${ids} i on ${idKey} limit 1`,
    openHolds: `select category, owner, id, record from ${ids} where owner = any($1::text[]) and hold_ends_at is not null`,
    updateRows: `update ${rows} r set cells = a.cells, ends_at = a.ends_at
      from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[])
        as a(layer, category, subject, cells, ends_at) where ${rowKey}`,
    insertRows: `insert into ${rows} (layer, category, subject, cells, ends_at)
      select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[])`,
    updateIds: `update ${ids} i set record = a.record, expires_at = a.expires_at, hold_ends_at = a.hold_ends_at
      from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[])
        as a(category, owner, id, record, expires_at, hold_ends_at) where ${idKey}`,
    insertIds: `insert into ${ids} (category, owner, id, record, expires_at, hold_ends_at)
      select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[])`,
    dueHolds: `select category, owner, id, record from ${ids}
      where hold_ends_at is not null and hold_ends_at <= coalesce($1::bigint, ${NOW}) order by hold_ends_at limit $2`,
    countHolds: `select count(*) from ${ids} where hold_ends_at is not null`,
    forgetRows: forget(rows, 'layer, category, subject', 'ends_at'),
    forgetIds: forget(ids, 'category, owner, id', 'expires_at'),
    ready: `select version, current_setting('transaction_read_only') = 'on', ${mayWrite(rows)} and ${mayWrite(ids)}
      from ${format}`,
  }
}
