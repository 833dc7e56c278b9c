import { randomUUID } from 'node:crypto'
import type { Clock } from '@scoregw/quota'
import type { Db } from '../db/schema.ts'
import { type Detail, HttpError } from '../http/http-error.ts'
import type { Logger } from '../log/logger.ts'
import type { ImportCounts } from '../scores/import-best.ts'
import type { ScoreService } from '../scores/score-service.ts'
import type { ScoreSource, SourceCredential, SourceName } from './score-source.ts'

/**
 * How long an import may take besides the call to the source, in milliseconds: waiting for the database, and writing.
 */
const WORK_MS = 30_000

/** The right to run a player's only import. */
interface ImportLease {
  /** Lets the next import begin. */
  release(): Promise<void>
}

interface ImportLeaseOptions {
  readonly db: Db
  readonly clock: Clock
  /** How long a call to a source may take, in milliseconds. */
  readonly sourceTimeoutMs: number
}

/**
 * Locks a player's import in the database, for all processes. The lease of a process that died expires. Leases only
 * spare the source and the player a second import; the transaction that writes the scores keeps them correct.
 */
export class ImportLeases {
  readonly #options: ImportLeaseOptions

  constructor(options: ImportLeaseOptions) {
    this.#options = options
  }

  /** Begins an import; `undefined` while another import of this player runs. */
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

  /** By its id: a lease that expired may belong to another process by now. */
  async #release(userId: string, leaseId: string): Promise<void> {
    const { db } = this.#options
    await db.deleteFrom('source_imports').where('user_id', '=', userId).where('lease_id', '=', leaseId).execute()
  }
}

/** The result of an import. */
export interface ImportResult extends ImportCounts {
  readonly source: SourceName
  /** The number of records that the source sent: created, updated, unchanged and skipped. */
  readonly fetched: number
  readonly skipped: number
  /** The first skipped records, and the reasons. */
  readonly errors: readonly Detail[]
  /** ISO 8601, UTC. */
  readonly syncedAt: string
}

/** How many records a response lists one by one. */
const MAX_ERRORS = 100

interface SourceImportsOptions {
  readonly leases: ImportLeases
  readonly scores: Pick<ScoreService, 'importBest'>
  readonly clock: Clock
  readonly logger: Logger
}

/** Imports players' scores from public sources. */
export class SourceImports {
  readonly #options: SourceImportsOptions
  readonly #closing = new AbortController()
  readonly #running = new Set<Promise<unknown>>()

  constructor(options: SourceImportsOptions) {
    this.#options = options
  }

  /**
   * Reads a player's scores from a source and merges them into the stored ones, keeping the best of each field. It
   * stores all of them or none. It goes on if the caller disconnects: the caller has paid for it.
   *
   * @throws {HttpError} `sync_in_progress` while another import of the player runs, and those of {@link ScoreSource}
   */
  run(userId: string, source: ScoreSource, credential: SourceCredential): Promise<ImportResult> {
    const running = this.#run(userId, source, credential)
    this.#running.add(running)
    return running.finally(() => this.#running.delete(running))
  }

  /** Ends every import: those that wait for a source fail, those that write are finished. */
  async close(): Promise<void> {
    this.#closing.abort(new HttpError('shutting_down', 'The gateway is stopping. Try again.', { retryAfterSeconds: 5 }))
    await Promise.allSettled(this.#running)
  }

  async #run(userId: string, source: ScoreSource, credential: SourceCredential): Promise<ImportResult> {
    const lease = await this.#options.leases.take(userId)
    if (lease === undefined) {
      throw new HttpError('sync_in_progress', 'Another import of your scores is running. Try again when it has ended.')
    }
    try {
      return await this.#import(userId, source, credential)
    } finally {
      await this.#release(lease)
    }
  }

  async #import(userId: string, source: ScoreSource, credential: SourceCredential): Promise<ImportResult> {
    const { scores, clock } = this.#options
    const { fetched, plays, faults, rating } = await source.fetchScores(credential, this.#closing.signal)
    const counts = await scores.importBest(userId, { source: source.name, plays, rating })
    return {
      source: source.name,
      fetched,
      ...counts,
      skipped: faults.length,
      errors: faults.slice(0, MAX_ERRORS),
      syncedAt: new Date(clock.now()).toISOString(),
    }
  }

  /** A lease that cannot be released expires by itself. That's no reason to lose what was imported. */
  async #release(lease: ImportLease): Promise<void> {
    try {
      await lease.release()
    } catch (error) {
      this.#options.logger.warn({ err: error }, 'import lease could not be released')
    }
  }
}
