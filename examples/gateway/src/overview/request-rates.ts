import type { CallOutcome, OutcomeRecorder, OutcomeStore } from '@scoregw/quota/adaptive'
import type * as z from 'zod'
import { type BucketRange, bucketsOf } from '../usage/failure-rate.ts'
import type { requestStep } from './documents.ts'

/** Outcomes of requests within one second. Each request counts once. */
interface Endings {
  readonly succeeded: number
  /** Refused by a limit, with 429. */
  readonly refused: number
  /** Other client errors. */
  readonly clientError: number
  /** Server errors, from the gateway or a source. */
  readonly serverError: number
}

const ENDINGS = ['succeeded', 'refused', 'clientError', 'serverError'] as const

/** How many whole seconds are reported. The current second isn't. */
const SECONDS = 60
/** The number of seconds that a rate averages. */
const RATE_SECONDS = 10

/** Outcomes of requests in the last minute of this process, by second. */
export class RequestRates {
  /** A ring buffer of seconds including the current one. Each has its counts in the order of {@link ENDINGS}. */
  readonly #counts = new Float64Array((SECONDS + 1) * ENDINGS.length)
  #second: number

  /** @param now epoch milliseconds */
  constructor(now: number) {
    this.#second = secondOf(now)
  }

  record(outcome: CallOutcome, now: number): void {
    this.#advance(now)
    const at = placeOf(this.#second) + ENDINGS.indexOf(endingOf(outcome))
    this.#counts[at] = (this.#counts[at] ?? 0) + 1
  }

  /** Returns the last whole seconds, the oldest first. */
  seconds(now: number): Endings[] {
    this.#advance(now)
    return Array.from({ length: SECONDS }, (_, index) => {
      const at = placeOf(this.#second - SECONDS + index)
      const [succeeded = 0, refused = 0, clientError = 0, serverError = 0] = this.#counts.subarray(at)
      return { succeeded, refused, clientError, serverError }
    })
  }

  #advance(now: number): void {
    const second = secondOf(now)
    // If the clock steps back, requests count in the current second.
    if (second <= this.#second) return
    const first = Math.max(this.#second + 1, second - SECONDS)
    for (let each = first; each <= second; each++) {
      this.#counts.fill(0, placeOf(each), placeOf(each) + ENDINGS.length)
    }
    this.#second = second
  }
}

/** Requests per second over the last ten seconds. */
export function rateOf(seconds: readonly Endings[]): number {
  const recent = seconds.slice(-RATE_SECONDS)
  const sum = recent.reduce((total, each) => total + ENDINGS.reduce((all, ending) => all + each[ending], 0), 0)
  return sum / RATE_SECONDS
}

function endingOf({ httpStatus, businessFail }: CallOutcome): keyof Endings {
  if (httpStatus === 429) return 'refused'
  if (httpStatus === 0 || httpStatus >= 500) return 'serverError'
  return httpStatus >= 400 || businessFail === true ? 'clientError' : 'succeeded'
}

function secondOf(now: number): number {
  return Math.floor(now / 1_000)
}

function placeOf(second: number): number {
  return (second % (SECONDS + 1)) * ENDINGS.length
}

/** Outcomes of requests in one step of time, from all processes. */
export type RequestStep = z.output<typeof requestStep>

/**
 * Returns the outcomes of requests in the steps of a range, the oldest first. This process writes its own counts first.
 */
export async function requestSeries(
  { outcomes, recorder }: { readonly outcomes: OutcomeStore; readonly recorder: Pick<OutcomeRecorder, 'flush'> },
  range: BucketRange,
): Promise<RequestStep[]> {
  await recorder.flush()
  const { bucketMinutes, fromMinute } = range
  const stored = await outcomes.read(fromMinute, range.toMinute)
  const refused = new Map<number, number>()
  for (const each of stored) {
    const step = Math.floor((each.minute - fromMinute) / bucketMinutes)
    refused.set(step, (refused.get(step) ?? 0) + each.refused)
  }
  return bucketsOf(range, stored).map(({ ts, calls, clientError, serverError, businessFail }, step) => {
    const byLimit = refused.get(step) ?? 0
    return {
      ts,
      calls,
      succeeded: calls - clientError - serverError - businessFail,
      refused: byLimit,
      clientError: clientError - byLimit + businessFail,
      serverError,
    }
  })
}
