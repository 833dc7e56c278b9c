import type { Selectable } from 'kysely'
import type { UsageRecordTable } from '../db/schema.ts'
import type { RefusingLimit, UsageRecord } from './usage-record.ts'

export function toRow(record: UsageRecord): UsageRecordTable {
  const { id, userId, at, operation, category, cost, charged, status, error, settingsVersion, refusal } = record
  return {
    id,
    user_id: userId,
    at,
    operation,
    category,
    cost,
    charged,
    status,
    error,
    settings_version: settingsVersion,
    layer: refusal?.layer ?? null,
    scope: refusal?.scope ?? null,
    window_label: refusal?.window ?? null,
    kind: refusal?.kind ?? null,
    limit_tokens: refusal?.limit ?? null,
    used_tokens: refusal?.used ?? null,
    requested_tokens: refusal?.requested ?? null,
    reset_at: refusal?.resetAt ?? null,
  }
}

export function fromRow(row: Selectable<UsageRecordTable>): UsageRecord {
  return {
    id: row.id,
    userId: row.user_id,
    at: row.at,
    operation: row.operation,
    category: row.category,
    cost: row.cost,
    charged: row.charged,
    status: row.status,
    error: row.error,
    settingsVersion: row.settings_version,
    refusal: refusalOf(row),
  }
}

/** Its columns are there together. */
function refusalOf(row: Selectable<UsageRecordTable>): RefusingLimit | null {
  const { layer, scope, window_label: window, kind } = row
  const { limit_tokens: limit, used_tokens: used, requested_tokens: requested, reset_at: resetAt } = row
  const isThere = layer !== null && scope !== null && window !== null && kind !== null
  if (!isThere || limit === null || used === null || requested === null || resetAt === null) return null
  return { layer, scope, window, kind, limit, used, requested, resetAt }
}
