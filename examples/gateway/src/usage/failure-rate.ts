import { type MinuteOutcomes, OUTCOME_COLUMNS, type OutcomeColumn } from '@scoregw/quota/adaptive'

/** How many requests ended in which way. */
type Counts = Record<OutcomeColumn, number>

function noCounts(): Counts {
  return Object.fromEntries(OUTCOME_COLUMNS.map((column) => [column, 0])) as Counts
}

/** Adds to a sum, in place. */
function addCounts(sum: Counts, more: Readonly<Counts>): void {
  for (const column of OUTCOME_COLUMNS) sum[column] += more[column]
}

const MINUTE_MS = 60_000

/** How the requests of one stretch of time ended. Rates are fractions, 0 where there were no calls. */
interface Bucket {
  /** When it begins, ISO 8601 and in seconds since the epoch. */
  readonly ts: string
  readonly bucketUnix: number
  readonly calls: number
  /** Server internal errors without an answer to pass on (`httpStatus` 0). */
  readonly codeZero: number
  /** All server internal errors: `httpStatus` 0, or 500 and above. */
  readonly serverError: number
  readonly clientError: number
  readonly businessFail: number
  readonly successRate: number
  readonly failureRate: number
}

/** The stretches of time of a chart: the last one is the current one. Aligned to whole buckets since the epoch (UTC). */
export interface BucketRange {
  readonly bucketMinutes: number
  /** The first minute of the first bucket, and the first one after the last bucket. */
  readonly fromMinute: number
  readonly toMinute: number
}

/** The last days in whole buckets: `days x 1440 / bucketMinutes` of them. */
export function bucketRange(nowMs: number, days: number, bucketMinutes: number): BucketRange {
  const nowMinute = Math.floor(nowMs / MINUTE_MS)
  const toMinute = (Math.floor(nowMinute / bucketMinutes) + 1) * bucketMinutes
  return { bucketMinutes, fromMinute: toMinute - days * 1_440, toMinute }
}

/** One bucket after the other, those without calls among them. */
export function bucketsOf(range: BucketRange, minutes: readonly MinuteOutcomes[]): Bucket[] {
  const { bucketMinutes, fromMinute, toMinute } = range
  const sums = Array.from({ length: (toMinute - fromMinute) / bucketMinutes }, noCounts)
  for (const each of minutes) {
    const sum = sums[Math.floor((each.minute - fromMinute) / bucketMinutes)]
    if (sum !== undefined) addCounts(sum, each)
  }
  return sums.map((sum, index) => bucketOf(fromMinute + index * bucketMinutes, sum))
}

/** All of it as one bucket, which begins with the first minute. */
export function summaryOf({ fromMinute }: BucketRange, minutes: readonly MinuteOutcomes[]): Bucket {
  const sum = noCounts()
  for (const each of minutes) addCounts(sum, each)
  return bucketOf(fromMinute, sum)
}

function bucketOf(minute: number, { calls, codeZero, clientError, businessFail, ...rest }: Readonly<Counts>): Bucket {
  const serverError = codeZero + rest.serverError
  const rate = (part: number): number => (calls === 0 ? 0 : part / calls)
  return {
    ts: new Date(minute * MINUTE_MS).toISOString(),
    bucketUnix: minute * 60,
    calls,
    codeZero,
    serverError,
    clientError,
    businessFail,
    successRate: rate(calls - serverError - clientError - businessFail),
    failureRate: rate(serverError + businessFail),
  }
}
