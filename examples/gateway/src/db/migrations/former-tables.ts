import type { Generated } from 'kysely'

/** Tables that one migration creates and a later one moves. */
export interface FormerTables {
  quota_settings: {
    layer: string
    key: string
    version: number
    revision: Generated<string>
    document: string | null
  }
  quota_changes: {
    seq: number
    layer: string
    key: string
    changed_by: string | null
    changed_at: number
    revision: Generated<string>
    before: string | null
    after: string | null
  }
  quota_change_counter: { id: number; last_seq: number }
  outcome_minutes: {
    minute: number
    calls: number
    code_zero: number
    client_error: number
    server_error: number
    business_fail: number
    refused: number
    quota_unavailable: number
  }
  adaptive_factor: { id: number; version: number; minute: number; state: string }
}
