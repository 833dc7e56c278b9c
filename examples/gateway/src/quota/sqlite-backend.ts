import { type SqliteConnection, type SqliteStore, sqliteStore } from '@scoregw/quota-sql'
import { COUNTERS, type Db } from '../db/schema.ts'
import type { Logger } from '../log/logger.ts'
import type { BackendOptions, QuotaBackend } from './backend.ts'
import { savedParts, UNREADABLE_PART } from './saved-counters.ts'
import { settingsOn } from './settings.ts'

/** The same as the work's own wait for a locked file. No other store could answer. */
const DEADLINE_MS = 5_000

/**
 * Counters in the embedded database. Each charge is written to the file before its caller gets a response. A killed
 * process therefore loses nothing, and processes that share the file decide together. A power cut may lose the last
 * charges, because callers don't wait for the disk.
 */
export function sqliteBackend({ db, clock, logger, policy }: BackendOptions, database: SqliteConnection): QuotaBackend {
  const store = sqliteStore({
    database,
    db,
    prefix: COUNTERS,
    clock,
    synchronous: 'normal',
    deadlineMs: DEADLINE_MS,
  })
  return {
    name: 'embedded database',
    store,
    settings: settingsOn(db, clock),
    // Work and counters use the file one after the other anyway.
    chargesWithin: policy.concurrency === undefined,
    chores: [],
    begin: () => takeOver(db, store, logger),
    finish: () => Promise.resolve(),
  }
}

/** Imports counters saved by a version that kept them in memory. */
async function takeOver(db: Db, store: SqliteStore, logger: Logger): Promise<void> {
  const parts = await savedParts(db)
  for (const { part, content } of parts) {
    try {
      await store.restore(JSON.parse(content))
    } catch (error) {
      logger.error({ err: error, part }, UNREADABLE_PART)
    }
  }
  if (parts.length === 0) return
  await db.deleteFrom('quota_counter_parts').execute()
  await db.deleteFrom('quota_counter_snapshots').execute()
}
