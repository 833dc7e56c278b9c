import assert from 'node:assert/strict'
import type { ConformanceCase } from './harness.ts'
import { DAY_MS, SIX } from './limits.ts'
import { Probe, shows } from './probe.ts'
import { casesOn, needing } from './scene.ts'

/** A window that starts further ahead of the clock is moved to the present. */
const MAX_AHEAD_MS = 5_000
const YEAR_MS = 365 * DAY_MS

/** Cases about clocks that are set forward and back. */
export const CLOCK_CASES: readonly ConformanceCase[] = casesOn(
  {},
  {
    async "every answer has the store's time"({ take, read, clock, advance }) {
      for (const outcome of ['admitted', 'refused', 'refused']) {
        const reply = await take(1, { limits: 1 })
        assert.deepEqual([reply.outcome, reply.now], [outcome, clock.now()])
        assert.equal((await read()).now, clock.now())
        await advance(1)
      }
    },
    'a clock that was a year ahead blocks no subject and resets no usage': needing('clock-steps', async (scene) => {
      const { store, stepClock, advance } = scene
      const { admit, refuse } = new Probe(store, SIX)
      await stepClock(YEAR_MS)
      await admit(10)
      await stepClock(-YEAR_MS)
      const reply = await refuse(1)
      shows(reply, [reply.now + 1, 10])
      await advance(DAY_MS)
      await refuse(1)
      await advance(1)
      await admit(10)
    }),
    'a window moved to the present gets no refund of a window that opened there': needing(
      'clock-steps',
      async (scene) => {
        const { admit, reset, cancel, isUsed, stepClock } = scene
        const early = await admit(4)
        await reset()
        await stepClock(10_000)
        await admit(6)
        await stepClock(-10_000)
        shows(await admit(1), [early.now + 1, 7])
        await cancel(early, 4)
        await isUsed(7)
      },
    ),
    "rows don't affect each other's time": needing('clock-steps', async ({ admit, isAt, stepClock }) => {
      const a = await admit(1, { subject: 'a' })
      await stepClock(20_000)
      const b = await admit(1, { subject: 'b' })
      await stepClock(-20_000)
      shows(await admit(1, { subject: 'b' }), [a.now + 1, 2])
      assert.equal(b.now, a.now + 20_000)
      await isAt([a.now, 1], { subject: 'a' })
    }),
    'a window that is ahead opens at the present after a reset': needing('clock-steps', async (scene) => {
      const { admit, refuse, reset, stepClock } = scene
      const { now } = await admit(10)
      await stepClock(-3_000)
      await reset()
      shows(await admit(10), [now + 1, 10], 'a start is never used twice')
      await stepClock(-YEAR_MS)
      await reset()
      const far = await admit(10)
      assert.ok((far.states[0] ?? 0) - far.now <= MAX_AHEAD_MS, 'never far ahead')
      await refuse(1)
    }),
  },
)
