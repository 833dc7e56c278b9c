import assert from 'node:assert/strict'
import type { ConformanceCase } from './harness.ts'
import { DAY_MS, HOUR_MS, ROWS, SHARED, SIX } from './limits.ts'
import { Probe, shows } from './probe.ts'
import { casesOn } from './scene.ts'

const MOST = Number.MAX_SAFE_INTEGER
const UNLIMITED = { limits: Number.POSITIVE_INFINITY }

/** Charges 500 other subjects. */
async function others({ admit }: Pick<Probe, 'admit'>, from: number): Promise<void> {
  await Promise.all(Array.from({ length: 500 }, (_, at) => admit(1, { subject: `other-${from + at}` })))
}

/** Cases about one decision: all or nothing, and a refusal charges nothing. */
export const DECISION_CASES: readonly ConformanceCase[] = [
  ...casesOn(
    { limits: SIX, room: 100 },
    {
      async 'a decision charges every window of every layer at one instant'({ admit, isAt }) {
        const reply = await admit(7)
        shows(reply, [reply.now, 7])
        await isAt([reply.now, 7])
      },
      async 'a subject that is refused charges nothing to the shared layer'({ store }) {
        const { admit, refuse } = new Probe(store, SHARED, { own: 1, all: 10 })
        await admit(1)
        for (let call = 0; call < 20; call++) await refuse(1)
        for (let user = 0; user < 9; user++) await admit(1, { subject: `other-${user}` })
        await refuse(1, { subject: 'one-too-many' })
      },
      async 'a refusal opens no window'({ refuse, isAt }) {
        shows(await refuse(5, { limits: { 'site 1d': 4 } }), [-1, 0])
        await isAt([-1, 0])
      },
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
      async 'counters that are opened twice share their counts'({ store, peer, admit, isUsed }) {
        await admit(3)
        for (const other of [store, peer]) {
          const again = new Probe(other, SIX)
          await again.isUsed(3)
          await again.refuse(8)
        }
        await isUsed(3)
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
  ...casesOn(
    { limits: ROWS, room: 100 },
    {
      async 'a read changes nothing, and the set of all limits returns every row'({ admit, read, isAt, advance }) {
        const { now } = await admit(2, { layers: ['user/writes', 'site'] })
        await advance(5)
        const reply = await read()
        assert.equal(reply.now, now + 5)
        shows(reply, { own: [-1, 0], writes: [now, 2], all: [now, 2] })
        await isAt([-1, 0], { subject: 'nobody', layers: ['user', 'user/writes'] })
        await admit(1, { layers: ['user', 'site'] })
        await isAt({ own: [now + 5, 1], writes: [now, 2], all: [now, 3] })
      },
      async 'a settlement touches only its subject and layers'({ admit, cancel, isUsed }) {
        await admit(5, { subject: 'other' })
        const reply = await admit(5)
        await cancel(reply, 5, { layers: ['user'] })
        await isUsed({ own: 0, writes: 5, all: 10 })
        await isUsed({ own: 5, writes: 5, all: 10 }, { subject: 'other' })
      },
      async 'a reset closes only the windows that it names'({ admit, reset, isUsed }) {
        for (const subject of ['u', 'v']) await admit(4, { subject })
        await reset({ layers: ['user'] })
        await isUsed({ own: 0, writes: 4, all: 8 })
        await isUsed({ own: 4, writes: 4, all: 8 }, { subject: 'v' })
        await reset({ subject: 'anybody', layers: ['site'] })
        await isUsed({ own: 4, writes: 4, all: 0 }, { subject: 'v' })
      },
    },
  ),
]
