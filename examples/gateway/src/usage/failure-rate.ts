import { type MinuteOutcomes, OUTCOME_COLUMNS, type OutcomeColumn } from '@scoregw/quota/adaptive'

/** Numbers of requests by outcome. */
type Counts = Record<OutcomeColumn, number>

function noCounts(): Counts {
  return Object.fromEntries(OUTCOME_COLUMNS.map((column) => [column, 0])) as Counts
}

/** Adds to a sum, in place. */
function addCounts(sum: Counts, more: Readonly<Counts>): void {
  for (const column of OUTCOME_COLUMNS) sum[column] += more[column]
}

const MINUTE_MS = 60_000

/** Outcomes of requests in a period. Rates are fractions, and 0 without calls. */
interface Bucket {
  /** The start: ISO 8601, and seconds since the epoch. */
  readonly ts: string
  readonly bucketUnix: number
  readonly calls: number
  /** Server errors without a response to pass on (`httpStatus` 0). */
  readonly codeZero: number
  /** All server errors: `httpStatus` 0, or 500 and above. */
  readonly serverError: number
  readonly clientError: number
  readonly businessFail: number
  readonly successRate: number
  readonly failureRate: number
}

/** The buckets of a chart. They are aligned to the epoch (UTC), and the last one is current. */
export interface BucketRange {
  readonly bucketMinutes: number
  /** The first minute of the range, and the first minute after it. */
  readonly fromMinute: number
  readonly toMinute: number
}

/** Returns the range of the last days: `days x 1440 / bucketMinutes` buckets. */
export function bucketRange(nowMs: number, days: number, bucketMinutes: number): BucketRange {
  const nowMinute = Math.floor(nowMs / MINUTE_MS)
  const toMinute = (Math.floor(nowMinute / bucketMinutes) + 1) * bucketMinutes
  return { bucketMinutes, fromMinute: toMinute - days * 1_440, toMinute }
}

/** Returns all buckets in order, including those without calls. */
export function bucketsOf(range: BucketRange, minutes: readonly MinuteOutcomes[]): Bucket[] {
  const { bucketMinutes, fromMinute, toMinute } = range
  const sums = Array.from({ length: (toMinute - fromMinute) / bucketMinutes }, noCounts)
  for (const each of minutes) {
    const sum = sums[Math.floor((each.minute - fromMinute) / bucketMinutes)]
    if (sum !== undefined) addCounts(sum, each)
  }
  return sums.map((sum, index) => bucketOf(fromMinute + index * bucketMinutes, sum))
}

/** Returns the whole range as one bucket. */
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
