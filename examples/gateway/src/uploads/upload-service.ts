import { setTimeout } from 'node:timers/promises'
import { type Clock, QuotaError, type RefusedDecision } from '@scoregw/quota'
import { chartText } from '../charts/chart.ts'
import type { Chore } from '../chores.ts'
import type { Db } from '../db/schema.ts'
import { HttpError, invalid } from '../http/http-error.ts'
import type { Logger } from '../log/logger.ts'
import type { GatewayQuota, Tokens } from '../quota/policy.ts'
import type { Play } from '../scores/score.ts'
import type { UsageRecorder } from '../usage/usage-recorder.ts'
import { storeUpload } from './store-upload.ts'
import { type ClaimedUpload, isComplete, MOST_OPEN, MOST_SCORES, SESSION_MS, type Upload } from './upload.ts'
import { HoldGone, UploadHolds } from './upload-holds.ts'
import { ClaimLost, TooManyOpen, UploadRepository } from './upload-repository.ts'

/** How long a check waits for another call's session, and how often it checks, in milliseconds. */
const MOST_WAIT_MS = 10_000
const LOOK_MS = 50

const FORGET_MS = 24 * 3_600_000
const CHORE_MS = 5_000
/** Sessions per run of the chore. */
const CHORE_SESSIONS = 50

interface UploadDeps {
  readonly db: Db
  readonly clock: Clock
  readonly logger: Logger
  readonly quota: GatewayQuota
  readonly recorder: UsageRecorder
}

/** The result of a check. `isStoring`: the scores are being stored and charged. */
export type CheckedUpload = Upload & { readonly isStoring: boolean }

/**
 * Uploads in parts. Scores are kept apart and their tokens are held, until all are stored and charged once. One call at
 * a time has a session. If a call stops halfway, its next call or any process's chore continues.
 */
export class UploadService {
  readonly #options: Pick<UploadDeps, 'db' | 'clock' | 'logger'> & {
    readonly uploads: UploadRepository
    readonly holds: UploadHolds
  }
  readonly #underWay = new Set<Promise<unknown>>()

  constructor({ db, clock, logger, quota, recorder }: UploadDeps) {
    const uploads = new UploadRepository(db, clock)
    this.#options = { db, clock, logger, uploads, holds: new UploadHolds(quota, recorder, clock) }
  }

  /** @throws {HttpError} `conflict` if the user has the maximum number of sessions */
  async create(userId: string, expected: number | null): Promise<Upload> {
    try {
      return await this.#options.uploads.create(userId, expected)
    } catch (error) {
      throw error instanceof TooManyOpen ? tooManyOpen(error) : error
    }
  }

  /**
   * Keeps plays until the session is stored; a chart that has come before is replaced.
   *
   * @param plays of different charts, as many as have one price
   * @returns the session, or why there are too few tokens
   * @throws {HttpError} `not_found`, `conflict`, `session_expired`, `validation_failed`
   */
  async add(userId: string, id: string, plays: readonly Play[]): Promise<Upload | RefusedDecision<Tokens>> {
    const { clock, uploads, holds } = this.#options
    await this.#ownedBy(userId, id)
    return this.#claimed(id, async (claimed) => {
      await this.#requireOpen(claimed)
      const known = new Set((await uploads.has(id, plays)).map(chartText))
      const received = claimed.received + plays.filter((play) => !known.has(chartText(play))).length
      const most = claimed.expected ?? MOST_SCORES
      if (received > most) {
        throw invalid([
          { path: 'musicList', msg: `with these the session has ${received} scores, and expects ${most} at most` },
        ])
      }
      const cover = await this.#orExpired(claimed, () => holds.cover(claimed, received))
      if ('allowed' in cover) return cover
      const expiresAt = clock.now() + SESSION_MS
      const { price, tokens, holdToken: hold_token } = cover
      await uploads.add(claimed, plays, { received, price, tokens, hold_token, expires_at: expiresAt })
      return { ...claimed, ...cover, received, expiresAt }
    })
  }

  /**
   * Stores and charges the scores if they are complete. A repeat gets the same response. `storing` means that the
   * tokens are kept until they are charged, so the session can no longer expire.
   *
   * @param isPatient whether to wait for the end of that
   * @throws {HttpError} `not_found`, `session_expired`, and with `isPatient` what went wrong
   */
  async check(userId: string, id: string, isPatient: boolean): Promise<CheckedUpload> {
    for (let waitedMs = 0; ; waitedMs += LOOK_MS) {
      const found = await this.#ownedBy(userId, id)
      if (found.state === 'done') return { ...found, isStoring: false }
      if (found.state === 'expired') throw sessionExpired()
      const claimed = await this.#options.uploads.claim(id)
      if (claimed !== undefined) return this.#checkClaimed(claimed, isPatient)
      // After its time, the other call either stores or ends the session. Which one is known soon.
      const isWaiting = isPatient || this.#isOver(found)
      if (!isWaiting || waitedMs >= MOST_WAIT_MS) return { ...found, isStoring: isComplete(found) }
      await setTimeout(LOOK_MS)
    }
  }

  /** Completes sessions that any process left unfinished. */
  readonly chore: Chore = {
    what: 'going on with upload sessions',
    everyMs: CHORE_MS,
    run: async () => {
      const { uploads, clock } = this.#options
      for (const id of await uploads.abandoned(CHORE_SESSIONS)) {
        const claimed = await uploads.claim(id)
        if (claimed !== undefined) await this.#goOn(claimed)
      }
      await uploads.forget(clock.now() - FORGET_MS)
    },
  }

  /** Waits for calls in flight. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#underWay)
  }

  async #goOn(claimed: ClaimedUpload): Promise<void> {
    await this.#alone(claimed, async () => {
      if (claimed.state === 'stored') await this.#finish(claimed)
      else if (claimed.state === 'open' && this.#isOver(claimed)) await this.#expire(claimed)
    })
  }

  async #checkClaimed(claimed: ClaimedUpload, isPatient: boolean): Promise<CheckedUpload> {
    const answer = await this.#tracked(this.#begin(claimed))
    if (answer !== undefined) return answer
    const finished = this.#tracked(this.#alone(claimed, () => this.#finish(claimed)))
    if (isPatient) return finished
    const { logger } = this.#options
    finished.catch((error: unknown) => logger.warn({ err: error }, 'an upload session could not be finished'))
    return { ...claimed, isStoring: true }
  }

  /**
   * Checks a claimed session. Returns the result and ends the claim; `undefined`: the session must be finished and
   * stays claimed. Its tokens are then kept until they are charged, so that everything stored can be charged.
   */
  async #begin(claimed: ClaimedUpload): Promise<CheckedUpload | undefined> {
    const { uploads, holds, clock } = this.#options
    if (claimed.state === 'stored') return undefined
    try {
      // Another check may have finished it since it was read.
      if (claimed.state !== 'done') {
        await this.#requireOpen(claimed)
        const isAll = isComplete(claimed)
        await this.#orExpired(claimed, () => holds.extend(claimed, isAll))
        if (isAll) return undefined
      }
    } catch (error) {
      await uploads.release(claimed)
      throw error
    }
    const expiresAt = clock.now() + SESSION_MS
    await uploads.release(claimed, { expires_at: expiresAt })
    return { ...claimed, expiresAt, isStoring: false }
  }

  /** Stores the scores unless they are stored, then charges them. Both happen once, and never only one of them. */
  async #finish(claimed: ClaimedUpload): Promise<CheckedUpload> {
    const { db, clock, uploads, holds } = this.#options
    const stored: Upload =
      claimed.state === 'stored' ? claimed : { ...claimed, state: 'stored', ...(await storeUpload(db, clock, claimed)) }
    const charged = await holds.charge(stored)
    await uploads.release(claimed, { state: 'done', charged, hold_token: null })
    holds.recordCharge(claimed.userId, charged)
    return { ...stored, state: 'done', charged, isStoring: false }
  }

  /** @throws {HttpError} `session_expired`; `conflict` if it is stored */
  async #requireOpen(claimed: ClaimedUpload): Promise<void> {
    if (claimed.state === 'expired') throw sessionExpired()
    if (claimed.state !== 'open')
      throw new HttpError('conflict', 'The scores of this upload session are stored already.')
    if (!this.#isOver(claimed)) return
    await this.#expireOrLater(claimed)
    throw sessionExpired()
  }

  async #orExpired<T>(claimed: ClaimedUpload, call: () => Promise<T>): Promise<T> {
    try {
      return await call()
    } catch (error) {
      if (!(error instanceof HoldGone)) throw error
      await this.#expireOrLater(claimed)
      throw sessionExpired()
    }
  }

  #isOver({ expiresAt }: Upload): boolean {
    return expiresAt <= this.#options.clock.now()
  }

  /**
   * Expires a session. If the counters are unavailable, the chore does it later. Until then its time shows that it is
   * over.
   */
  async #expireOrLater(claimed: ClaimedUpload): Promise<void> {
    try {
      await this.#expire(claimed)
    } catch (error) {
      if (!(error instanceof QuotaError)) throw error
    }
  }

  /** Expires a session that isn't stored: refunds its tokens and deletes its scores. */
  async #expire(claimed: ClaimedUpload): Promise<void> {
    const { uploads, holds } = this.#options
    await holds.cancel(claimed)
    await uploads.dropScores(claimed.id)
    await uploads.release(claimed, { state: 'expired', hold_token: null })
  }

  /** @throws {HttpError} `not_found`, also for another user's session */
  async #ownedBy(userId: string, id: string): Promise<Upload> {
    const found = await this.#options.uploads.find(id)
    if (found?.userId === userId) return found
    throw new HttpError('not_found', 'There is no such upload session.')
  }

  /** @throws {HttpError} `conflict` while another call has the session */
  async #claimed<T>(id: string, work: (claimed: ClaimedUpload) => Promise<T>): Promise<T> {
    const { uploads } = this.#options
    const claimed = await uploads.claim(id)
    if (claimed === undefined) throw underWay()
    return this.#alone(claimed, () => work(claimed))
  }

  /** Works on a claimed session, and ends the claim. */
  async #alone<T>(claimed: ClaimedUpload, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw error instanceof ClaimLost ? underWay(error) : error
    } finally {
      await this.#options.uploads.release(claimed)
    }
  }

  #tracked<T>(work: Promise<T>): Promise<T> {
    this.#underWay.add(work)
    const forget = (): void => void this.#underWay.delete(work)
    work.then(forget, forget)
    return work
  }
}

function underWay(cause?: unknown): HttpError {
  const msg = 'Another call of this upload session is under way. Send the same request again.'
  return new HttpError('conflict', msg, { retryAfterSeconds: 1, cause })
}

function tooManyOpen(cause: unknown): HttpError {
  const msg = `There are ${MOST_OPEN} open upload sessions already. Finish one, or wait until one ends.`
  return new HttpError('conflict', msg, { cause })
}

function sessionExpired(): HttpError {
  return new HttpError('session_expired', 'This upload session is over: nothing is stored, and nothing was charged.')
}
