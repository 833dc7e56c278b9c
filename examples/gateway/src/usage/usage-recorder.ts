import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { Clock } from '@scoregw/quota'
import type { OutcomeRecorder } from '@scoregw/quota/adaptive'
import type { Request, RequestHandler, Response } from 'express'
import type { Chore } from '../chores.ts'
import { contextOf } from '../http/request-context.ts'
import type { ObserveMetered } from '../quota/metered.ts'
import { refusalIn, type UsageRecord, type UsageRecords } from './usage-records.ts'

/** The most requests that can wait to be written. */
const MOST_WAITING = 10_000
/** The most records per write. Other work can run in between. */
const WRITTEN_AT_ONCE = 100
/** How long to wait for unfinished work after the client has disconnected, in milliseconds. */
const MOST_PATIENCE_MS = 60_000

const WRITE_EVERY_MS = 1_000
const FORGET_EVERY_MS = 10 * 60_000

/** A metered request. Its charge may change until its work is over, even after the client has disconnected. */
export interface Metered extends Omit<UsageRecord, 'charged'> {
  charged(): number
  isOver(): boolean
}

/** Collects metered requests in memory, and writes them once per second. Requests don't wait for it. */
export class UsageRecorder {
  readonly #records: UsageRecords
  readonly #clock: Clock
  readonly #mostWaiting: number
  #waiting: Metered[] = []
  #dropped = 0
  #flushing: Promise<void> = Promise.resolve()
  /** Users with new records since the last cleanup. */
  #written = new Set<string>()

  constructor(records: UsageRecords, clock: Clock, mostWaiting: number = MOST_WAITING) {
    this.#records = records
    this.#clock = clock
    this.#mostWaiting = mostWaiting
  }

  /** How many requests were not recorded because too many were waiting. */
  get dropped(): number {
    return this.#dropped
  }

  /** Records a request. Returns immediately and never throws. */
  record(metered: Metered): void {
    if (this.#waiting.length >= this.#mostWaiting) this.#dropped++
    else this.#waiting.push(metered)
  }

  /**
   * Writes finished records. If it fails, they stay for the next attempt.
   *
   * @throws the database's error
   */
  flush(): Promise<void> {
    return this.#flushAll(({ at, isOver }) => isOver() || at <= this.#clock.now() - MOST_PATIENCE_MS)
  }

  /** Writes all records, finished or not. */
  close(): Promise<void> {
    return this.#flushAll(() => true)
  }

  chores(): readonly Chore[] {
    return [
      { what: 'writing usage records', everyMs: WRITE_EVERY_MS, run: () => this.flush() },
      { what: 'forgetting old usage records', everyMs: FORGET_EVERY_MS, run: () => this.forget() },
    ]
  }

  /** Deletes old records, and those that exceed the maximum of users with new records. */
  async forget(): Promise<void> {
    const users = this.#written
    this.#written = new Set()
    for (const userId of users) {
      await this.#records.forgetMost(userId)
      await setImmediate()
    }
    await this.#records.forgetOld(this.#clock.now())
  }

  /** One write at a time, so that no record is written twice. */
  #flushAll(isReady: (metered: Metered) => boolean): Promise<void> {
    const flushed = this.#flushing.then(() => this.#flush(isReady))
    this.#flushing = flushed.catch(() => undefined)
    return flushed
  }

  async #flush(isReady: (metered: Metered) => boolean): Promise<void> {
    const ready = this.#waiting.filter(isReady)
    for (let start = 0; start < ready.length; start += WRITTEN_AT_ONCE) {
      const batch = ready.slice(start, start + WRITTEN_AT_ONCE)
      await this.#records.add(batch.map(recordOf))
      const written = new Set(batch)
      this.#waiting = this.#waiting.filter((metered) => !written.has(metered))
      for (const { user_id } of batch) this.#written.add(user_id)
      await setImmediate()
    }
  }
}

function recordOf({ charged, isOver: _, ...record }: Metered): UsageRecord {
  return { ...record, charged: charged() }
}

/** The status of a request whose client disconnected before the response. */
const HUNG_UP = 499

/** Records each metered request when its response closes. */
export function observeMetered(recorder: UsageRecorder, clock: Clock): ObserveMetered {
  return (req, res, operation, category) => {
    res.once('close', () => {
      const { user, errorCode } = contextOf(req)
      if (user === undefined) return
      // Absent if the quota was unavailable.
      const { quota } = req
      const decision = quota?.decision
      recorder.record({
        ...{ id: randomUUID(), user_id: user.id, operation, category },
        at: decision?.now ?? clock.now(),
        cost: decision?.cost ?? null,
        settings_version: decision?.settingsVersion ?? null,
        refusal: refusalIn(decision),
        status: res.headersSent ? res.statusCode : HUNG_UP,
        error: errorCode ?? (decision?.allowed === false ? 'quota_exceeded' : null),
        charged: () => quota?.charged ?? 0,
        isOver: () => res.writableEnded,
      })
    })
  }
}

/**
 * Paths that aren't traffic: monitoring, administrators with their console, and pages. They are requested every few
 * seconds, and would hide real failures.
 */
const NOT_TRAFFIC = /^\/(?:$|(?:healthz|readyz|metrics|openapi\.json)$|(?:admin|reference)(?:\/|$))/

/** Whether a request counts in charts and in the rate that moves the adaptive factor. */
export function isTraffic({ path }: Request): boolean {
  return !NOT_TRAFFIC.test(path)
}

/**
 * Counts the outcome of each request of a player. Requests that couldn't be forwarded count as status 0, whatever
 * their clients received.
 */
export function observeOutcomes(recorder: Pick<OutcomeRecorder, 'record'>): RequestHandler {
  return (req, res, next) => {
    if (!isTraffic(req)) return next()
    res.once('close', () => {
      const { errorCode, isBusinessFail: businessFail } = contextOf(req)
      const quotaUnavailable = errorCode === 'quota_unavailable'
      recorder.record({ httpStatus: httpStatusOf(req, res), businessFail, quotaUnavailable })
    })
    next()
  }
}

/** The status for administrators; 0: the request couldn't be forwarded. */
export function httpStatusOf(req: Request, res: Response): number {
  if (contextOf(req).isForwardingFailed) return 0
  return res.headersSent ? res.statusCode : HUNG_UP
}
