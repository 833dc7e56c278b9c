import type { Generated, Kysely } from 'kysely'

/** Instants are epoch milliseconds in every table. */
export interface Tables {
  users: UserTable
  tokens: TokenTable
  charts: ChartTable
  scores: ScoreTable
  tickets: TicketTable
  items: ItemTable
  gates: GateTable
  idempotency_keys: IdempotencyKeyTable
  /** One row while an import from a source runs. The row of a process that died expires at `expires_at`. */
  source_imports: { user_id: string; lease_id: string; expires_at: number }
  audit_entries: AuditEntryTable
  audit_counter: { id: number; last_seq: number }
  sync_players: SyncPlayerTable
  sync_days: SyncDayTable
  sync_snapshots: SyncSnapshotTable
  sync_chunks: SyncChunkTable
  upload_sessions: UploadSessionTable
  upload_scores: UploadScoreTable
  usage_records: UsageRecordTable
  usage_days: UsageDayTable
  error_counts: ErrorCountTable
}

export type Db = Kysely<Tables>

/** The prefix of the library's tables: counters, settings, and how requests ended. */
export const COUNTERS = 'counter'

interface UserTable {
  id: string
  name: string
  role: 'player' | 'admin'
  /** 1: every credential of the user is refused. */
  disabled: Generated<0 | 1>
  /** The user's account in score sync. */
  qq: Generated<number | null>
  /** Credits for tickets. */
  balance: Generated<number>
  player_rating: Generated<number>
  play_count: Generated<number>
  created_at: number
  /** When the player's data or scores last changed; `null`: never since the user was created. */
  data_changed_at: Generated<number | null>
  /** Written first in every transaction on a player's data, so that such transactions take turns. */
  touched_at: number
}

interface TokenTable {
  id: string
  /** The service that accepts it. */
  service: 'gateway' | 'sync' | 'charts'
  /** The gateway's tokens belong to users. */
  user_id: string | null
  /** SHA-256 of the token, hexadecimal. The token itself is not stored. */
  hash: string
  /** The end of the token, for people who have several. */
  last_four: string
  /** For people only. */
  label: string
  created_at: number
  /** `null`: never used. Up to ten minutes late. */
  last_used_at: Generated<number | null>
  /** `null`: never. Set when another token has taken its place. */
  expires_at: number | null
}

/** Actions of administrators, in the order of their commits. */
export interface AuditEntryTable {
  seq: number
  at: number
  by: string | null
  action: string
  /** The id of the changed thing; `null` for things that exist once. */
  subject: string | null
  /** JSON; `null`: it did not exist before, or does not exist any more. */
  before: string | null
  after: string | null
}

export interface ChartTable {
  music_id: number
  level: number
  title: string
  type: 'standard' | 'dx' | 'utage'
  /** `null`: they have not been counted. */
  notes: number | null
  artist: string | null
  charter: string | null
  /** As players write it: `13+`. */
  difficulty: string | null
  /** The exact difficulty, for example 13.7. */
  constant: number | null
  /** JSON: the notes by kind. */
  counts: string | null
}

export interface ScoreTable {
  /** A user's id; or `qq/` and an account of score sync, for a player without an account here. */
  owner: string
  music_id: number
  level: number
  /** Percent x 10000. */
  achievement: number
  dx_score: number
  dx_score_source: 'exact' | 'fuzzy' | 'unknown'
  combo_status: number
  sync_status: number
  play_count: number | null
  source: 'api' | 'lx' | 'fish' | 'bot'
  played_at: number | null
  updated_at: number
  /**
   * The account of score sync that wrote the score completely, as long as `source` is `bot`, and the number of the
   * write that last had it.
   */
  sync_qq: Generated<number | null>
  sync_turn: Generated<number | null>
}

/** A player as reported by bots, whether or not they have an account here. */
export interface SyncPlayerTable {
  qq: number
  /** Counts the player's writes. Written first in each of them, so that they take turns. */
  turn: number
  nickname: string | null
  /** Where the bot got its scores, in its own words. */
  bot_source: string | null
  /** The total and its parts: the best 35 of older versions, and the best 15 of the newest. */
  rating: number | null
  old_rating: number | null
  new_rating: number | null
  play_count: number | null
  synced_at: number | null
}

/** A player's rating after the last sync of a day in Beijing. Days are counted from 1 January 1970. */
export interface SyncDayTable {
  qq: number
  day: number
  rating: number | null
  old_rating: number | null
  new_rating: number | null
  record_count: number
}

export interface SyncSnapshotTable {
  qq: number
  /** The bot's id. */
  id: string
  /** An open snapshot counts as expired once its time is over, or once its account belongs to another player. */
  state: 'open' | 'finished' | 'expired'
  is_full: 0 | 1
  /** The number of the write that stored its first chunk. */
  first_turn: number
  chunk_total: number | null
  /** The user whose scores it writes; `null`: not known yet. */
  user_id: string | null
  /** Whether its final chunk has arrived, perhaps before others. */
  has_final: 0 | 1
  valid_records: number
  touched_at: number
}

interface SyncChunkTable {
  qq: number
  snapshot_id: string
  turn: number
  chunk_index: number | null
  /** The checksum of its records. */
  checksum: string
  /** JSON: the counts and errors of the response. */
  result: string
}

interface TicketTable {
  id: string
  user_id: string
  charge_id: number
  stock: number
  purchased_at: number
  valid_until: number
}

interface ItemTable {
  user_id: string
  item_kind: number
  item_id: number
  stock: number
  is_valid: 0 | 1
}

interface GateTable {
  user_id: string
  gate_id: number
  /** JSON: the gate as it is shown. */
  gate: string
}

interface IdempotencyKeyTable {
  user_id: string
  key: string
  /** A hash of the request. The body is not stored. */
  request_hash: string
  /** JSON. */
  reply: string
  expires_at: number
}

/** An upload in several requests. */
export interface UploadSessionTable {
  id: string
  user_id: string
  state: 'open' | 'stored' | 'done' | 'expired'
  /** When an open session expires. */
  expires_at: number
  expected: number | null
  /** How many scores have arrived. */
  received: number
  /** Tokens per started 20 scores. */
  price: number | null
  /** Tokens to charge for the scores that have arrived. */
  tokens: number
  /** Identifies the hold that has the tokens. Never show it. */
  hold_token: string | null
  /** Until then, no other part is admitted. */
  busy_until: number
  uploaded: number | null
  skipped: number | null
  charged: number | null
}

/** A score that has arrived in a session. */
interface UploadScoreTable {
  session_id: string
  music_id: number
  level: number
  /** JSON. */
  play: string
}

/** One metered request. */
export interface UsageRecordTable {
  /** Made here, so that a record that is written twice is stored once. */
  id: string
  user_id: string
  at: number
  operation: string
  category: string
  /** Tokens that the request needed; `null`: no decision was possible. */
  cost: number | null
  /** Tokens that it was finally charged. */
  charged: number
  status: number
  /** The response's `error`. */
  error: string | null
  settings_version: number | null
  /** JSON: the limit that refused it. */
  refusal: string | null
}

/** The sums of a user's requests in one day in Beijing. Days are counted from 1 January 1970. */
export interface UsageDayTable {
  user_id: string
  day: number
  requests: number
  tokens: number
  failures: number
  /** Those of the failures that a limit refused. */
  refusals: number
  /** When the last request was decided. */
  last_at: number
}

/** Server errors in half an hour. Half hours are counted from 1 January 1970. */
export interface ErrorCountTable {
  half_hour: number
  /** Method and path of the route. */
  operation: string
  /** 0: forwarding failed. */
  status: number
  count: number
  last_at: number
}
