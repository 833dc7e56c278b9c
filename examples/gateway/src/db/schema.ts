import type { Kysely } from 'kysely'

/** Instants are epoch milliseconds in every table. */
export interface Tables {
  users: UserTable
  gateway_tokens: GatewayTokenTable
  charts: ChartTable
  scores: ScoreTable
  quota_settings: QuotaSettingsTable
  quota_changes: QuotaChangeTable
  quota_change_counter: { id: number; last_seq: number }
  /** Only complete ones count; the parts of others are still being written, or never were. */
  quota_counter_snapshots: { id: string; saved_at: number; is_complete: 0 | 1 }
  quota_counter_parts: { snapshot_id: string; part: number; content: string }
}

export type Db = Kysely<Tables>

interface UserTable {
  id: string
  name: string
  role: 'player' | 'admin'
  created_at: number
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

interface ChartTable {
  music_id: number
  level: number
  title: string
  type: 'standard' | 'dx' | 'utage'
  /** `null` where nobody has counted them. */
  notes: number | null
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
}

/** Settings documents: one for everybody (`layer` and `key` empty), and one a subject of a layer. */
interface QuotaSettingsTable {
  layer: string
  key: string
  /** Counts on when a document is removed, so that a version never comes twice. */
  version: number
  /** JSON; `null` for a removed document. */
  document: string | null
}

/** What was changed, in the order of the commits; also how other processes hear of it. */
interface QuotaChangeTable {
  seq: number
  layer: string
  key: string
  changed_by: string | null
  changed_at: number
  /** Documents before and after as JSON; `null`: nothing stored. */
  before: string | null
  after: string | null
}
