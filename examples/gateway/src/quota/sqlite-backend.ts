import { type SqliteConnection, type SqliteStore, sqliteStore } from '@scoregw/quota-sql'
import { COUNTERS } from '../db/migrations/0010-counters.ts'
import type { Db } from '../db/schema.ts'
import type { Logger } from '../log/logger.ts'
import type { BackendOptions, QuotaBackend } from './backend.ts'
import { savedParts, UNREADABLE_PART } from './saved-counters.ts'
import { settingsOn } from './settings.ts'

/** As long as the work itself waits for a file that another process writes: there is nothing else that could answer. */
const DEADLINE_MS = 5_000

/**
 * Counters in the embedded database: each charge is in the file before its caller is answered, so that a killed process
 * forgets nothing, and processes that share the file decide as one. After a power cut the last of them may be forgotten,
 * since no caller waits for the disk.
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
    // Work and counters take turns in the file anyway.
    chargesWithin: policy.concurrency === undefined,
    chores: [],
    begin: () => takeOver(db, store, logger),
    finish: () => Promise.resolve(),
  }
}

/** Counters that were saved by a version which kept them in memory. */
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
