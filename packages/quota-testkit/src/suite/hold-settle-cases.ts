import assert from 'node:assert/strict'
import type { ConformanceCase } from './harness.ts'
import { HOLD_MS } from './probe.ts'
import { casesOn } from './scene.ts'

const CHARGE = { overrun: 'charge', maxOverrun: 5 } as const

/** Cases about holds that their holder settles: in time or late, once or repeatedly, under one policy or another. */
export const HOLD_SETTLE_CASES: readonly ConformanceCase[] = casesOn(
  { about: 'holds: ', needs: ['holds'] },
  {
    async 'a repeated commit gets the recorded answer and charges nothing'(scene) {
      const { held, committed, settle, isUsed, peer, advance } = scene
      await held('a', 4)
      const first = await committed('a', { ...CHARGE, actual: 9, maxOverrun: 2 })
      assert.deepEqual(first, ['settled', 6, 3, 4])
      await advance(599_999)
      for (const again of [{ ...CHARGE, actual: 9 }, { actual: 1 }, {}, { ...CHARGE, actual: 30, store: peer }]) {
        assert.deepEqual(await committed('a', again), first)
        await isUsed(6)
      }
      const again = await settle('a', 'committed', { ...CHARGE, actual: 9 })
      assert.equal(again.added, undefined, 'the answer to a repeat says that nothing was settled by it')
    },
    async 'concurrent commits are one commit'({ held, committed, isUsed, store, peer }) {
      await held('a', 4)
      const all = await Promise.all(
        [store, peer, store, peer].map((each) => committed('a', { ...CHARGE, actual: 7, store: each })),
      )
      for (const each of all) assert.deepEqual(each, ['settled', 7, 0, 4])
      await isUsed(7)
    },
    async 'a commit after a cancel is rejected, and a cancel after a commit does nothing'(scene) {
      const { held, committed, settle, released, isUsed } = scene
      await held('a', 4)
      assert.equal(await released('a'), 'settled')
      assert.equal((await settle('a', 'committed', { ...CHARGE, actual: 6 })).outcome, 'cancelled')
      assert.equal(await released('a'), 'settled')
      await isUsed(0)
      await held('b', 4)
      await committed('b')
      assert.equal(await released('b'), 'settled')
      await isUsed(4)
      assert.deepEqual(await committed('b'), ['settled', 4, 0, 4], 'and leaves the answer as it was')
    },
    async 'a late commit is a new charge if the operation says so, once'(scene) {
      const { held, admit, settle, committed, sweep, isUsed, advance } = scene
      await held('a', 4)
      await advance(HOLD_MS)
      await sweep()
      await admit(9)
      const reply = await settle('a', 'committed', { ...CHARGE, actual: 12 })
      assert.deepEqual([reply.outcome, reply.charged, reply.uncharged], ['settled', [9], [3]])
      assert.deepEqual([reply.states[1], reply.added], [18, [9]], 'all of it is new')
      await isUsed(18)
      const again = await committed('a', { ...CHARGE, actual: 12 })
      assert.deepEqual(again.slice(0, 3), ['settled', 9, 3])
      await isUsed(18)
    },
    async 'a commit and a sweep at its end give its tokens back once'(scene) {
      const { held, admit, committed, released, sweep, isUsed, store, peer, advance } = scene
      const limits = 100
      for (const round of [0, 1, 2, 3]) {
        const id = `a${round}`
        await held(id, 4, { ttlMs: 1_000, limits })
        await advance(1_000)
        await Promise.all([sweep(store), committed(id, { store: peer }), sweep(peer), released(id, { store })])
        await admit(4, { limits })
        await isUsed(4 * (round + 1))
      }
    },
  },
)
