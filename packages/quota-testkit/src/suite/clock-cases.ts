import assert from 'node:assert/strict'
import type { CaseContext } from './harness.ts'
import type { ContextCase } from './old-case.ts'
import { plainCase } from './old-case.ts'
import { DAY_MS, ONE_WINDOW, Probe, SIX_WINDOWS } from './probe.ts'

/** A window that starts further ahead of the clock is moved to the present. */
const MAX_AHEAD_MS = 5_000
const YEAR_MS = 365 * DAY_MS

/** A store whose clock can't be stepped must never go back in time. */
async function neverGoesBack({ store, advance }: CaseContext): Promise<void> {
  const probe = new Probe(store, ONE_WINDOW, 1_000)
  let last = 0
  for (let round = 0; round < 10; round++) {
    const { now } = await probe.take(1)
    assert.ok(now >= last, `${now} after ${last}`)
    last = now
    await advance(7)
  }
}

function clockCase(name: string, run: (context: CaseContext) => Promise<void>): ContextCase {
  return { name, needs: 'clock-steps', run, without: neverGoesBack }
}

/** Cases about clocks that are set forward and back. */
export const CLOCK_CASES: readonly ContextCase[] = [
  plainCase("every answer has the store's time", async ({ store, clock, advance }) => {
    const probe = new Probe(store, ONE_WINDOW, 1)
    for (const outcome of ['admitted', 'refused', 'refused']) {
      const reply = await probe.take(1)
      assert.equal(reply.outcome, outcome)
      assert.equal(reply.now, clock.now())
      const read = await probe.read()
      assert.equal(read.now, clock.now())
      await advance(1)
    }
  }),
  clockCase('a clock that was a year ahead blocks no subject and resets no usage', async (context) => {
    const { store, stepClock, advance } = context
    const probe = new Probe(store, SIX_WINDOWS, 10)
    await stepClock(YEAR_MS)
    await probe.admitted(10)
    await stepClock(-YEAR_MS)
    const { now, states } = await probe.refused(1)
    const present = now + 1
    assert.deepEqual([...states], [present, 10, present, 10, present, 10, present, 10, present, 10, present, 10])
    await advance(DAY_MS)
    await probe.refused(1)
    await advance(1)
    await probe.admitted(10)
  }),
  clockCase('a window moved to the present gets no refund of a window that opened there', async (context) => {
    const { store, stepClock } = context
    const probe = new Probe(store, ONE_WINDOW, 10)
    const early = await probe.admitted(4)
    await probe.reset()
    await stepClock(10_000)
    await probe.admitted(6)
    await stepClock(-10_000)
    const { states } = await probe.admitted(1)
    assert.deepEqual([...states], [early.now + 1, 7])
    await probe.cancel(early, 4)
    assert.deepEqual(await probe.used(), [7])
  }),
  clockCase("rows don't affect each other's time", async ({ store, stepClock }) => {
    const probe = new Probe(store, SIX_WINDOWS, 100)
    const a = await probe.admitted(1, { subject: 'a', layers: [0], limits: [100, 100, 100] })
    await stepClock(20_000)
    const b = await probe.admitted(1, { subject: 'b', layers: [0], limits: [100, 100, 100] })
    await stepClock(-20_000)
    const again = await probe.admitted(1, { subject: 'b', layers: [0], limits: [100, 100, 100] })
    const present = a.now + 1
    assert.deepEqual([...again.states], [present, 2, present, 2, present, 2])
    assert.equal(b.now, a.now + 20_000)
    assert.deepEqual(await probe.states({ subject: 'a', layers: [0] }), [a.now, 1, a.now, 1, a.now, 1])
  }),
  clockCase('a window that is ahead opens at the present after a reset', async ({ store, stepClock }) => {
    const probe = new Probe(store, ONE_WINDOW, 10)
    const { now } = await probe.admitted(10)
    await stepClock(-3_000)
    await probe.reset()
    const near = await probe.admitted(10)
    assert.deepEqual([...near.states], [now + 1, 10], 'a start is never used twice')
    await stepClock(-YEAR_MS)
    await probe.reset()
    const far = await probe.admitted(10)
    assert.ok((far.states[0] ?? 0) - far.now <= MAX_AHEAD_MS, 'never far ahead')
    await probe.refused(1)
  }),
]
