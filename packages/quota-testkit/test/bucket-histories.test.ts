import { BUCKET_KINDS, type BucketKind, runBucketHistories, SEED } from '@scoregw/quota-histories'
import { describe, expect, it } from 'vitest'
import { BUCKET_MUTANTS } from './bucket-mutants.ts'
import { memoryFactory } from './memory-factory.ts'
import { factoryOf } from './mutant.ts'
import { TIMEOUT_MS } from './runs.ts'

const REQUESTS = process.env.QUOTA_TEST_DEEP === '1' ? 25_000 : 4_000
describe('buckets of the memory store', () => {
  it.each(BUCKET_KINDS)(
    `%s: ${REQUESTS} random requests are decided as by an ideal bucket (seed ${SEED})`,
    { timeout: TIMEOUT_MS },
    async (kind) => {
      const counts = await runBucketHistories(memoryFactory, { kind, requests: REQUESTS })
      expect(Math.min(counts.admitted, counts.requests - counts.admitted)).toBeGreaterThan(REQUESTS / 10)
      if (kind === 'one limit') expect(counts.waited).toBeGreaterThan(REQUESTS / 100)
    },
  )
})

/** Each rule left out, and the histories that break a promise then. */
const BROKEN: readonly (readonly [fault: string, kind: BucketKind])[] = [
  ['what comes back is counted in doubles', 'one limit'],
  ['a token comes back each so many whole milliseconds', 'one limit'],
  ['a full bucket goes on', 'one limit'],
  ['the start never moves', 'one limit'],
  ['the start moves to the instant, by whole tokens', 'one limit'],
  ['a bucket ends with its length', 'one limit'],
  ['a clock that steps back gives tokens', 'clock steps'],
  ['another rate is another counter', 'changing limits'],
]

describe('bucket mutants', () => {
  it.each(BROKEN)('the fault “%s” is found by histories of %s', { timeout: TIMEOUT_MS }, async (fault, kind) => {
    const mutant = BUCKET_MUTANTS.find((each) => each.fault === fault)!
    await expect(runBucketHistories(factoryOf(mutant), { kind, requests: 20_000, seed: 1 })).rejects.toThrow(
      /AssertionError|TypeError/,
    )
  })
})
