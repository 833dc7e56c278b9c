import assert from 'node:assert/strict'
import type { ConformanceCase } from './harness.ts'
import { around } from './kinds.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, MONTH, SITE, USER } from './limits.ts'
import { Probe, shows, type TwoPeriods } from './probe.ts'
import { casesOn, needing } from './scene.ts'

/** Periods that ended before an instant. */
function over(now: number): TwoPeriods {
  return [now - 2, now - 1, now]
}

/** Cases about calendar windows. */
export const CALENDAR_CASES: readonly ConformanceCase[] = casesOn(
  { about: 'calendar: ', limits: { limits: { own: [USER, MONTH] } }, needs: ['calendar'] },
  {
    async 'a clock outside both periods gives a stale answer and no charge'(scene) {
      const { take, read, admit, isAt, advance, begin } = scene
      const period = around(begin)
      const [, , nextEnd] = period
      for (const stale of [[begin + 1, begin + MINUTE_MS, begin + 2 * MINUTE_MS], over(begin)] as const) {
        const reply = await take(3, { period: stale })
        assert.deepEqual([reply.outcome, reply.now, [...reply.states]], ['stale', begin, []])
        assert.equal(reply.settingsRevision, undefined, 'it is not the settings that are stale')
        const seen = await read({ period: stale })
        assert.deepEqual([seen.isStale, seen.now, [...seen.states]], [true, begin, []])
      }
      await isAt([-1, 0], { period })
      await advance(nextEnd - begin)
      assert.equal((await take(3, { period })).outcome, 'stale')
      const next = await admit(3, { period: [nextEnd, nextEnd + DAY_MS, nextEnd + 2 * DAY_MS] })
      shows(next, [nextEnd, 3])
    },
    'a stale request doesn’t use up its id': needing('ids', async ({ take, admit, begin }) => {
      assert.equal((await take(3, { id: 'attempt', period: over(begin) })).outcome, 'stale')
      await admit(3, { id: 'attempt', nonce: 'other', fingerprint: 'read:2', period: around(begin) })
    }),
    async 'each request has its own periods, even concurrent ones'({ take, isAt, store, peer, advance, begin }) {
      const usual = around(begin)
      const own: TwoPeriods = [begin - 1_000, begin + 1_000, begin + 2_000]
      const replies = await Promise.all(
        [usual, own, usual, over(begin), own, usual].map((period, index) =>
          take(1, { subject: `u${index % 3}`, store: index % 2 ? peer : store, period }),
        ),
      )
      const outcomes = replies.map(({ outcome }) => outcome)
      assert.deepEqual(outcomes, ['admitted', 'admitted', 'admitted', 'stale', 'admitted', 'admitted'])
      await isAt([usual[0], 1], { subject: 'u0', period: usual })
      await isAt([begin - 1_000, 2], { subject: 'u1', period: usual })
      await isAt([usual[0], 2], { subject: 'u2', period: usual })
      await advance(1_000)
      await isAt([-1, 0], { subject: 'u1', period: own })
    },
    async 'each layer has its own periods'({ store, begin, advance }) {
      const { admit, refuse, take } = new Probe(store, { limits: { own: [USER, MONTH], all: [SITE, MONTH] } })
      const all: TwoPeriods = [begin - 7, begin + 1_000, begin + 2_000]
      const periods = { own: [begin - 5, begin + 5, begin + 10], all } as const
      shows(await admit(4, { periods }), { own: [begin - 5, 4], all: [begin - 7, 4] })
      await advance(5)
      shows(await admit(4, { periods }), { own: [begin + 5, 4], all: [begin - 7, 8] })
      await refuse(4, { periods })
      await advance(5)
      assert.equal((await take(1, { periods })).outcome, 'stale', 'one of them is enough')
      shows(await admit(1, { layers: ['site'], period: all }), [begin - 7, 9])
    },
    'a hold grows in the current period': needing('holds', async (scene) => {
      const { held, grow, settle, committed, isAt, begin, advance } = scene
      const period: TwoPeriods = [begin - MINUTE_MS, begin + MINUTE_MS, begin + HOUR_MS]
      await held('a', 6, { ttlMs: 20 * HOUR_MS, period })
      assert.equal((await grow('a', 5, { period })).outcome, 'refused')
      await advance(MINUTE_MS)
      shows(await grow('a', 5, { period }), [begin + MINUTE_MS, 5])
      const stale = { period: [begin, begin + 1, begin + 2] } as const
      const reply = await grow('a', 1, stale)
      assert.deepEqual([reply.outcome, [...reply.states]], ['stale', []])
      const above = { actual: 12, overrun: 'charge', maxOverrun: 5 } as const
      assert.equal((await settle('a', 'committed', { ...above, ...stale })).outcome, 'stale')
      await isAt([begin + MINUTE_MS, 5], { period })
      assert.deepEqual(await committed('a', { ...above, period }), ['settled', 12, 0, 11])
      await isAt([begin + MINUTE_MS, 6], { period })
    }),
  },
)
