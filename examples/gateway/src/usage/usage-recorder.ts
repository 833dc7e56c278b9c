import { setImmediate } from 'node:timers/promises'
import type { Clock } from '@scoregw/quota'
import type { Chore } from '../chores.ts'
import type { UsageRecord } from './usage-record.ts'
import type { UsageRecords } from './usage-records.ts'

/** Most requests that wait to be written down. */
const MOST_WAITING = 10_000
/** Records that are written together, before others have a turn. */
const WRITTEN_AT_ONCE = 100
/** How long a request whose caller has gone is waited for, in milliseconds. */
const MOST_PATIENCE_MS = 60_000

const WRITE_EVERY_MS = 1_000
const FORGET_EVERY_MS = 10 * 60_000

/** A request that was metered; what it is charged may change until its work is over, also when its caller has gone. */
export interface Metered extends Omit<UsageRecord, 'charged'> {
  charged(): number
  isOver(): boolean
}

/** Keeps in memory what was metered, and writes it down once a second: no request waits for that. */
export class UsageRecorder {
  readonly #records: UsageRecords
  readonly #clock: Clock
  readonly #mostWaiting: number
  #waiting: Metered[] = []
  #dropped = 0
  #flushing: Promise<void> = Promise.resolve()
  /** Whose records were written since those were counted that a user has too many of. */
  #written = new Set<string>()

  constructor(records: UsageRecords, clock: Clock, mostWaiting: number = MOST_WAITING) {
    this.#records = records
    this.#clock = clock
    this.#mostWaiting = mostWaiting
  }

  /** Requests that were not written down, since too many were waiting. */
  get dropped(): number {
    return this.#dropped
  }

  /** Never throws, never waits. */
  record(metered: Metered): void {
    if (this.#waiting.length >= this.#mostWaiting) this.#dropped++
    else this.#waiting.push(metered)
  }

  /**
   * Writes finished records. If that fails they are kept for the next time.
   * @throws the database's error
   */
  flush(): Promise<void> {
    return this.#flushAll(({ at, isOver }) => isOver() || at <= this.#clock.now() - MOST_PATIENCE_MS)
  }

  /** Writes down everything. */
  close(): Promise<void> {
    return this.#flushAll(() => true)
  }

  chores(): readonly Chore[] {
    return [
      { what: 'writing usage records', everyMs: WRITE_EVERY_MS, run: () => this.flush() },
      { what: 'forgetting old usage records', everyMs: FORGET_EVERY_MS, run: () => this.forget() },
    ]
  }

  /** Deletes records that are too old, and those of active users beyond the most a user may have. */
  async forget(): Promise<void> {
    const users = this.#written
    this.#written = new Set()
    for (const userId of users) {
      await this.#records.forgetMost(userId)
      await setImmediate()
    }
    await this.#records.forgetOld(this.#clock.now())
  }

  /** One at a time, so that none is written twice. */
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
      for (const { userId } of batch) this.#written.add(userId)
      await setImmediate()
    }
  }
}

function recordOf({ charged, isOver: _, ...record }: Metered): UsageRecord {
  return { ...record, charged: charged() }
}
