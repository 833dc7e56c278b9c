import { createHash, randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { type Clock, type MemoryStore, memoryStore } from '@scoregw/quota'
import type { Db } from '../db/schema.ts'
import type { Logger } from '../log/logger.ts'
import type { BackendOptions, QuotaBackend } from './backend.ts'
import { settingsOn } from './settings.ts'

/** The age at which an unfinished save counts as abandoned, in milliseconds. */
const ABANDONED_AFTER_MS = 600_000

interface SavedCountersOptions {
  readonly db: Db
  readonly store: MemoryStore
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Saves the counters of a memory store to the database, so that they survive restarts. It saves them in parts without
 * blocking. An unfinished save is ignored.
 */
export class SavedCounters {
  readonly #db: Db
  readonly #store: MemoryStore
  readonly #clock: Clock
  readonly #logger: Logger
  /** The last save. Only one runs at a time. */
  #last: Promise<void> = Promise.resolve()
  #savedDigest = ''

  constructor({ db, store, clock, logger }: SavedCountersOptions) {
    this.#db = db
    this.#store = store
    this.#clock = clock
    this.#logger = logger
  }

  /**
   * Restores the last saved counters, whatever their policy. An unreadable part is logged and skipped, because lost
   * counters do less harm than a gateway that doesn't start.
   */
  async restore(): Promise<void> {
    const parts = await savedParts(this.#db)
    for (const { part, content } of parts) this.#restorePart(part, content)
  }

  #restorePart(part: number, content: string): void {
    try {
      this.#store.restore(JSON.parse(content))
    } catch (error) {
      this.#logger.error({ err: error, part }, UNREADABLE_PART)
    }
  }

  /** Saves the counters, unless nothing has changed since the last save. */
  save(): Promise<void> {
    const next = this.#last.then(() => this.#save())
    // The caller gets the error. The next save doesn't depend on it.
    this.#last = next.catch(() => undefined)
    return next
  }

  async #save(): Promise<void> {
    const parts: string[] = []
    const hash = createHash('sha256')
    for (const part of this.#store.snapshot()) {
      const content = JSON.stringify(part)
      parts.push(content)
      hash.update(content)
      await setImmediate()
    }
    const digest = hash.digest('hex')
    if (digest === this.#savedDigest) return
    const id = randomUUID()
    await this.#db
      .insertInto('quota_counter_snapshots')
      .values({ id, saved_at: this.#clock.now(), is_complete: 0 })
      .execute()
    for (const [part, content] of parts.entries()) {
      await this.#db.insertInto('quota_counter_parts').values({ snapshot_id: id, part, content }).execute()
      await setImmediate()
    }
    await this.#replaceOthers(id)
    this.#savedDigest = digest
  }

  /** Makes this save the current one, and deletes older ones. */
  async #replaceOthers(id: string): Promise<void> {
    const abandonedBefore = this.#clock.now() - ABANDONED_AFTER_MS
    await this.#db.transaction().execute(async (transaction) => {
      await transaction.updateTable('quota_counter_snapshots').set({ is_complete: 1 }).where('id', '=', id).execute()
      await transaction
        .deleteFrom('quota_counter_snapshots')
        .where('id', '!=', id)
        .where(({ or, eb }) => or([eb('is_complete', '=', 1), eb('saved_at', '<', abandonedBefore)]))
        .execute()
      await transaction
        .deleteFrom('quota_counter_parts')
        .where('snapshot_id', 'not in', transaction.selectFrom('quota_counter_snapshots').select('id'))
        .execute()
    })
  }
}

/** The log message for an unreadable part: another version saved it, or it is damaged. */
export const UNREADABLE_PART: string =
  'a part of the saved counters cannot be read: what it counted begins at 0 again (docs/reference/versions.md)'

/** Returns the parts of the last complete save, if there is one. */
export async function savedParts(db: Db): Promise<readonly { readonly part: number; readonly content: string }[]> {
  const snapshot = await db
    .selectFrom('quota_counter_snapshots')
    .select('id')
    .where('is_complete', '=', 1)
    .orderBy('saved_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (snapshot === undefined) return []
  return await db
    .selectFrom('quota_counter_parts')
    .select(['part', 'content'])
    .where('snapshot_id', '=', snapshot.id)
    .orderBy('part')
    .execute()
}

/** How often the counters are saved. If the process is killed, later charges are lost. */
const COUNTERS_SAVE_MS = 1_000

/** Counters in memory, saved to the database. For a single process. */
export function embeddedBackend({ db, clock, logger, changes }: BackendOptions): QuotaBackend {
  const store = memoryStore({ clock })
  const counters = new SavedCounters({ db, store, clock, logger })
  return {
    name: 'embedded',
    store,
    settings: settingsOn(db, clock, changes),
    chores: [{ what: 'saving the counters', everyMs: COUNTERS_SAVE_MS, run: () => counters.save() }],
    begin: () => counters.restore(),
    finish: () => counters.save(),
  }
}
