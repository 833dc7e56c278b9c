import assert from 'node:assert/strict'
import { type BucketWindow, windowCell } from '@scoregw/quota/internal'
import { abilityCase, type CaseOf } from './abilities.ts'
import type { CaseContext, Need } from './harness.ts'
import { HoldProbe } from './hold-probe.ts'
import type { ContextCase } from './old-case.ts'
import { HOUR_MS, ONE_WINDOW, tokenCells } from './probe.ts'
import type { Table } from './table.ts'

const MINUTE_MS = 60_000
const BUCKET: BucketWindow = { label: '1m', lengthMs: MINUTE_MS, burst: 10 }

/** A bucket in one layer, refilled to its limit each minute. */
const ONE_BUCKET: Table = { ...ONE_WINDOW, cells: tokenCells(windowCell(BUCKET)) }

/** The slowest and the fastest bucket: one token per year, and 10^11 per year. */
const YEAR_MS = 366 * 86_400_000
const YEARLY: Table = { ...ONE_WINDOW, cells: tokenCells(windowCell({ ...BUCKET, lengthMs: YEAR_MS })) }

/** 10 tokens per minute, and at most 10 saved up: one each 6 s. */
const TEN = { limits: [10], rates: [10] }
/** 20 tokens per minute, and at most 4 saved up: one each 3 s. */
const FOUR = { limits: [4], rates: [20] }
const [NO_LIMIT, NOTHING_BACK] = [Number.POSITIVE_INFINITY, 0]

interface Given extends CaseContext {
  readonly probe: HoldProbe
  /** When the case starts. */
  readonly begin: number
}

function bucketCaseWith(...more: readonly Need[]): CaseOf<Given> {
  return (name, run) =>
    abilityCase(`bucket: ${name}`, ['bucket', ...more], (context) => {
      const { store, clock } = context
      return run({ ...context, probe: new HoldProbe(store, ONE_BUCKET, 10), begin: clock.now() })
    })
}

const bucketCase = bucketCaseWith()

/** Cases about token buckets: which tokens return when, and what a cell reports. */
export const BUCKET_CASES: readonly ContextCase[] = [
  bucketCase('tokens come back one at a time, each at its exact millisecond', async ({ probe, advance, begin }) => {
    assert.deepEqual(await probe.states(), [-1, 0])
    assert.deepEqual([...(await probe.admitted(10, TEN)).states], [begin, 10])
    for (let token = 1; token <= 5; token++) {
      await advance(5_999)
      assert.deepEqual([...(await probe.refused(1, TEN)).states], [begin, 9 + token], 'the cell as it is')
      await advance(1)
      assert.deepEqual([...(await probe.admitted(1, TEN)).states], [begin, 10 + token])
    }
    assert.deepEqual(await probe.states(), [begin, 15])
  }),
  bucketCase('a start older than the length moves exactly by the length', async ({ probe, advance, begin }) => {
    await probe.admitted(10, TEN)
    await advance(MINUTE_MS - 6_000)
    assert.deepEqual([...(await probe.admitted(9, TEN)).states], [begin, 19])
    await advance(5_999)
    await probe.refused(1, TEN)
    await advance(1)
    assert.deepEqual([...(await probe.refused(2, TEN)).states], [begin, 19], 'a refusal moves nothing')
    assert.deepEqual([...(await probe.admitted(1, TEN)).states], [begin + MINUTE_MS, 10])
    await advance(5_999)
    await probe.refused(1, TEN)
    await advance(1)
    await probe.admitted(1, TEN)
  }),
  bucketCase(
    'a caller that always takes everything gets the limit per length',
    async ({ probe, advance, begin, clock }) => {
      await probe.admitted(4, FOUR)
      for (let taken = 0; clock.now() < begin + 5 * MINUTE_MS; taken++) {
        await advance(3_000)
        await probe.admitted(1, FOUR)
        await probe.refused(1, FOUR)
        assert.ok(taken < 100)
      }
      const [start = 0, used = 0] = await probe.states()
      assert.ok(start > clock.now() - MINUTE_MS - 3_000 && used <= 44, 'the cell is as young and small as it can be')
    },
  ),
  bucketCase('a year and 10^11 tokens are counted exactly', async ({ store, advance, begin }) => {
    const most = 99_999_999_977
    const probe = new HoldProbe(store, YEARLY, most)
    const yearly = { limits: [most], rates: [most] }
    await probe.admitted(most, yearly)
    // At the last of these, a product of doubles is one token too high.
    for (const ms of [1, 7, 86_399_999, 27_408_278_520]) {
      await advance(ms)
      const [startedAt, used = 0] = await probe.states()
      assert.equal(startedAt, begin)
      const age = BigInt((await probe.refused(most, yearly)).now - begin)
      const room = most - used + Number((age * BigInt(most)) / BigInt(YEAR_MS))
      await probe.refused(room + 1, yearly)
      await probe.admitted(room, yearly)
    }
  }),
  bucketCase('a bucket ends two lengths after its start, including debts', async ({ probe, advance, begin }) => {
    const slow = { limits: [1], rates: [1] }
    await probe.admitted(10, TEN)
    await advance(2 * MINUTE_MS - 1)
    await probe.refused(1, slow)
    assert.deepEqual(await probe.states(), [begin, 10])
    await advance(1)
    assert.deepEqual(await probe.states(), [-1, 0])
    assert.deepEqual([...(await probe.admitted(1, slow)).states], [begin + 2 * MINUTE_MS, 1])
  }),
  bucketCase('an unlimited bucket refills nothing', async ({ probe, advance, begin }) => {
    const unlimited = { limits: [NO_LIMIT], rates: [NOTHING_BACK] }
    await probe.admitted(10, TEN)
    await advance(MINUTE_MS)
    assert.deepEqual([...(await probe.admitted(90, unlimited)).states], [begin, 100])
    await advance(MINUTE_MS)
    assert.deepEqual([...(await probe.admitted(90, unlimited)).states], [begin + 2 * MINUTE_MS, 90])
  }),
  bucketCase('a shadowed bucket is charged and refilled as an enforced one', async ({ probe, advance, begin }) => {
    const shadowed = { limits: [NO_LIMIT], rates: [10] }
    await probe.admitted(12, shadowed)
    await advance(12_000)
    await probe.refused(1, TEN)
    await advance(6_000)
    await probe.admitted(1, TEN)
    await advance(MINUTE_MS - 18_000)
    assert.deepEqual([...(await probe.admitted(7, shadowed)).states], [begin + MINUTE_MS, 10])
  }),
  bucketCase('a charge and refund within a millisecond keep the start', async ({ probe, begin }) => {
    for (let time = 0; time < 5; time++) {
      const reply = await probe.admitted(3, TEN)
      assert.deepEqual([...reply.states], [begin, 3])
      await probe.cancel(reply, 3)
    }
  }),
  bucketCaseWith('clock-steps')(
    'a clock that steps back refills nothing, and one that was far ahead delays no caller',
    async ({ probe, advance, stepClock, begin }) => {
      await probe.admitted(10, TEN)
      await stepClock(-5_000)
      assert.deepEqual([...(await probe.refused(1, { limits: [10], rates: [60] })).states], [begin, 10])
      await advance(5_000)
      await probe.refused(1, TEN)
      await stepClock(-5_001)
      assert.deepEqual([...(await probe.refused(1, TEN)).states], [begin - 5_000, 10])
      await advance(6_000)
      await probe.refused(1, TEN)
      await advance(1)
      await probe.admitted(1, TEN)
    },
  ),
  bucketCaseWith('holds', 'fit')('an overrun with fit counts what was refilled', async ({ probe, advance }) => {
    await probe.held('a', 10, { ...TEN, ttlMs: HOUR_MS })
    await advance(18_000)
    const fit = { ...TEN, overrun: 'fit', maxOverrun: 100, actual: 20 } as const
    assert.deepEqual(await probe.committed('a', fit), ['settled', 13, 7, 10])
    await probe.refused(1, TEN)
  }),
  bucketCaseWith('expiry')("a row is kept as long as its bucket isn't full", async ({ probe, keptForMs }) => {
    await probe.admitted(1, TEN)
    assert.ok((await keptForMs({ layer: 'personal/read', key: 'u' })) >= 2 * MINUTE_MS)
  }),
]
