import type { Clock } from '@scoregw/quota'
import type { OutcomeRecorder, OutcomeStore } from '@scoregw/quota/adaptive'
import * as z from 'zod'
import { envelope, type Route, route, success } from '../http/route.ts'
import { isoInstant, queryNumber } from '../http/schemas.ts'
import { bucketRange, bucketsOf, summaryOf } from './failure-rate.ts'

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

export interface UsageOptions {
  readonly outcomes: OutcomeStore
  readonly recorder: OutcomeRecorder
  readonly clock: Clock
  /** Whether everyone can see it. */
  readonly isPublic: boolean
}

/** Routes for the outcomes of requests: for administrators, and for everyone if allowed. */
export function usageRoutes(options: UsageOptions): Route[] {
  const failureRate = failureRateOf(options)
  const ofAdministrators = [
    route({
      method: 'get',
      path: '/admin/usage/failure-rate',
      docs: {
        id: 'failureRate',
        tag: 'Administration',
        summary: 'Outcomes of requests over the last days',
        description: 'Buckets are aligned to the half hour (UTC). Those without calls are included.',
      },
      access: 'admin',
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

function ofEverybody(failureRate: () => Promise<z.output<typeof answer>>): Route {
  return route({
    method: 'get',
    path: '/usage/failure-rate',
    docs: {
      id: 'publicFailureRate',
      tag: 'Quota',
      summary: 'Outcomes of all requests over the last 7 days',
      description:
        'In 336 half hours (UTC), including those without calls. Identifies no users. Computed once per minute.',
    },
    access: 'public',
    answer: envelope(answer),
    async handle() {
      return { body: success(await failureRate()) }
    },
  })
}

/** Caches the result for a minute, because anyone may request it any number of times. */
function perMinute<T>({ clock }: UsageOptions, read: () => Promise<T>): () => Promise<T> {
  let known: { readonly minute: number; readonly value: Promise<T> } | undefined
  return () => {
    const minute = Math.floor(clock.now() / 60_000)
    if (known?.minute === minute) return known.value
    const reading = { minute, value: read() }
    known = reading
    reading.value.catch(() => {
      if (known === reading) known = undefined
    })
    return reading.value
  }
}

type FailureRateOf = (days: number, bucketMinutes: number) => Promise<z.output<typeof answer>>

function failureRateOf({ outcomes, clock }: UsageOptions): FailureRateOf {
  return async (days, bucketMinutes) => {
    const range = bucketRange(clock.now(), days, bucketMinutes)
    const minutes = await outcomes.read(range.fromMinute, range.toMinute)
    const { ts, bucketUnix: _, ...summary } = summaryOf(range, minutes)
    const until = new Date(range.toMinute * 60_000).toISOString()
    return { scope: 'Site', days, bucketMinutes, since: ts, until, series: bucketsOf(range, minutes), summary }
  }
}
