import assert from 'node:assert/strict'
import type { ConformanceCase } from './harness.ts'
import { plainCase } from './port-harness.ts'
import { HOUR_MS, ONE_WINDOW, Probe, SIX_WINDOWS } from './probe.ts'

/** Cases about refunds when a reservation ends. */
export const SETTLE_CASES: readonly ConformanceCase[] = [
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
  plainCase('a cancel gives everything back and leaves the windows open', async ({ store, advance }) => {
    const probe = new Probe(store, SIX_WINDOWS, 10)
    const reply = await probe.admitted(7)
    await advance(10)
    await probe.cancel(reply, 7)
    const { now } = reply
    assert.deepEqual(await probe.states(), [now, 0, now, 0, now, 0, now, 0, now, 0, now, 0])
    await probe.admitted(10)
  }),
  plainCase('a commit below the reservation gives the rest back, and a full one nothing', async ({ store }) => {
    const probe = new Probe(store, SIX_WINDOWS, 10)
    const first = await probe.admitted(7)
    await probe.commit(first, 5)
    assert.deepEqual(await probe.used(), [2, 2, 2, 2, 2, 2])
    const second = await probe.admitted(8)
    await probe.commit(second, 0)
    await probe.refused(1)
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
  plainCase('a late cancel never adds tokens to a later window', async ({ store, advance }) => {
    const probe = new Probe(store, ONE_WINDOW, 5)
    const early = await probe.admitted(5)
    await advance(HOUR_MS)
    await probe.admitted(5)
    await probe.cancel(early, 5)
    assert.deepEqual(await probe.used(), [5])
    await probe.refused(1)
  }),
  plainCase("a late cancel reaches only windows that haven't changed since", async ({ store, advance }) => {
    const probe = new Probe(store, SIX_WINDOWS, 10)
    const early = await probe.admitted(4)
    await advance(HOUR_MS)
    await probe.admitted(3)
    await probe.cancel(early, 4)
    assert.deepEqual(await probe.used(), [3, 3, 3, 3, 3, 3])
    assert.equal((await probe.starts())[0], early.now + HOUR_MS)
    assert.equal((await probe.starts())[1], early.now)
  }),
  plainCase('a cancel after a reset gives nothing back, even to a window of its millisecond', async ({ store }) => {
    const probe = new Probe(store, ONE_WINDOW, 5)
    const early = await probe.admitted(5)
    await probe.reset()
    await probe.cancel(early, 5)
    assert.deepEqual(await probe.states(), [-1, 0])
    const later = await probe.admitted(5)
    await probe.cancel(early, 5)
    assert.deepEqual(await probe.states(), [early.now + 1, 5])
    await probe.cancel(later, 5)
    assert.deepEqual(await probe.states(), [early.now + 1, 0])
  }),
  plainCase('a cancel opens no ended window', async ({ store, advance }) => {
    const probe = new Probe(store, ONE_WINDOW, 5)
    const early = await probe.admitted(5)
    await advance(HOUR_MS)
    await probe.cancel(early, 5)
    assert.deepEqual(await probe.states(), [-1, 0])
    const { states, now } = await probe.admitted(5)
    assert.deepEqual([...states], [now, 5])
  }),
  plainCase('the usage never falls below 0', async ({ store }) => {
    const probe = new Probe(store, ONE_WINDOW, 5)
    const reply = await probe.admitted(3)
    await probe.cancel(reply, 3)
    await probe.cancel(reply, 3)
    assert.deepEqual(await probe.used(), [0])
    await probe.admitted(5)
    await probe.refused(1)
  }),
  plainCase('a cancel leaves the charges of other reservations', async ({ store }) => {
    const probe = new Probe(store, SIX_WINDOWS, 10)
    const first = await probe.admitted(4)
    await probe.admitted(6)
    await probe.cancel(first, 4)
    assert.deepEqual(await probe.used(), [6, 6, 6, 6, 6, 6])
    await probe.refused(5)
    await probe.admitted(4)
  }),
  plainCase('a settlement of an unknown subject changes nothing', async ({ store }) => {
    const probe = new Probe(store, ONE_WINDOW, 5)
    const reply = await probe.admitted(5)
    await probe.cancel(reply, 5, { subject: 'nobody' })
    assert.deepEqual(await probe.states({ subject: 'nobody' }), [-1, 0])
    assert.deepEqual(await probe.used(), [5])
  }),
]
