import assert from 'node:assert/strict'
import { holdCase, holdCaseWith } from './hold-cases.ts'
import { HOLD_MS } from './hold-probe.ts'
import type { ContextCase } from './old-case.ts'

const CHARGE = { overrun: 'charge', maxOverrun: 5 } as const
const FIT = { overrun: 'fit', maxOverrun: 5 } as const

/** Cases about holds that their holder settles: in time or late, once or repeatedly. */
export const HOLD_SETTLE_CASES: readonly ContextCase[] = [
  holdCaseWith('fit')('with fit, an overrun is at most its maximum, and 0 without room', async ({ probe }) => {
    await probe.held('a', 2)
    assert.deepEqual(await probe.committed('a', { actual: 8, ...FIT, maxOverrun: 3 }), ['settled', 5, 3, 2])
    await probe.held('b', 5)
    assert.deepEqual(await probe.committed('b', { actual: 6, ...FIT }), ['settled', 5, 1, 5])
    await probe.held('c', 0)
    await probe.admitted(5, { limits: [15] })
    assert.deepEqual(await probe.committed('c', { actual: 1, ...FIT }), ['settled', 0, 1, 0], 'already above')
    assert.deepEqual(await probe.used(), [15])
  }),
  holdCase('a repeated commit gets the recorded answer and charges nothing', async ({ probe, peer, advance }) => {
    await probe.held('a', 4)
    const first = await probe.committed('a', { actual: 9, ...CHARGE, maxOverrun: 2 })
    assert.deepEqual(first, ['settled', 6, 3, 4])
    await advance(599_999)
    for (const again of [{ actual: 9, ...CHARGE }, { actual: 1 }, {}, { store: peer, actual: 30, ...CHARGE }]) {
      assert.deepEqual(await probe.committed('a', again), first)
      assert.deepEqual(await probe.used(), [6])
    }
    const again = await probe.settleHold('a', 'committed', { actual: 9, ...CHARGE })
    assert.equal(again.added, undefined, 'the answer to a repeat says that nothing was settled by it')
  }),
  holdCase('concurrent commits are one commit', async ({ probe, store, peer }) => {
    await probe.held('a', 4)
    const options = { actual: 7, ...CHARGE }
    const all = await Promise.all(
      [store, peer, store, peer].map((each) => probe.committed('a', { ...options, store: each })),
    )
    assert.deepEqual(
      all,
      [0, 1, 2, 3].map(() => ['settled', 7, 0, 4]),
    )
    assert.deepEqual(await probe.used(), [7])
  }),
  holdCase('a commit after a cancel is rejected, and a cancel after a commit does nothing', async ({ probe }) => {
    await probe.held('a', 4)
    assert.equal(await probe.released('a'), 'settled')
    assert.equal((await probe.settleHold('a', 'committed', { actual: 6, ...CHARGE })).outcome, 'cancelled')
    assert.equal(await probe.released('a'), 'settled')
    assert.deepEqual(await probe.used(), [0])
    await probe.held('b', 4)
    await probe.committed('b')
    assert.equal(await probe.released('b'), 'settled')
    assert.deepEqual(await probe.used(), [4])
    assert.deepEqual(await probe.committed('b'), ['settled', 4, 0, 4], 'and leaves the answer as it was')
  }),
  holdCase('a late commit is a new charge if the operation says so, once', async ({ probe, advance }) => {
    await probe.held('a', 4)
    await advance(HOLD_MS)
    await probe.sweep()
    await probe.admitted(9)
    const reply = await probe.settleHold('a', 'committed', { actual: 12, ...CHARGE })
    assert.deepEqual([reply.outcome, reply.charged, reply.uncharged], ['settled', [9], [3]])
    assert.deepEqual([reply.states[1], reply.added], [18, [9]], 'all of it is new')
    assert.deepEqual(await probe.used(), [18])
    const again = await probe.committed('a', { actual: 12, ...CHARGE })
    assert.deepEqual(again.slice(0, 3), ['settled', 9, 3])
    assert.deepEqual(await probe.used(), [18])
  }),
  holdCase('a commit and a sweep at its end give its tokens back once', async ({ probe, store, peer, advance }) => {
    for (const round of [0, 1, 2, 3]) {
      const id = `a${round}`
      await probe.held(id, 4, { ttlMs: 1_000, limits: [100] })
      await advance(1_000)
      await Promise.all([
        probe.sweep(store),
        probe.committed(id, { store: peer }),
        probe.sweep(peer),
        probe.released(id, { store }),
      ])
      await probe.admitted(4, { limits: [100] })
      assert.deepEqual(await probe.used(), [4 * (round + 1)])
    }
  }),
]
