import type { Clock } from '../time/clock.ts'
import type { Answer } from './quota-store.ts'

/**
 * The counts of calls, in this order:
 *
 * - `calls`: all. Each also counts in at most one of the next four, and then possibly in one of the last two.
 * - `codeZero`: there was no response to pass on (`httpStatus` 0)
 * - `clientError`: status 400 to 499
 * - `serverError`: status 500 and above
 * - `businessFail`: a status below 400 whose body reports a failure
 * - `refused`: the part of `clientError` with status 429
 * - `quotaUnavailable`: the part of `serverError` that is the service's own 503 about quotas
 */
export const OUTCOME_COLUMNS = [
  'calls',
  'codeZero',
  'clientError',
  'serverError',
  'businessFail',
  'refused',
  'quotaUnavailable',
] as const
export type OutcomeColumn = (typeof OUTCOME_COLUMNS)[number]

/** One minute's calls, counted. */
export interface MinuteOutcomes extends Readonly<Record<OutcomeColumn, number>> {
  /** Whole minutes since the epoch. */
  readonly minute: number
}

/** Stores keep counts for at least this long: 8 days. */
export const OUTCOMES_KEPT_MINUTES: number = 8 * 24 * 60

/**
 * Counts outcomes of calls per minute, for all processes together. Used by the adaptive mode and charts. Times are
 * arguments: a store reads no clock.
 */
export interface OutcomeStore {
  /** Adds counts, whole numbers of at least 0, to the stored ones. If it throws, some may have been added. */
  add(counts: readonly MinuteOutcomes[]): Answer<void>
  /** Returns the minutes from `fromMinute` to before `toMinute`, in order. Minutes without calls may be missing. */
  read(fromMinute: number, toMinute: number): Answer<readonly MinuteOutcomes[]>
  /** Closes everything. */
  close?(): void | PromiseLike<void>
}

/** A minute's counts, by column. */
function outcomesOf(minute: number, countOf: (column: OutcomeColumn) => number): MinuteOutcomes {
  const counts = Object.fromEntries(OUTCOME_COLUMNS.map((column) => [column, countOf(column)]))
  return { minute, ...(counts as Record<OutcomeColumn, number>) }
}

/** A minute without counts. */
export function noOutcomes(minute: number): MinuteOutcomes {
  return outcomesOf(minute, () => 0)
}

/** Counts by minute, for a limited number of minutes. The oldest one is dropped. */
export class OutcomeTable {
  readonly #maxMinutes: number
  readonly #minutes = new Map<number, MinuteOutcomes>()

  constructor(maxMinutes: number) {
    this.#maxMinutes = maxMinutes
  }

  get isEmpty(): boolean {
    return this.#minutes.size === 0
  }

  add(counts: MinuteOutcomes): void {
    const { minute } = counts
    const before = this.#minutes.get(minute)
    const sum = outcomesOf(minute, (column) => counts[column] + (before?.[column] ?? 0))
    this.#minutes.set(minute, sum)
    if (this.#minutes.size > this.#maxMinutes) this.#minutes.delete(Math.min(...this.#minutes.keys()))
  }

  /** Returns all minutes in order. */
  entries(): MinuteOutcomes[] {
    return [...this.#minutes.values()].sort((a, b) => a.minute - b.minute)
  }
}

/** How a call ended. */
export interface CallOutcome {
  /** The HTTP status; 0: there was no response to pass on. */
  readonly httpStatus: number
  /**
   * The status is a success, but the body reports a failure.
   *
   * @default false
   */
  readonly businessFail?: boolean | undefined
  /**
   * The status is the service's own 503 because quotas were unavailable.
   *
   * @default false
   */
  readonly quotaUnavailable?: boolean | undefined
}

interface OutcomeRecorderOptions {
  readonly store: OutcomeStore
  /** Determines the minute in which a call counts. */
  readonly clock: Clock
  /**
   * The longest time before counts are added to the store, in milliseconds.
   *
   * @default 1_000
   */
  readonly flushAfterMs?: number | undefined
  /**
   * Called if the timer can't add counts. They are kept and added later.
   *
   * @default not reported
   */
  readonly onError?: ((error: unknown) => void) | undefined
}

/** Counts calls in memory, and adds them to a store once per second if there are any. */
export interface OutcomeRecorder {
  /** Records a call. Returns immediately and never throws. */
  record(outcome: CallOutcome): void
  /**
   * Adds the counts to the store. If that fails, they are kept for up to 11,520 minutes and added later. If the store
   * added them although it threw, they count twice.
   *
   * @throws the store's error
   */
  flush(): Promise<void>
  /** Flushes once more, then closes. You close the store. */
  close(): Promise<void>
}

/** Makes a recorder. It records nothing after `close`. */
export function outcomeRecorder(options: OutcomeRecorderOptions): OutcomeRecorder {
  return new Recorder(options)
}

class Recorder implements OutcomeRecorder {
  readonly #store: OutcomeStore
  readonly #clock: Clock
  readonly #flushAfterMs: number
  readonly #onError: ((error: unknown) => void) | undefined
  #pending = new OutcomeTable(OUTCOMES_KEPT_MINUTES)
  #timer: ReturnType<typeof setTimeout> | undefined
  #flushing: Promise<void> = Promise.resolve()
  #closed = false

  constructor({ store, clock, flushAfterMs = 1_000, onError }: OutcomeRecorderOptions) {
    this.#store = store
    this.#clock = clock
    this.#flushAfterMs = flushAfterMs
    this.#onError = onError
  }

  record(outcome: CallOutcome): void {
    if (this.#closed) return
    this.#pending.add(countsOf(outcome, Math.floor(this.#clock.now() / 60_000)))
    this.#flushLater()
  }

  /** One flush at a time, so that a failed one has kept its counts before the next one reads them. */
  flush(): Promise<void> {
    const flushed = this.#flushing.then(() => this.#flush())
    this.#flushing = flushed.catch(() => undefined)
    return flushed
  }

  close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    this.#timer = undefined
    return this.flush()
  }

  async #flush(): Promise<void> {
    if (this.#pending.isEmpty) return
    const counts = this.#pending.entries()
    this.#pending = new OutcomeTable(OUTCOMES_KEPT_MINUTES)
    try {
      await this.#store.add(counts)
    } catch (error) {
      for (const each of counts) this.#pending.add(each)
      this.#flushLater()
      throw error
    }
  }

  #flushLater(): void {
    if (this.#closed || this.#timer !== undefined) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      // The counts are kept for the next attempt.
      this.flush().catch((error: unknown) => this.#onError?.(error))
    }, this.#flushAfterMs)
    this.#timer.unref()
  }
}

function countsOf({ httpStatus, businessFail, quotaUnavailable }: CallOutcome, minute: number): MinuteOutcomes {
  const serverError = httpStatus >= 500
  return {
    ...noOutcomes(minute),
    calls: 1,
    codeZero: one(httpStatus === 0),
    clientError: one(httpStatus >= 400 && !serverError),
    serverError: one(serverError),
    businessFail: one(businessFail === true && httpStatus > 0 && httpStatus < 400),
    refused: one(httpStatus === 429),
    quotaUnavailable: one(quotaUnavailable === true && serverError),
  }
}

function one(condition: boolean): number {
  return condition ? 1 : 0
}
