import type { Clock } from '@scoregw/quota'
import {
  type MinuteOutcomes,
  OUTCOME_COLUMNS,
  type OutcomeColumn,
  type OutcomeRecorder,
  type OutcomeStore,
} from '@scoregw/quota/adaptive'
import * as z from 'zod'
import { adminRoute, envelope, publicRoute, type Route, success } from '../http/route.ts'
import { isoInstant, queryNumber } from '../http/schemas.ts'

const MINUTE_MS = 60_000
const MAX_DAYS = 7
/** Bucket lengths that divide a day, so that no bucket is cut. */
const BUCKET_MINUTES = [5, 10, 15, 30, 60] as const

const BUCKET_ERROR = `expected one of ${BUCKET_MINUTES.join(', ')}`

const query = z.object({
  days: queryNumber(1, MAX_DAYS, MAX_DAYS).describe('how many days back'),
  bucketMinutes: z
    .enum(BUCKET_MINUTES.map(String), BUCKET_ERROR)
    .default('30')
    .transform(Number)
    .describe('length of a bucket'),
})

const count = z.int().min(0)
const rate = z.number().min(0).max(1)

const bucket = z.object({
  ts: isoInstant,
  bucketUnix: z.int().describe('the same, in seconds since the epoch'),
  calls: count,
  codeZero: count.describe('server errors without a response to pass on (httpStatus 0)'),
  serverError: count.describe('all server errors: httpStatus 0, or 500 and above'),
  clientError: count,
  businessFail: count.describe('responses below 400 whose returnCode is not 1'),
  successRate: rate,
  failureRate: rate.describe('(businessFail + serverError) / calls; 0 without calls'),
})

/** Outcomes of requests in a period. Rates are fractions, and 0 without calls. */
type Bucket = z.output<typeof bucket>

const { ts: _ts, bucketUnix: _unix, ...totals } = bucket.shape

const answer = z.object({
  scope: z.literal('Site'),
  days: z.int(),
  bucketMinutes: z.int(),
  since: isoInstant,
  until: isoInstant,
  series: z.array(bucket),
  summary: z.object(totals),
})

export interface FailureRateOptions {
  readonly outcomes: OutcomeStore
  readonly recorder: OutcomeRecorder
  readonly clock: Clock
  /** Whether everyone can see it. */
  readonly isPublic: boolean
}

/** Routes for the outcomes of requests: for administrators, and for everyone if allowed. */
export function failureRateRoutes(options: FailureRateOptions): Route[] {
  const failureRate = failureRateOf(options)
  const ofAdministrators = [
    adminRoute('GET /admin/usage/failure-rate', {
      id: 'failureRate',
      summary: 'Outcomes of requests over the last days',
      description: 'Buckets are aligned to the half hour (UTC). Those without calls are included.',
      query,
      answer,
      async handle({ query: { days, bucketMinutes } }) {
        // Include the requests of this process up to now.
        await options.recorder.flush()
        return { body: await failureRate(days, bucketMinutes) }
      },
    }),
  ]
  if (!options.isPublic) return ofAdministrators
  return [...ofAdministrators, ofEverybody(perMinute(options, () => failureRate(MAX_DAYS, 30)))]
}

function ofEverybody(failureRate: () => Promise<FailureRate>): Route {
  return publicRoute('GET /usage/failure-rate', {
    id: 'publicFailureRate',
    tag: 'Quota',
    summary: 'Outcomes of all requests over the last 7 days',
    description:
      'In 336 half hours (UTC), including those without calls. Identifies no users. Computed once per minute.',
    answer: envelope(answer),
    async handle() {
      return { body: success(await failureRate()) }
    },
  })
}

/** Caches the result for a minute, because anyone may request it any number of times. */
function perMinute<T>({ clock }: FailureRateOptions, read: () => Promise<T>): () => Promise<T> {
  let known: { readonly minute: number; readonly value: Promise<T> } | undefined
  return () => {
    const minute = Math.floor(clock.now() / MINUTE_MS)
    if (known?.minute === minute) return known.value
    const reading = { minute, value: read() }
    known = reading
    reading.value.catch(() => {
      if (known === reading) known = undefined
    })
    return reading.value
  }
}

type FailureRate = z.output<typeof answer>

function failureRateOf({ outcomes, clock }: FailureRateOptions) {
  return async (days: number, bucketMinutes: number): Promise<FailureRate> => {
    const range = bucketRange(clock.now(), days, bucketMinutes)
    const minutes = await outcomes.read(range.fromMinute, range.toMinute)
    const { ts: since, bucketUnix: _, ...summary } = summaryOf(range, minutes)
    const until = new Date(range.toMinute * MINUTE_MS).toISOString()
    return { scope: 'Site', days, bucketMinutes, since, until, series: bucketsOf(range, minutes), summary }
  }
}

/** Numbers of requests by outcome. */
type Counts = Record<OutcomeColumn, number>

/** The sums of some minutes. */
function sumOf(minutes: readonly Readonly<Counts>[]): Counts {
  const sums = OUTCOME_COLUMNS.map((column) => [column, minutes.reduce((sum, each) => sum + each[column], 0)])
  return Object.fromEntries(sums) as Counts
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
  const parts = Array.from({ length: (toMinute - fromMinute) / bucketMinutes }, (): MinuteOutcomes[] => [])
  for (const each of minutes) parts[Math.floor((each.minute - fromMinute) / bucketMinutes)]?.push(each)
  return parts.map((part, index) => bucketOf(fromMinute + index * bucketMinutes, sumOf(part)))
}

/** Returns the whole range as one bucket. */
function summaryOf({ fromMinute }: BucketRange, minutes: readonly MinuteOutcomes[]): Bucket {
  return bucketOf(fromMinute, sumOf(minutes))
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
