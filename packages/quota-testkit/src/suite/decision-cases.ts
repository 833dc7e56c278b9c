import assert from 'node:assert/strict'
import type { ContextCase } from './old-case.ts'
import { plainCase } from './old-case.ts'
import { DAY_MS, HOUR_MS, ONE_WINDOW, Probe, SIX_WINDOWS } from './probe.ts'

/** Charges 500 other subjects. */
async function others(probe: Probe, from: number): Promise<void> {
  await Promise.all(Array.from({ length: 500 }, (_, at) => probe.admitted(1, { subject: `other-${from + at}` })))
}

/** Cases about one decision: all or nothing, and a refusal charges nothing. */
export const DECISION_CASES: readonly ContextCase[] = [
  plainCase('a decision charges every window of every layer at one instant', async ({ store }) => {
    const probe = new Probe(store, SIX_WINDOWS, 100)
    const { now, states } = await probe.admitted(7)
    assert.deepEqual([...states], [now, 7, now, 7, now, 7, now, 7, now, 7, now, 7])
    assert.deepEqual(await probe.states(), [...states])
  }),
  plainCase('a subject that is refused charges nothing to the shared layer', async ({ store }) => {
    const probe = new Probe(store, SIX_WINDOWS, [1, 1, 1, 10, 10, 10])
    await probe.admitted(1)
    for (let call = 0; call < 20; call++) await probe.refused(1)
    for (let user = 0; user < 9; user++) await probe.admitted(1, { subject: `other-${user}` })
    await probe.refused(1, { subject: 'one-too-many' })
  }),
  plainCase('a refusal opens no window', async ({ store }) => {
    const probe = new Probe(store, SIX_WINDOWS, [100, 100, 100, 100, 100, 4])
    const { states } = await probe.refused(5)
    const closed = [-1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0]
    assert.deepEqual([...states], closed)
    assert.deepEqual(await probe.states(), closed)
  }),
  plainCase('counters are exact up to the largest safe integer', async ({ store }) => {
    const most = Number.MAX_SAFE_INTEGER
    const probe = new Probe(store, ONE_WINDOW, most)
    await probe.admitted(most - 1)
    await probe.refused(2)
    await probe.admitted(1)
    await probe.refused(1)
    await probe.refused(most)
    assert.deepEqual(await probe.used(), [most])
  }),
  plainCase("an unlimited window's count stays a safe integer, however much is used", async ({ store }) => {
    const probe = new Probe(store, ONE_WINDOW, Number.POSITIVE_INFINITY)
    await probe.admitted(Number.MAX_SAFE_INTEGER)
    await probe.admitted(Number.MAX_SAFE_INTEGER)
    assert.deepEqual(await probe.used(), [Number.MAX_SAFE_INTEGER])
  }),
  plainCase('a read changes nothing, and the set of all limits returns every row', async ({ store, advance }) => {
    const probe = new Probe(store, SIX_WINDOWS, 10)
    const { now } = await probe.admitted(2, { category: 1 })
    await advance(5)
    const reply = await probe.counters().read({ subject: 'u', set: 0, layers: [0, 1] })
    assert.equal(reply.now, now + 5)
    const none = [-1, 0, -1, 0, -1, 0]
    assert.deepEqual([...reply.states], [...none, now, 2, now, 2, now, 2, ...none, ...none])
    assert.deepEqual(await probe.states({ subject: 'nobody', layers: [0] }), [-1, 0, -1, 0, -1, 0])
    await probe.admitted(1, { category: 0 })
    assert.deepEqual(await probe.starts({ category: 0, layers: [0] }), [now + 5, now + 5, now + 5])
  }),
  plainCase('a settlement touches only its subject, category and layers', async ({ store }) => {
    const probe = new Probe(store, SIX_WINDOWS, 100)
    await probe.admitted(5, { subject: 'other' })
    await probe.admitted(5, { category: 1 })
    const own = await probe.admitted(5, { layers: [0], limits: [100, 100, 100] })
    await probe.cancel(own, 5, { layers: [0] })
    assert.deepEqual(await probe.used(), [0, 0, 0, 5, 5, 5])
    assert.deepEqual(await probe.used({ subject: 'other' }), [5, 5, 5, 5, 5, 5])
    assert.deepEqual(await probe.used({ category: 1 }), [5, 5, 5, 5, 5, 5])
  }),
  plainCase('a reset closes only the windows that it names', async ({ store }) => {
    const probe = new Probe(store, SIX_WINDOWS, 10)
    await probe.admitted(4, { category: 0 })
    await probe.admitted(4, { category: 1 })
    await probe.admitted(4, { category: 0, subject: 'v' })
    await probe.reset({ category: 0, layers: [0] })
    assert.deepEqual(await probe.states({ layers: [0] }), [-1, 0, -1, 0, -1, 0])
    assert.deepEqual(await probe.used(), [0, 0, 0, 8, 8, 8])
    assert.deepEqual(await probe.used({ category: 1 }), [4, 4, 4, 4, 4, 4])
    assert.deepEqual(await probe.used({ subject: 'v' }), [4, 4, 4, 8, 8, 8])
    await probe.reset({ subject: 'anybody', layers: [1] })
    assert.deepEqual(await probe.used({ subject: 'v' }), [4, 4, 4, 0, 0, 0])
  }),
  plainCase("an open window's count survives whatever happens to others", async ({ store, advance }) => {
    const probe = new Probe(store, SIX_WINDOWS, [5, 5, 5, 10 ** 9, 10 ** 9, 10 ** 9])
    const { now } = await probe.admitted(5)
    await advance(HOUR_MS)
    await others(probe, 0)
    await advance(DAY_MS - HOUR_MS - 1)
    await others(probe, 500)
    assert.deepEqual(await probe.states({ layers: [0] }), [-1, 0, -1, 0, now, 5])
    await probe.refused(1)
  }),
  plainCase(
    'a window at its maximum count gives nothing back, because more may have been charged',
    async ({ store }) => {
      const most = Number.MAX_SAFE_INTEGER
      const probe = new Probe(store, ONE_WINDOW, Number.POSITIVE_INFINITY)
      await probe.admitted(most - 5)
      const beyond = await probe.admitted(10)
      assert.deepEqual(await probe.used(), [most])
      await probe.cancel(beyond, 10)
      assert.deepEqual(await probe.used(), [most])
    },
  ),
  plainCase('concurrent decisions never admit more than the limit', async ({ store, peer }) => {
    const probe = new Probe(store, SIX_WINDOWS, [100, 100, 100, 30, 100, 100])
    const replies = await Promise.all(
      Array.from({ length: 100 }, (_, n) => probe.take(1, { subject: `u${n % 7}`, store: n % 2 ? store : peer })),
    )
    assert.equal(replies.filter(({ outcome }) => outcome === 'admitted').length, 30)
    assert.deepEqual(await probe.used({ layers: [1] }), [30, 30, 30])
  }),
]
