import { sql } from 'kysely'
import type { Db } from '../db/schema.ts'
import type { QuotaBackend } from '../quota/backend.ts'

/** Something that the gateway cannot do its work without. */
export interface ReadinessCheck {
  readonly name: string
  /** Rejects when it does not answer. */
  check(): Promise<unknown>
}

export function checksOf(db: Db, { check, checked = 'the counters' }: QuotaBackend): ReadinessCheck[] {
  const database = { name: 'the database', check: () => sql`select 1`.execute(db) }
  return check === undefined ? [database] : [database, { name: checked, check }]
}
