import type { Clock } from '@scoregw/quota'
import type { Detail } from '../http/http-error.ts'
import { HttpError } from '../http/http-error.ts'
import type { Logger } from '../log/logger.ts'
import type { ImportCounts } from '../scores/import-best.ts'
import type { ScoreService } from '../scores/score-service.ts'
import type { ImportLease, ImportLeases } from './import-leases.ts'
import type { ScoreSource, SourceCredential, SourceName } from './score-source.ts'

/** What an import did. */
export interface ImportResult extends ImportCounts {
  readonly source: SourceName
  /** Records the source sent: created, updated, unchanged and skipped together. */
  readonly fetched: number
  readonly skipped: number
  /** The first of the skipped records, and why. */
  readonly errors: readonly Detail[]
  /** ISO 8601, UTC. */
  readonly syncedAt: string
}

/** Most records that an answer names one by one. */
const MAX_ERRORS = 100

export interface SourceImportsOptions {
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
   * Reads a player's scores from a source and merges them into the stored ones, the best of each field; all of them or
   * none. Goes on when the caller hangs up: what was paid for is delivered.
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

  /** A lease that cannot be given back ends by itself: no reason to lose what was imported. */
  async #release(lease: ImportLease): Promise<void> {
    try {
      await lease.release()
    } catch (error) {
      this.#options.logger.warn({ err: error }, 'import lease could not be released')
    }
  }
}
