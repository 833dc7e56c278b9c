import { randomUUID } from 'node:crypto'
import type { Clock } from '@scoregw/quota'
import type { Db } from '../db/schema.ts'

/** How long an import may take, in milliseconds, beside asking the source: waiting for the database, and writing. */
const WORK_MS = 30_000

/** A player's imports, one at a time. */
export interface ImportLease {
  /** Lets the next one begin. */
  release(): Promise<void>
}

export interface ImportLeaseOptions {
  readonly db: Db
  readonly clock: Clock
  /** How long asking a source may take, in milliseconds. */
  readonly sourceTimeoutMs: number
}

/**
 * Locks a player's import, for all processes, in the database. A lease whose process died expires. It only spares the
 * sources and the player a second import; the transaction that writes the scores keeps them right.
 */
export class ImportLeases {
  readonly #options: ImportLeaseOptions

  constructor(options: ImportLeaseOptions) {
    this.#options = options
  }

  /** Begins an import; `undefined` while another one of this player runs. */
  async take(userId: string): Promise<ImportLease | undefined> {
    const { db, clock, sourceTimeoutMs } = this.#options
    const now = clock.now()
    const lease = { lease_id: randomUUID(), expires_at: now + sourceTimeoutMs + WORK_MS }
    const { numInsertedOrUpdatedRows = 0n } = await db
      .insertInto('source_imports')
      .values({ user_id: userId, ...lease })
      .onConflict((conflict) =>
        conflict.column('user_id').doUpdateSet(lease).where('source_imports.expires_at', '<=', now),
      )
      .executeTakeFirstOrThrow()
    return numInsertedOrUpdatedRows === 0n ? undefined : { release: () => this.#release(userId, lease.lease_id) }
  }

  /** By its id: one that ended by itself may be another process's by now. */
  async #release(userId: string, leaseId: string): Promise<void> {
    const { db } = this.#options
    await db.deleteFrom('source_imports').where('user_id', '=', userId).where('lease_id', '=', leaseId).execute()
  }
}
