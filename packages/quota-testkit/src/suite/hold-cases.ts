import assert from 'node:assert/strict'
import { abilityCase, type CaseOf } from './abilities.ts'
import type { CaseContext, Need } from './harness.ts'
import { HOLD_MS, HoldProbe, type HoldProbeOptions } from './hold-probe.ts'
import type { ContextCase } from './old-case.ts'
import { HOUR_MS, ONE_WINDOW } from './probe.ts'

export interface HoldGiven extends CaseContext {
  /** Ten tokens per hour. */
  readonly probe: HoldProbe
}

/** Makes a case about holds with a window of one hour. */
export function holdCaseWith(...more: readonly Need[]): CaseOf<HoldGiven> {
  return (name, run) =>
    abilityCase(`holds: ${name}`, ['holds', ...more], (context) =>
      run({ ...context, probe: new HoldProbe(context.store, ONE_WINDOW, 10) }),
    )
}

export const holdCase: CaseOf<HoldGiven> = holdCaseWith()

/** Everything that reports a hold: what it returns while the hold is open, and after it has expired. */
const LOOKS: Readonly<Record<string, readonly [look: Look, open: string]>> = {
  'an extension': [async (probe, of) => (await probe.extend('a', 1, of)).outcome, 'held'],
  'a growth': [async (probe, of) => (await probe.grow('a', 1, of)).outcome, 'held'],
  'a commit': [async (probe, of) => (await probe.settleHold('a', 'committed', of)).outcome, 'settled'],
  'a repeated reservation': [async (probe, of) => (await probe.hold('a', 4, of)).outcome, 'admitted'],
}

type Look = (probe: HoldProbe, of: HoldProbeOptions) => Promise<unknown>

/** Cases about the end of holds: when they expire, what is refunded, and what changes the expiry. */
export const HOLD_CASES: readonly ContextCase[] = [
  holdCase(
    'a hold ends at its exact millisecond and gives its tokens back to their windows',
    async ({ probe, advance }) => {
      const { now } = await probe.held('a', 7)
      await probe.admitted(2)
      await advance(HOLD_MS - 1)
      assert.deepEqual(await probe.sweep(), [])
      assert.deepEqual(await probe.states(), [now, 9])
      assert.equal(await probe.open(), 1)
      await advance(1)
      const ended = await probe.sweep()
      const end = {
        owner: 'u',
        fingerprint: 'hold read:1',
        costs: { tokens: 7 },
        endsAt: now + HOLD_MS,
      }
      assert.deepEqual(ended, [end])
      assert.deepEqual(await probe.states(), [now, 2])
      assert.equal(await probe.open(), 0)
      assert.deepEqual(await probe.sweep(), [])
    },
  ),
  ...Object.entries(LOOKS).map(([what, [look, open]]) =>
    holdCase(`${what} is possible until 1 ms before the end and ends the hold at it`, async ({ probe, advance }) => {
      const [one, other] = [{ subject: 'u' }, { subject: 'v' }]
      for (const each of [one, other]) await probe.held('a', 4, each)
      await advance(HOLD_MS - 1)
      assert.equal(await look(probe, one), open)
      assert.notEqual((await probe.used(one))[0], 0)
      // The other one is only checked after its expiry, before any sweep.
      await advance(1)
      assert.equal(await look(probe, other), 'expired')
      assert.deepEqual(await probe.used(other), [0])
    }),
  ),
  holdCase(
    'a hold is ended once, whoever sweeps, and others keep their tokens',
    async ({ probe, store, peer, advance }) => {
      await probe.held('a', 3)
      await probe.held('b', 3, { ttlMs: HOUR_MS / 2 })
      await advance(HOLD_MS)
      const swept = await Promise.all([probe.sweep(store), probe.sweep(peer), probe.sweep(store), probe.sweep(peer)])
      assert.equal(swept.flat().length, 1)
      assert.deepEqual(await probe.used(), [3])
      await probe.admitted(7)
      assert.deepEqual([...(await probe.sweep(store)), ...(await probe.sweep(peer))], [])
      assert.deepEqual(await probe.used(), [10])
    },
  ),
  holdCase('many holds that end at one instant all end', async ({ probe, advance }) => {
    const held = (n: number) => probe.held(`h${n}`, 1, { maxHolds: 1_000, subject: `u${n % 25}` })
    await Promise.all(Array.from({ length: 250 }, (_, n) => held(n)))
    await advance(HOLD_MS)
    assert.equal((await probe.sweep()).length, 250)
    assert.equal(await probe.open(), 0)
    for (let n = 0; n < 25; n++) assert.deepEqual(await probe.used({ subject: `u${n}` }), [0])
  }),
  holdCaseWith('clock-steps')(
    'a clock that steps back reopens no ended hold',
    async ({ probe, advance, stepClock }) => {
      await probe.held('a', 4)
      await advance(HOLD_MS)
      await probe.sweep()
      await stepClock(-30_000)
      assert.equal((await probe.extend('a', HOUR_MS)).outcome, 'expired')
      assert.equal((await probe.grow('a', 1)).outcome, 'expired')
      assert.equal((await probe.hold('a', 4)).outcome, 'expired')
      assert.equal((await probe.committed('a'))[0], 'expired')
      await probe.admitted(6)
      await advance(30_000)
      assert.deepEqual(await probe.sweep(), [])
      assert.deepEqual(await probe.used(), [6])
    },
  ),
  holdCaseWith('clock-steps')(
    "a clock that steps back doesn't move the ends of open holds",
    async ({ probe, advance, stepClock }) => {
      const { now } = await probe.held('a', 4)
      await stepClock(-3_000)
      await advance(HOLD_MS)
      assert.deepEqual(await probe.sweep(), [])
      assert.equal((await probe.extend('a', 1)).endsAt, now + HOLD_MS)
      await advance(3_000)
      assert.equal((await probe.sweep()).length, 1)
      assert.deepEqual(await probe.used(), [0])
    },
  ),
  holdCase(
    'exactly 6 of 20 concurrent holds of 75 are admitted under a limit of 500',
    async ({ probe, store, peer }) => {
      const replies = await Promise.all(
        Array.from({ length: 20 }, (_, n) => probe.hold(`h${n}`, 75, { limits: [500], store: n % 2 ? peer : store })),
      )
      assert.equal(replies.filter(({ outcome }) => outcome === 'admitted').length, 6)
      assert.deepEqual([await probe.used(), await probe.open()], [[450], 6])
    },
  ),
]
