import type { TableNames } from '../schema/tables.ts'

/** The statements of a step, made once for the names of the tables. Rows come as arrays. */
export interface PostgresStatements {
  /** Values: three arrays, the columns of ids in order. Rows: place (from 1), record. Locks. */
  readonly lockIds: string
  /**
   * Values: keys in order. Rows: instant, revision, transaction, and place, layout, cells and end of each row that there
   * is; at least one. Locks.
   */
  readonly lockRows: string
  /** The same without locks, and without a transaction. */
  readonly lookAtRows: string
  /** Values: hashes. Rows: hash, list. */
  readonly layouts: string
  /** Values: hashes in order, lists. Leaves those that there are. */
  readonly keepLayouts: string
  /** Values: a transaction as of {@link lockRows}. Rows: what became of it. */
  readonly whatBecame: string
  /** Values: as of {@link lockRows} and {@link lockIds}. Rows: one where any is there. */
  readonly findRows: string
  readonly findIds: string
  /** Values: an array of owners. Rows: category, owner, id, record. */
  readonly openHolds: string
  /** Values: keys, layouts, cells, ends. */
  readonly updateRows: string
  readonly insertRows: string
  /** Values: how long, as text with its unit. From here on the transaction waits no longer for another one. */
  readonly hurry: string
  /** Ends {@link hurry}. */
  readonly relax: string
  /** Values: the columns of ids, records, ends of records, ends of holds. */
  readonly updateIds: string
  readonly insertIds: string
  /** Values: the instant, `null`: the server's; most. Rows: category, owner, id, record. */
  readonly dueHolds: string
  /** Rows: how many holds are open. */
  readonly countHolds: string
  /** Values: the instant, `null`: the server's; most. */
  readonly forgetRows: string
  readonly forgetIds: string
  readonly forgetFences: string
  /** Values: a fence, the number of its last statement, the instant or `null`. Makes it if it is not there. */
  readonly keepFence: string
  /**
   * Values: a fence, the number of a statement, which is made by now or never. Rows: the number and the instant of the
   * last one that was made, and the keys of the rows that it added to, `null`: all.
   */
  readonly closeFence: string
  /** Rows: the version of what is stored, whether the server is read-only, whether the role may write. */
  readonly ready: string
}

const NOW = 'floor(extract(epoch from clock_timestamp()) * 1000)::bigint'
/** How long the last statement of a process is kept, in milliseconds. */
const FENCE_MS = 86_400_000

export function postgresStatements(names: TableNames): PostgresStatements {
  const { rows, layouts, fences, ids, settings, format } = names
  const keys = 'unnest($1::text[]) with ordinality as a(key, place)'
  const idKeys = 'unnest($1::text[], $2::text[], $3::text[]) with ordinality as a(category, owner, id, place)'
  const isId = '(i.category, i.owner, i.id) = (a.category, a.owner, a.id)'
  const columns = 'unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[]) as a(key, layout, cells, ends_at)'
  // One row after the other, in the order of the keys: so they are locked. What counts them comes after the last of them
  // is locked, and so does the instant.
  const found = (lock: string, transaction: string): string =>
    `with found as materialized (select a.place, r.* from ${keys} cross join lateral
       (select layout, cells::text, ends_at from ${rows} where ${rows}.key = a.key ${lock}) r)
     select t.now, t.revision, ${transaction}, f.place, f.layout, f.cells, f.ends_at
     from (select ${NOW} as now, count(*), ${revisionIn(settings)} as revision from found) t left join found f on true`
  const mayWrite = (table: string): string =>
    ['select', 'insert', 'update', 'delete']
      .map((right) => `has_table_privilege(to_regclass('${table}'), '${right}')`)
      .join(' and ')
  const forget = (table: string, key: string, ended: string): string =>
    `delete from ${table} where (${key}) in (select ${key} from ${table}
       where ${ended} <= coalesce($1::bigint, ${NOW}) limit $2 for update skip locked)`
  return {
    lockIds: `select a.place, i.record from ${idKeys} cross join lateral
      (select i.record from ${ids} i where ${isId} for update) i`,
    lockRows: found('for update', 'pg_current_xact_id()::text'),
    lookAtRows: found('', 'null'),
    layouts: `select hash, list from ${layouts} where hash = any($1::bigint[])`,
    keepLayouts: `insert into ${layouts} (hash, list) select * from unnest($1::bigint[], $2::text[]) on conflict do nothing`,
    whatBecame: 'select pg_xact_status($1::xid8)',
    findRows: `select 1 from ${keys} join ${rows} r on r.key = a.key limit 1`,
    findIds: `select 1 from ${idKeys} join ${ids} i on ${isId} limit 1`,
    openHolds: `select category, owner, id, record from ${ids} where owner = any($1::text[]) and hold_ends_at is not null`,
    updateRows: `update ${rows} r set layout = a.layout, cells = a.cells::bigint[], ends_at = a.ends_at, limits = null
      from ${columns} where r.key = a.key`,
    insertRows: `insert into ${rows} (key, layout, cells, ends_at) select key, layout, cells::bigint[], ends_at from ${columns}`,
    hurry: `select set_config('quota.lock_timeout', current_setting('lock_timeout'), true),
      set_config('lock_timeout', $1, true)`,
    relax: `select set_config('lock_timeout', current_setting('quota.lock_timeout'), true)`,
    updateIds: `update ${ids} i set record = a.record, expires_at = a.expires_at, hold_ends_at = a.hold_ends_at
      from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[])
        as a(category, owner, id, record, expires_at, hold_ends_at) where ${isId}`,
    insertIds: `insert into ${ids} (category, owner, id, record, expires_at, hold_ends_at)
      select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[])`,
    dueHolds: `select category, owner, id, record from ${ids}
      where hold_ends_at is not null and hold_ends_at <= coalesce($1::bigint, ${NOW}) order by hold_ends_at limit $2`,
    countHolds: `select count(*) from ${ids} where hold_ends_at is not null`,
    forgetRows: forget(rows, 'key', 'ends_at'),
    forgetIds: forget(ids, 'category, owner, id', 'expires_at'),
    forgetFences: forget(fences, 'id', `at + ${FENCE_MS}`),
    keepFence: `insert into ${fences} (id, seq, at, closed) values ($1, $2, coalesce($3::bigint, ${NOW}), $2)
      on conflict do nothing`,
    closeFence: `update ${fences} f set closed = greatest(f.closed, $2::bigint)
      from (select * from ${fences} where id = $1 for update) l where f.id = l.id returning l.seq, l.at, l.keys`,
    ready: `select version, current_setting('transaction_read_only') = 'on', ${[rows, layouts, fences, ids].map(mayWrite).join(' and ')}
      from ${format}`,
  }
}

/** The revision in force, `''`: none. */
export function revisionIn(settings: string): string {
  return `coalesce((select s.revision from ${settings} s
    where s.layer = '' and s.subject = '' and s.document is not null), '')`
}
