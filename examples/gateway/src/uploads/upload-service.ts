import { type Clock, QuotaError, type RefusedDecision } from '@scoregw/quota'
import { chartText } from '../charts/chart.ts'
import type { Chore } from '../chores.ts'
import type { Db } from '../db/schema.ts'
import { HttpError, invalid } from '../http/http-error.ts'
import type { GatewayQuota, Tokens } from '../quota/policy.ts'
import type { Play } from '../scores/score.ts'
import type { UsageRecorder } from '../usage/usage-recorder.ts'
import { HoldGone, UploadHolds } from './upload-holds.ts'
import {
  changeUpload,
  createUpload,
  expireUpload,
  findUpload,
  forgetUploads,
  isComplete,
  keepPlays,
  MOST_SCORES,
  onePart,
  partUnderWay,
  receivedOf,
  SESSION_MS,
  storeUpload,
  type Upload,
  unfinishedUploads,
} from './upload-sessions.ts'

const FORGET_MS = 24 * 3_600_000
const CHORE_MS = 5_000
/** Sessions per run of the chore. */
const CHORE_SESSIONS = 50

interface UploadDeps {
  readonly db: Db
  readonly clock: Clock
  readonly quota: GatewayQuota
  readonly recorder: UsageRecorder
}

/**
 * Uploads in parts. Scores are kept apart and their tokens are held, until all are stored and charged once. If a call
 * stops halfway, the next call or any process's chore continues.
 */
export class UploadService {
  readonly #db: Db
  readonly #clock: Clock
  readonly #holds: UploadHolds

  constructor({ db, clock, quota, recorder }: UploadDeps) {
    this.#db = db
    this.#clock = clock
    this.#holds = new UploadHolds(quota, recorder, clock)
  }

  /** @throws {HttpError} `conflict` if the user has the maximum number of sessions */
  create(userId: string, expected: number | null): Promise<Upload> {
    return createUpload(this.#db, this.#clock, userId, expected)
  }

  /**
   * Keeps plays until the session is stored; a chart that has come before is replaced.
   *
   * @param plays of different charts, as many as have one price
   * @returns the session, or why there are too few tokens
   * @throws {HttpError} `not_found`, `conflict`, `session_expired`, `validation_failed`
   */
  async add(userId: string, id: string, plays: readonly Play[]): Promise<Upload | RefusedDecision<Tokens>> {
    await this.#ownedBy(userId, id)
    return onePart(this.#db, this.#clock, id, () => this.#add(userId, id, plays))
  }

  async #add(userId: string, id: string, plays: readonly Play[]): Promise<Upload | RefusedDecision<Tokens>> {
    const upload = await this.#ownedBy(userId, id)
    if (upload.state !== 'open') {
      throw new HttpError('conflict', 'The scores of this upload session are stored already.')
    }
    const known = await receivedOf(this.#db, id, plays)
    const received = upload.received + plays.filter((play) => !known.has(chartText(play))).length
    const most = upload.expected ?? MOST_SCORES
    if (received > most) {
      const msg = `with these the session has ${received} scores, and expects ${most} at most`
      throw invalid([{ path: 'musicList', msg }])
    }
    const cover = await this.#held(upload, () => this.#holds.cover(upload, received))
    if (cover === undefined) return this.#add(userId, id, plays)
    if ('allowed' in cover) return cover
    const change = { ...cover, received, expires_at: this.#clock.now() + SESSION_MS }
    if (await keepPlays(this.#db, upload, plays, change)) return { ...upload, ...change }
    // Another part, after this one took too long, has its own hold.
    if (upload.price === null) await this.#holds.cancel(cover)
    throw partUnderWay()
  }

  /**
   * Stores and charges the scores if they are complete. A repeat gets the same response.
   *
   * @throws {HttpError} `not_found`, `session_expired`
   */
  async check(userId: string, id: string): Promise<Upload> {
    const upload = await this.#ownedBy(userId, id)
    if (upload.state === 'done') return upload
    if (upload.state === 'stored') return this.#charge(upload)
    const isAll = isComplete(upload)
    // Longer if they are complete: everything that is stored can then be charged.
    const isHeld = await this.#held(upload, async () => {
      await this.#holds.extend(upload, isAll)
      return true
    })
    if (isHeld && !isAll) {
      const change = { expires_at: this.#clock.now() + SESSION_MS }
      if (await changeUpload(this.#db, upload, 'open', change)) return { ...upload, ...change }
    } else if (isHeld) {
      const stored = await storeUpload(this.#db, this.#clock, upload)
      if (stored !== undefined) return this.#charge(stored)
    }
    // Another call has changed it meanwhile.
    return this.check(userId, id)
  }

  /** Completes sessions that any process left unfinished. */
  readonly chore: Chore = {
    what: 'going on with upload sessions',
    everyMs: CHORE_MS,
    run: async () => {
      const now = this.#clock.now()
      for (const upload of await unfinishedUploads(this.#db, now, CHORE_SESSIONS)) {
        if (upload.state === 'stored') await this.#charge(upload)
        else if (upload.state === 'expired') await this.#refund(upload)
        else await this.#expire(upload)
      }
      await forgetUploads(this.#db, now - FORGET_MS)
    },
  }

  /** Charges a stored session. Several calls may do so: the hold is committed once, and recorded once. */
  async #charge(stored: Upload): Promise<Upload> {
    const charged = await this.#holds.charge(stored)
    const done = { state: 'done', charged, hold_token: null } as const
    if (await changeUpload(this.#db, stored, 'stored', done)) this.#holds.recordCharge(stored.user_id, charged)
    return { ...stored, ...done }
  }

  /** Works with an open session's hold; `undefined` if the hold is gone and the session isn't open any more. */
  async #held<T>(upload: Upload, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof HoldGone)) throw error
      if (await this.#expire(upload)) throw sessionExpired()
      return undefined
    }
  }

  /** Expires an open session: deletes its scores and refunds its tokens. @returns whether it was as it was read */
  async #expire(upload: Upload): Promise<boolean> {
    if (!(await expireUpload(this.#db, upload))) return false
    try {
      await this.#refund(upload)
    } catch (error) {
      // The counters are unavailable. The chore refunds them later.
      if (!(error instanceof QuotaError)) throw error
    }
    return true
  }

  async #refund(upload: Upload): Promise<void> {
    await this.#holds.cancel(upload)
    await changeUpload(this.#db, upload, 'expired', { hold_token: null })
  }

  /** @throws {HttpError} `not_found`, also for another user's session; `session_expired` */
  async #ownedBy(userId: string, id: string): Promise<Upload> {
    const found = await findUpload(this.#db, id)
    if (found?.user_id !== userId) throw new HttpError('not_found', 'There is no such upload session.')
    const isOver = found.state === 'open' && found.expires_at <= this.#clock.now()
    // If a call in between has extended or stored it, that is known now.
    if (isOver && !(await this.#expire(found))) return this.#ownedBy(userId, id)
    if (isOver || found.state === 'expired') throw sessionExpired()
    return found
  }
}

function sessionExpired(): HttpError {
  return new HttpError('session_expired', 'This upload session is over: nothing is stored, and nothing was charged.')
}
