import type { CallOutcome, OutcomeRecorder, OutcomeStore } from '@scoregw/quota/adaptive'
import type * as z from 'zod'
import { type BucketRange, bucketsOf } from '../../usage/failure-rate.ts'
import type { requestStep } from './documents.ts'

/** How requests of one second ended. Each counts in exactly one. */
interface Endings {
  readonly succeeded: number
  /** By a limit, with 429. */
  readonly refused: number
  /** By other faults of the caller. */
  readonly clientError: number
  /** Server errors: ours, or those of a source. */
  readonly serverError: number
}

const ENDINGS = ['succeeded', 'refused', 'clientError', 'serverError'] as const

/** How many whole seconds are reported; the current one is not. */
const SECONDS = 60
/** Over how many of them a rate is taken. */
const RATE_SECONDS = 10

/** How the requests of the last minute ended in this process, second by second. */
export class RequestRates {
  /** A ring of seconds, including the current one, each with its counts in {@link ENDINGS}' order. */
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

  /** The last whole seconds, the oldest first. */
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
    // After a step back of the clock, requests count in the current second.
    if (second <= this.#second) return
    const first = Math.max(this.#second + 1, second - SECONDS)
    for (let each = first; each <= second; each++) {
      this.#counts.fill(0, placeOf(each), placeOf(each) + ENDINGS.length)
    }
    this.#second = second
  }
}

/** Requests a second over the last ten seconds. */
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

/** How the requests of one step of time ended, over all processes. */
export type RequestStep = z.output<typeof requestStep>

/** How requests ended in the steps of a range, the oldest first; those of this process are written first. */
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
