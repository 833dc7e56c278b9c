import assert from 'node:assert/strict'
import type { ConformanceCase } from './harness.ts'
import { DAY_MS, HOUR_MS, SIX } from './limits.ts'
import { Probe } from './probe.ts'
import { casesOn } from './scene.ts'

const MOST = Number.MAX_SAFE_INTEGER
const UNLIMITED = { limits: Number.POSITIVE_INFINITY }

/** Charges 500 other subjects. */
async function others({ admit }: Pick<Probe, 'admit'>, from: number): Promise<void> {
  await Promise.all(Array.from({ length: 500 }, (_, at) => admit(1, { subject: `other-${from + at}` })))
}

/** Cases about decisions between many others, and about large numbers. */
export const DECISION_CASES: readonly ConformanceCase[] = [
  ...casesOn(
    { limits: SIX, room: 100 },
    {
      async "an open window's count survives whatever happens to others"({ store, advance }) {
        const room = { 'user 1h': 5, 'user 5h': 5, 'user 1d': 5 }
        const site = { 'site 1h': 10 ** 9, 'site 5h': 10 ** 9, 'site 1d': 10 ** 9 }
        const probe = new Probe(store, SIX, { ...room, ...site })
        const { now } = await probe.admit(5)
        await advance(HOUR_MS)
        await others(probe, 0)
        await advance(DAY_MS - HOUR_MS - 1)
        await others(probe, 500)
        await probe.isAt({ 'user 1h': [-1, 0], 'user 5h': [-1, 0], 'user 1d': [now, 5] }, { layers: ['user'] })
        await probe.refuse(1)
      },
      async 'concurrent decisions never admit more than the limit'({ take, isUsed, store, peer }) {
        const limits = { 'site 1h': 30 }
        const replies = await Promise.all(
          Array.from({ length: 100 }, (_, n) => take(1, { subject: `u${n % 7}`, limits, store: n % 2 ? store : peer })),
        )
        assert.equal(replies.filter(({ outcome }) => outcome === 'admitted').length, 30)
        await isUsed(30, { layers: ['site'] })
      },
    },
  ),
  ...casesOn(
    {},
    {
      async 'counters are exact up to the largest safe integer'({ admit, refuse, isUsed }) {
        const limits = MOST
        await admit(MOST - 1, { limits })
        await refuse(2, { limits })
        await admit(1, { limits })
        for (const cost of [1, MOST]) await refuse(cost, { limits })
        await isUsed(MOST)
      },
      async 'an unlimited window stays at the largest safe integer, and gives nothing back there'(scene) {
        const { admit, cancel, isUsed } = scene
        await admit(MOST - 5, UNLIMITED)
        const beyond = await admit(10, UNLIMITED)
        await isUsed(MOST)
        // More may have been charged than can be counted.
        await cancel(beyond, 10)
        await admit(MOST, UNLIMITED)
        await isUsed(MOST)
      },
    },
  ),
]
