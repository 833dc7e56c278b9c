import { sql } from 'kysely'
import type { Db } from '../db/schema.ts'
import { connectionOf } from '../db/sqlite.ts'
import type { QuotaBackend } from '../quota/backend.ts'
import { roomOnDisk } from './room-on-disk.ts'

/** Something that the gateway cannot do its work without. */
export interface ReadinessCheck {
  readonly name: string
  /** Rejects when it does not answer. */
  check(): Promise<unknown>
}

/** @param dataDir where an embedded database is */
export function checksOf(db: Db, { check, checked = 'the counters' }: QuotaBackend, dataDir: string): ReadinessCheck[] {
  const database = { name: 'the database', check: () => sql`select 1`.execute(db) }
  const disk = connectionOf(db) === undefined ? [] : [roomOnDisk(db, dataDir)]
  return [database, ...disk, ...(check === undefined ? [] : [{ name: checked, check }])]
}
