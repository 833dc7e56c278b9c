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

/** A minute without counts. */
export function noOutcomes(minute: number): MinuteOutcomes {
  return {
    minute,
    calls: 0,
    codeZero: 0,
    clientError: 0,
    serverError: 0,
    businessFail: 0,
    refused: 0,
    quotaUnavailable: 0,
  }
}

/** The sum of both, column by column, with the first one's minute. */
function addOutcomes(a: MinuteOutcomes, b: MinuteOutcomes): MinuteOutcomes {
  return {
    minute: a.minute,
    calls: a.calls + b.calls,
    codeZero: a.codeZero + b.codeZero,
    clientError: a.clientError + b.clientError,
    serverError: a.serverError + b.serverError,
    businessFail: a.businessFail + b.businessFail,
    refused: a.refused + b.refused,
    quotaUnavailable: a.quotaUnavailable + b.quotaUnavailable,
  }
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
    this.#minutes.set(minute, addOutcomes(this.#minutes.get(minute) ?? noOutcomes(minute), counts))
    if (this.#minutes.size > this.#maxMinutes) this.#minutes.delete(Math.min(...this.#minutes.keys()))
  }

  /** Returns all minutes in order. */
  entries(): MinuteOutcomes[] {
    return [...this.#minutes.values()].sort((a, b) => a.minute - b.minute)
  }
}
