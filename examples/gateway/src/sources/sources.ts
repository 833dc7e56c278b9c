import { randomUUID } from 'node:crypto'
import type { Clock } from '@scoregw/quota'
import * as z from 'zod'
import type { Db } from '../db/schema.ts'
import { HttpError } from '../http/http-error.ts'
import { envelope } from '../http/route.ts'
import { instantText, isoInstant } from '../http/schemas.ts'
import type { Logger } from '../log/logger.ts'
import type { ScoreService } from '../scores/score-service.ts'
import { divingFish } from './diving-fish.ts'
import { Forwarder } from './forwarder.ts'
import { lxns } from './lxns.ts'
import type { ScoreSource, SourceCredential, SourceName } from './score-source.ts'

/**
 * How long an import may take besides the call to the source, in milliseconds: waiting for the database, and writing.
 */
const WORK_MS = 30_000

/** How many records a response lists one by one. */
const MAX_ERRORS = 100

export const importAnswer = envelope(
  z.object({
    source: z.enum(['lx', 'fish']),
    fetched: z.int().min(0),
    created: z.int().min(0),
    updated: z.int().min(0),
    unchanged: z.int().min(0),
    skipped: z.int().min(0),
    errors: z.array(z.object({ path: z.string(), msg: z.string() })).readonly(),
    syncedAt: isoInstant,
  }),
)
type ImportResult = z.output<typeof importAnswer>['businessData']

interface SourcesOptions {
  readonly db: Db
  readonly clock: Clock
  readonly logger: Logger
  readonly scores: ScoreService
  readonly config: {
    readonly LXNS_BASE_URL: string
    readonly FISH_BASE_URL: string
    /** How long a source may take. */
    readonly SOURCE_TIMEOUT_MS: number
  }
}

/** Imports players' scores from the two public sources. */
export class Sources {
  readonly #options: SourcesOptions
  readonly #sources: Readonly<Record<SourceName, ScoreSource>>
  readonly #closing = new AbortController()
  readonly #running = new Set<Promise<unknown>>()

  constructor(options: SourcesOptions) {
    const { clock, config } = options
    const to = (source: SourceName, baseUrl: string): Forwarder =>
      new Forwarder({ source, baseUrl, timeoutMs: config.SOURCE_TIMEOUT_MS, random: Math.random })
    this.#options = options
    this.#sources = {
      lx: lxns(to('lx', config.LXNS_BASE_URL), clock),
      fish: divingFish(to('fish', config.FISH_BASE_URL), clock),
    }
  }

  /**
   * Reads a player's scores from a source and merges them into the stored ones, keeping the best of each field. It
   * stores all of them or none. It goes on if the caller disconnects: the caller has paid for it.
   *
   * @throws {HttpError} `sync_in_progress` while another import of the player runs, and those of {@link ScoreSource}
   */
  import(userId: string, source: SourceName, credential: SourceCredential): Promise<ImportResult> {
    const running = this.#alone(userId, () => this.#import(userId, source, credential))
    this.#running.add(running)
    return running.finally(() => this.#running.delete(running))
  }

  /** Ends every import: those that wait for a source fail, those that write are finished. */
  async close(): Promise<void> {
    this.#closing.abort(new HttpError('shutting_down', 'The gateway is stopping. Try again.', { retryAfterSeconds: 5 }))
    await Promise.allSettled(this.#running)
  }

  async #import(userId: string, source: SourceName, credential: SourceCredential): Promise<ImportResult> {
    const { scores, clock } = this.#options
    const { signal } = this.#closing
    const { fetched, plays, faults, rating } = await this.#sources[source].fetchScores(credential, signal)
    const counts = await scores.importBest(userId, { source, plays, rating })
    const errors = faults.slice(0, MAX_ERRORS)
    return { source, fetched, ...counts, skipped: faults.length, errors, syncedAt: instantText(clock.now()) }
  }

  /**
   * Locks a player's imports in the database, for all processes. The lease of a process that died expires. Leases only
   * spare the source and the player a second import; the transaction that writes the scores keeps them correct.
   */
  async #alone<T>(userId: string, work: () => Promise<T>): Promise<T> {
    const { db, clock, logger, config } = this.#options
    const now = clock.now()
    const lease = { lease_id: randomUUID(), expires_at: now + config.SOURCE_TIMEOUT_MS + WORK_MS }
    const { numInsertedOrUpdatedRows = 0n } = await db
      .insertInto('source_imports')
      .values({ user_id: userId, ...lease })
      .onConflict((conflict) =>
        conflict.column('user_id').doUpdateSet(lease).where('source_imports.expires_at', '<=', now),
      )
      .executeTakeFirstOrThrow()
    if (numInsertedOrUpdatedRows === 0n) {
      throw new HttpError('sync_in_progress', 'Another import of your scores is running. Try again when it has ended.')
    }
    try {
      return await work()
    } finally {
      // By its id: a lease that expired may belong to another process by now.
      const own = db.deleteFrom('source_imports').where('user_id', '=', userId).where('lease_id', '=', lease.lease_id)
      // One that cannot be released expires by itself. That's no reason to lose what was imported.
      await own.execute().catch((error: unknown) => logger.warn({ err: error }, 'import lease could not be released'))
    }
  }
}
