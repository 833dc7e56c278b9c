/// <reference path="./workers-runtime.d.ts" />
import type { DurableObjectStorage } from 'cloudflare:workers'

/** The version of the tables, as in `@scoregw/quota-sql`. */
const FORMAT = 2

const FORMAT_TABLE = [
  'create table if not exists quota_format (version integer not null)',
  `insert into quota_format select ${FORMAT} where not exists (select 1 from quota_format)`,
]

/**
 * The tables of `@scoregw/quota-sql` that an object needs, as idempotent statements. A Worker then needs neither
 * migrations nor kysely. A test compares them with `quotaSchemaSql()`.
 */
const TABLES: readonly string[] = [
  'create table if not exists quota_rows (key text not null primary key, layout bigint not null, cells text not null, ends_at bigint) without rowid',
  'create index if not exists quota_rows_by_end on quota_rows (ends_at)',
  'create table if not exists quota_layouts (hash bigint primary key, list text not null)',
  'create table if not exists quota_ids (layer text not null, owner text not null, id text not null, record text not null, expires_at bigint, hold_ends_at bigint, primary key (layer, owner, id)) without rowid',
  'create index if not exists quota_ids_by_end on quota_ids (expires_at)',
  'create index if not exists quota_ids_by_hold_end on quota_ids (hold_ends_at) where hold_ends_at is not null',
  'create index if not exists quota_ids_by_owner on quota_ids (owner) where hold_ends_at is not null',
  'create table if not exists quota_settings (layer text not null, subject text not null, version integer not null, revision text not null, document text, primary key (layer, subject))',
  'create table if not exists quota_changes (seq bigint primary key, layer text not null, subject text not null, revision text not null, changed_by text, changed_at bigint not null, before text, after text)',
]

/** Creates the tables that an object lacks. Those of another version stay as they are: opening the store reports them. */
export function createTables(sql: DurableObjectStorage['sql']): void {
  for (const text of FORMAT_TABLE) sql.exec(text)
  const [format] = sql.exec('select version from quota_format').toArray()
  if (format?.version === FORMAT) for (const text of TABLES) sql.exec(text)
}
