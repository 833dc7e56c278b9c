import type { Generated, Kysely } from 'kysely'

/** Instants are epoch milliseconds in every table. */
export interface Tables {
  users: UserTable
  gateway_tokens: GatewayTokenTable
  charts: ChartTable
  scores: ScoreTable
  tickets: TicketTable
  items: ItemTable
  gates: GateTable
  idempotency_keys: IdempotencyKeyTable
  /** A row while a player's import from a source runs; one whose process died is over at `expires_at`. */
  source_imports: { user_id: string; lease_id: string; expires_at: number }
  /** Only complete ones count; the parts of others are still being written, or never were. */
  quota_counter_snapshots: { id: string; saved_at: number; is_complete: 0 | 1 }
  quota_counter_parts: { snapshot_id: string; part: number; content: string }
  service_credentials: ServiceCredentialTable
  audit_entries: AuditEntryTable
  audit_counter: { id: number; last_seq: number }
  sync_players: SyncPlayerTable
  sync_scores: SyncScoreTable
  sync_days: SyncDayTable
  sync_snapshots: SyncSnapshotTable
  sync_chunks: SyncChunkTable
  upload_sessions: UploadSessionTable
  upload_scores: UploadScoreTable
  usage_records: UsageRecordTable
  usage_days: UsageDayTable
  alerts: AlertTable
  /** One row: where alerts are sent. */
  webhooks: WebhookTable
  /** One row: which process sends alerts. One whose process died is over at `expires_at`. */
  alert_sender: { id: number; lease_id: string; expires_at: number }
}

export type Db = Kysely<Tables>

interface UserTable {
  id: string
  name: string
  role: 'player' | 'admin'
  /** 1: every credential of the user is refused. */
  disabled: Generated<0 | 1>
  /** The account of score sync that is this user's. */
  qq: Generated<number | null>
  /** Credits, for tickets. */
  balance: Generated<number>
  player_rating: Generated<number>
  play_count: Generated<number>
  created_at: number
  /** When the player's data or scores changed last; `null`: not since the user was created. */
  data_changed_at: Generated<number | null>
  /** Written first in every transaction on a player's data: it makes such transactions take turns. */
  touched_at: number
}

interface GatewayTokenTable {
  id: string
  user_id: string
  /** SHA-256 of the token in hexadecimal; the token itself is nowhere. */
  hash: string
  label: string
  created_at: number
}

interface ServiceCredentialTable {
  id: string
  service: 'sync' | 'charts'
  /** For people; nothing is found by it. */
  name: string
  /** SHA-256 of the credential in hexadecimal; the credential itself is nowhere. */
  hash: string
  created_at: number
}

/** What administrators did, in the order of the commits. */
export interface AuditEntryTable {
  seq: number
  at: number
  by: string | null
  action: string
  /** What was changed; `null`: the one thing of its kind. */
  subject: string | null
  /** JSON; `null`: there was nothing, or is nothing any more. */
  before: string | null
  after: string | null
}

export interface ChartTable {
  music_id: number
  level: number
  title: string
  type: 'standard' | 'dx' | 'utage'
  /** `null` where they have not been counted. */
  notes: number | null
  artist: string | null
  charter: string | null
  /** As players write it: `13+`. */
  difficulty: string | null
  /** The exact difficulty, times ten. */
  constant_tenths: number | null
  taps: number | null
  holds: number | null
  slides: number | null
  touches: number | null
  breaks: number | null
}

export interface ScoreTable {
  user_id: string
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
  /** The account of score sync that it came from whole, as long as `source` is `bot`; and the turn of it that had it last. */
  sync_qq: Generated<number | null>
  sync_turn: Generated<number | null>
}

/** A player as reported by bots, with or without an account here. */
export interface SyncPlayerTable {
  qq: number
  /** Counts the player's writes; written first in each of them, which makes them take turns. */
  turn: number
  nickname: string | null
  /** Where the bot has its scores from, in its own words. */
  bot_source: string | null
  /** The total, and its parts: the best 35 of older versions, the best 15 of the newest. */
  rating: number | null
  old_rating: number | null
  new_rating: number | null
  play_count: number | null
  synced_at: number | null
}

/** What a player had after the last sync of a day in Beijing, counted from 1 January 1970. */
export interface SyncDayTable {
  qq: number
  day: number
  rating: number | null
  old_rating: number | null
  new_rating: number | null
  record_count: number
}

/** Scores of a player without an account. */
interface SyncScoreTable extends Omit<ScoreTable, 'user_id'> {
  qq: number
}

export interface SyncSnapshotTable {
  qq: number
  /** The bot's. */
  id: string
  /** An open one whose time is over, or whose account is not the player's any more, is as good as expired. */
  state: 'open' | 'finished' | 'expired'
  is_full: 0 | 1
  /** The turn of its first chunk. */
  first_turn: number
  chunk_total: number | null
  /** The user whose scores it writes; `null`: none yet. */
  user_id: string | null
  /** Whether its final chunk has come, perhaps before others. */
  has_final: 0 | 1
  valid_records: number
  touched_at: number
}

interface SyncChunkTable {
  qq: number
  snapshot_id: string
  turn: number
  chunk_index: number | null
  /** Of its records. */
  checksum: string
  /** JSON: the answer's counts and errors. */
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

export interface GateTable {
  user_id: string
  gate_id: number
  is_gate_found: 0 | 1
  is_key_found: 0 | 1
  is_clear: 0 | 1
  total_rest_life: number
  total_achievement: number
  total_deluxscore: number
  best_achievement: number
  best_deluxscore: number
  best_achievement_at: number | null
  best_deluxscore_at: number | null
  play_count: number
  clear_at: number | null
  last_play_at: number | null
  is_info_watched: 0 | 1
}

interface IdempotencyKeyTable {
  user_id: string
  key: string
  /** A hash of the request's content; the body is not stored. */
  request_hash: string
  /** Who works on it, or did. */
  claim_id: string
  /** JSON; `null` while the work is not done. */
  reply: string | null
  /** When the claim, or the stored reply, holds no more. */
  expires_at: number
}

/** An upload in parts. */
export interface UploadSessionTable {
  id: string
  user_id: string
  state: 'open' | 'stored' | 'done' | 'expired'
  /** When an open one is over. */
  expires_at: number
  expected: number | null
  /** Scores that have come. */
  received: number
  /** Tokens of each begun 20 scores. */
  price: number | null
  /** Tokens that are to be charged for what has come. */
  tokens: number
  /** Names the hold that has them: not to be shown. */
  hold_token: string | null
  /** The call that has the session to itself, or had it last. */
  claim_id: string | null
  claimed_until: number
  uploaded: number | null
  skipped: number | null
  charged: number | null
}

/** A score that has come in a session. */
interface UploadScoreTable {
  session_id: string
  music_id: number
  level: number
  /** JSON. */
  play: string
}

/** What administrators are to be notified of; also the outbox of the webhook. */
export interface AlertTable {
  /** Also the message's id for the receiver, in every attempt. */
  id: string
  /** A hash that identifies the occasion: all processes together raise one alert for it. */
  occasion: string
  type: string
  at: number
  /** JSON: the payload, byte for byte. */
  body: string
  /** `kept`: there was nowhere to send it; `given_up`: the receiver never took it. */
  state: 'pending' | 'sent' | 'given_up' | 'kept'
  attempts: number
  /** When it is due; `null` unless it is pending. */
  next_at: number | null
  /** What the last attempt was answered; `null`: nothing, and `last_fault` says why. */
  last_status: number | null
  last_fault: string | null
  sent_at: number | null
}

interface WebhookTable {
  id: number
  version: number
  revision: string
  /** `null`: it was removed. */
  url: string | null
  /** JSON: names of the layers whose limits raise alerts. */
  layers: string
  secret: string | null
  /** The secret before the last rotation, which signs as well until `old_until`. */
  old_secret: string | null
  old_until: number | null
}

/** One metered request. What the refusing limit said is there for refusals alone. */
export interface UsageRecordTable {
  /** Ours, so that a record that is written twice is there once. */
  id: string
  user_id: string
  at: number
  operation: string
  category: string
  /** Tokens that it needed; `null` where nothing could be decided. */
  cost: number | null
  /** Tokens that it was charged in the end. */
  charged: number
  status: number
  /** The answer's `error`. */
  error: string | null
  settings_version: number | null
  layer: string | null
  scope: string | null
  window_label: string | null
  kind: 'rolling' | 'calendar' | 'bucket' | 'concurrency' | null
  limit_tokens: number | null
  used_tokens: number | null
  requested_tokens: number | null
  reset_at: number | null
}

/** What a user's requests of a day in Beijing came to. A day is counted from 1 January 1970. */
export interface UsageDayTable {
  user_id: string
  day: number
  requests: number
  tokens: number
  failures: number
}
