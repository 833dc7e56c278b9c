import type { Clock } from '../time/clock.ts'
import {
  type MinuteOutcomes,
  noOutcomes,
  OUTCOMES_KEPT_MINUTES,
  type OutcomeStore,
  OutcomeTable,
} from './outcome-store.ts'

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

export interface OutcomeRecorderOptions {
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
