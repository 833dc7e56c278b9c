import assert from 'node:assert/strict'
import { type BucketWindow, windowCell } from '@scoregw/quota/internal'
import type { ConformanceCase } from './harness.ts'
import { HOUR_MS, MINUTE_MS, USER } from './limits.ts'
import { Probe, shows } from './probe.ts'
import { casesOn, needing } from './scene.ts'

const BUCKET: BucketWindow = { label: '1m', lengthMs: MINUTE_MS, burst: 10 }

/** The slowest and the fastest bucket: one token per year, and 10^11 per year. */
const YEAR_MS = 366 * 86_400_000
const YEARLY = { limits: { own: [USER, windowCell({ ...BUCKET, lengthMs: YEAR_MS })] } } as const

/** 10 tokens per minute, and at most 10 saved up: one each 6 s. */
const TEN = { limits: 10, rates: 10 }
/** 20 tokens per minute, and at most 4 saved up: one each 3 s. */
const FOUR = { limits: 4, rates: 20 }
const [NO_LIMIT, NOTHING_BACK] = [Number.POSITIVE_INFINITY, 0]

/** Cases about token buckets: which tokens return when, and what a cell reports. */
export const BUCKET_CASES: readonly ConformanceCase[] = casesOn(
  { about: 'bucket: ', limits: { limits: { own: [USER, windowCell(BUCKET)] } }, needs: ['bucket'] },
  {
    async 'a start older than the length moves exactly by the length'({ admit, refuse, advance, begin }) {
      await admit(10, TEN)
      await advance(MINUTE_MS - 6_000)
      shows(await admit(9, TEN), [begin, 19])
      await advance(5_999)
      await refuse(1, TEN)
      await advance(1)
      shows(await refuse(2, TEN), [begin, 19], 'a refusal moves nothing')
      shows(await admit(1, TEN), [begin + MINUTE_MS, 10])
      await advance(5_999)
      await refuse(1, TEN)
      await advance(1)
      await admit(1, TEN)
    },
    async 'a caller that always takes everything gets the limit per length'(scene) {
      const { admit, refuse, read, advance, begin, clock } = scene
      await admit(4, FOUR)
      for (let taken = 0; clock.now() < begin + 5 * MINUTE_MS; taken++) {
        await advance(3_000)
        await admit(1, FOUR)
        await refuse(1, FOUR)
        assert.ok(taken < 100)
      }
      const [start = 0, used = 0] = (await read()).states
      assert.ok(start > clock.now() - MINUTE_MS - 3_000 && used <= 44, 'the cell is as young and small as it can be')
    },
    async 'a year and 10^11 tokens are counted exactly'({ store, advance, begin }) {
      const most = 99_999_999_977
      const { admit, refuse, read } = new Probe(store, YEARLY, most)
      const yearly = { limits: most, rates: most }
      await admit(most, yearly)
      // At the last of these, a product of doubles is one token too high.
      for (const ms of [1, 7, 86_399_999, 27_408_278_520]) {
        await advance(ms)
        const [startedAt, used = 0] = (await read()).states
        assert.equal(startedAt, begin)
        const age = BigInt((await refuse(most, yearly)).now - begin)
        const room = most - used + Number((age * BigInt(most)) / BigInt(YEAR_MS))
        await refuse(room + 1, yearly)
        await admit(room, yearly)
      }
    },
    async 'an unlimited bucket refills nothing'({ admit, advance, begin }) {
      const unlimited = { limits: NO_LIMIT, rates: NOTHING_BACK }
      await admit(10, TEN)
      await advance(MINUTE_MS)
      shows(await admit(90, unlimited), [begin, 100])
      await advance(MINUTE_MS)
      shows(await admit(90, unlimited), [begin + 2 * MINUTE_MS, 90])
    },
    async 'a shadowed bucket is charged and refilled as an enforced one'({ admit, refuse, advance, begin }) {
      const shadowed = { limits: NO_LIMIT, rates: 10 }
      await admit(12, shadowed)
      await advance(12_000)
      await refuse(1, TEN)
      await advance(6_000)
      await admit(1, TEN)
      await advance(MINUTE_MS - 18_000)
      shows(await admit(7, shadowed), [begin + MINUTE_MS, 10])
    },
    async 'a charge and refund within a millisecond keep the start'({ admit, cancel, begin }) {
      for (let time = 0; time < 5; time++) {
        const reply = await admit(3, TEN)
        shows(reply, [begin, 3])
        await cancel(reply, 3)
      }
    },
    'a clock that steps back refills nothing, and one that was far ahead delays no caller': needing(
      'clock-steps',
      async ({ admit, refuse, advance, stepClock, begin }) => {
        await admit(10, TEN)
        await stepClock(-5_000)
        shows(await refuse(1, { limits: 10, rates: 60 }), [begin, 10])
        await advance(5_000)
        await refuse(1, TEN)
        await stepClock(-5_001)
        shows(await refuse(1, TEN), [begin - 5_000, 10])
        await advance(6_000)
        await refuse(1, TEN)
        await advance(1)
        await admit(1, TEN)
      },
    ),
    'an overrun with fit counts what was refilled': needing(
      ['holds', 'fit'],
      async ({ held, committed, refuse, advance }) => {
        await held('a', 10, { ...TEN, ttlMs: HOUR_MS })
        await advance(18_000)
        const fit = { ...TEN, overrun: 'fit', maxOverrun: 100, actual: 20 } as const
        assert.deepEqual(await committed('a', fit), ['settled', 13, 7, 10])
        await refuse(1, TEN)
      },
    ),
  },
)
