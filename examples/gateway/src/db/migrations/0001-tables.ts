import { quotaMigrations } from '@scoregw/quota-sql'
import { type Kysely, PostgresAdapter, sql } from 'kysely'
import { COUNTERS } from '../schema.ts'

/** The tables of the gateway, for SQLite and PostgreSQL. Instants are epoch milliseconds. */
const TABLES = [
  `create table users (
    id text primary key, name text not null, role text not null, created_at bigint not null, touched_at bigint not
    null, qq bigint, balance integer default 10 not null, player_rating integer default 0 not null, play_count
    integer default 0 not null, data_changed_at bigint, disabled integer default 0 not null
  )`,
  `create table tokens (
    id text primary key, service text not null, user_id text references users (id), hash text not null unique,
    last_four text not null, label text not null, created_at bigint not null, last_used_at bigint, expires_at bigint
  )`,
  'create index tokens_by_user on tokens (user_id)',
  'create index tokens_by_expiry on tokens (expires_at) where expires_at is not null',
  `create table charts (
    music_id integer not null, level integer not null, title text not null, type text not null, notes integer,
    artist text, charter text, difficulty text, constant double precision, counts text, primary key (music_id, level)
  )`,
  `create table scores (
    owner text not null, music_id integer not null, level integer not null, achievement integer not null, dx_score
    integer not null, dx_score_source text not null, combo_status integer not null, sync_status integer not null,
    play_count integer, source text not null, played_at bigint, updated_at bigint not null, sync_qq bigint, sync_turn
    integer, primary key (owner, music_id, level)
  )`,
  'create unique index users_by_qq on users (qq)',
  // For searches by the beginning: in the order of code points, whatever the database's language.
  'create index users_by_folded_id on users (lower(id) collate "BINARY")',
  'create index users_by_folded_name on users (lower(name) collate "BINARY")',
  `create table source_imports (
    user_id text primary key, lease_id text not null, expires_at bigint not null
  )`,
  `create table tickets (
    id text primary key, user_id text not null references users (id), charge_id integer not null, stock integer
    not null, purchased_at bigint not null, valid_until bigint not null
  )`,
  'create index tickets_by_user on tickets (user_id)',
  `create table items (
    user_id text not null references users (id), item_kind integer not null, item_id integer not null, stock
    integer not null, is_valid integer not null, primary key (user_id, item_kind, item_id)
  )`,
  `create table gates (
    user_id text not null references users (id), gate_id integer not null, gate text not null,
    primary key (user_id, gate_id)
  )`,
  `create table idempotency_keys (
    user_id text not null references users (id), key text not null, request_hash text not null, reply text not null,
    expires_at bigint not null, primary key (user_id, key)
  )`,
  'create index idempotency_keys_by_expiry on idempotency_keys (expires_at)',
  `create table audit_entries (
    seq bigint primary key, at bigint not null, by text, action text not null, subject text, before text, after
    text
  )`,
  `create table audit_counter (
    id integer primary key, last_seq bigint not null
  )`,
  `create table sync_players (
    qq bigint primary key, turn integer not null, nickname text, bot_source text, rating integer, play_count
    integer, synced_at bigint, old_rating integer, new_rating integer
  )`,
  `create table sync_snapshots (
    qq bigint not null references sync_players (qq), id text not null, state text not null, is_full integer not
    null, first_turn integer not null, chunk_total integer, user_id text, has_final integer not null,
    valid_records integer not null, touched_at bigint not null, primary key (qq, id)
  )`,
  'create index sync_snapshots_by_id on sync_snapshots (id)',
  'create index sync_snapshots_by_time on sync_snapshots (touched_at)',
  `create table sync_chunks (
    qq bigint not null, snapshot_id text not null, turn integer not null, chunk_index integer, checksum text not
    null, result text not null, primary key (qq, snapshot_id, turn), foreign key (qq, snapshot_id) references
    sync_snapshots (qq, id) on delete cascade
  )`,
  `create table usage_records (
    id text primary key, user_id text not null, at bigint not null, operation text not null, category text not
    null, cost bigint, charged bigint not null, status integer not null, error text, settings_version integer,
    refusal text
  )`,
  'create index usage_records_by_user on usage_records (user_id, at, id)',
  'create index usage_records_by_time on usage_records (at)',
  `create table usage_days (
    user_id text not null, day integer not null, requests bigint not null, tokens bigint not null, failures bigint
    not null, refusals bigint not null, last_at bigint not null, primary key (user_id, day)
  )`,
  'create index usage_days_by_day on usage_days (day)',
  `create table error_counts (
    half_hour integer not null, operation text not null, status integer not null, count bigint not null, last_at
    bigint not null, primary key (half_hour, operation, status)
  )`,
  `create table sync_days (
    qq bigint not null references sync_players (qq), day integer not null, rating integer, old_rating integer,
    new_rating integer, record_count integer not null, primary key (qq, day)
  )`,
  'create index sync_days_by_day on sync_days (day)',
  `create table upload_sessions (
    id text primary key, user_id text not null references users (id), state text not null, expires_at bigint not
    null, expected integer, received integer not null, price bigint, tokens bigint not null, hold_token text,
    busy_until bigint not null, uploaded integer, skipped integer, charged bigint
  )`,
  'create index upload_sessions_by_user on upload_sessions (user_id, state)',
  'create index upload_sessions_by_state on upload_sessions (state, expires_at)',
  `create table upload_scores (
    session_id text not null references upload_sessions (id) on delete cascade, music_id integer not null, level
    integer not null, play text not null, primary key (session_id, music_id, level)
  )`,
  'create index audit_entries_by_action on audit_entries (action, seq)',
  'create index audit_entries_by_doer on audit_entries (by, seq)',
  'create index audit_entries_by_subject on audit_entries (subject, seq)',
  'create index usage_records_refused on usage_records (at) where refusal is not null',
  'insert into audit_counter (id, last_seq) values (1, 0)',
]

/** Creates them, and the library's own beside them. */
export async function tables(db: Kysely<unknown>): Promise<void> {
  const dialect = db.getExecutor().adapter instanceof PostgresAdapter ? 'postgres' : 'sqlite'
  // SQLite has a collation of this name.
  if (dialect === 'postgres') await sql`create collation "BINARY" from "C"`.execute(db)
  for (const statement of TABLES) await sql.raw(statement).execute(db)
  for (const { up } of Object.values(quotaMigrations({ dialect, prefix: COUNTERS }))) await up(db)
}
