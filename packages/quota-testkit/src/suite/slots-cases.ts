import assert from 'node:assert/strict'
import { abilityCase, type CaseOf } from './abilities.ts'
import type { CaseContext, Need, RowName } from './harness.ts'
import { HOLD_MS, HoldProbe, MINUTE_MS, SHARED_SLOTS, SLOTS, withSlots } from './hold-probe.ts'
import type { ContextCase } from './old-case.ts'
import { DAY_MS, HOUR_MS, rollingCells } from './probe.ts'

interface Given extends CaseContext {
  /** 100 tokens per hour and two slots. */
  readonly probe: HoldProbe
}

function slotsCaseWith(...more: readonly Need[]): CaseOf<Given> {
  return (name, run) =>
    abilityCase(`slots: ${name}`, ['holds', 'concurrency', ...more], (context) =>
      run({ ...context, probe: new HoldProbe(context.store, SLOTS, [100, 2]) }),
    )
}

const slotsCase = slotsCaseWith()

/** Makes a case with slots in a layer of subjects and in a shared layer. */
function sharedCase(
  name: string,
  run: (given: Given) => Promise<void>,
  limits: readonly number[] = [100, 2, 100, 3],
): ContextCase {
  return abilityCase(`slots: ${name}`, ['holds', 'concurrency', 'shared-concurrency'], (context) =>
    run({ ...context, probe: new HoldProbe(context.store, SHARED_SLOTS, limits) }),
  )
}

const SLOT = { slot: true } as const
const ROW: RowName = { layer: 'personal/read', key: 'u' }

/** All ways in which a hold frees its slot. */
const ENDS: Readonly<Record<string, (given: Given) => Promise<void>>> = {
  'a commit': async ({ probe }) => void (await probe.settleHold('a', 'committed')),
  'a commit of less': async ({ probe }) => void (await probe.settleHold('a', 'committed', { actual: 1 })),
  'a cancel': async ({ probe }) => void (await probe.settleHold('a', 'cancelled')),
  'its end': async ({ probe, advance }) => {
    await probe.extend('b', HOUR_MS)
    await advance(HOLD_MS)
    await probe.sweep()
  },
}

/** Cases about concurrency: slots taken in the same decision as tokens. */
export const SLOTS_CASES: readonly ContextCase[] = [
  slotsCase('slots are taken up to the limit, together with the tokens', async ({ probe }) => {
    const first = await probe.held('a', 3, SLOT)
    assert.deepEqual([first.states[1], first.states[3]], [3, 1])
    const second = await probe.held('b', 4, SLOT)
    assert.deepEqual([second.states[1], second.states[3]], [7, 2])
    const third = await probe.hold('c', 1, SLOT)
    assert.deepEqual([third.outcome, third.states[1], third.states[3]], ['refused', 7, 2])
    assert.deepEqual(await probe.used(), [7, 2])
  }),
  slotsCaseWith('clock-steps')(
    'a repeated hold shows no window ahead of a clock that stepped back',
    async ({ probe, stepClock }) => {
      await probe.admitted(1)
      await stepClock(-MINUTE_MS)
      const { states } = await probe.held('a', 0, SLOT)
      assert.deepEqual((await probe.held('a', 0, SLOT)).states, states)
    },
  ),
  slotsCase('a refusal for lack of slots charges and opens no window and leaves no record', async ({ probe }) => {
    const none = { ...SLOT, limits: [100, 0] }
    assert.equal((await probe.hold('a', 3, none)).outcome, 'refused')
    assert.deepEqual(await probe.states(), [-1, 0, -1, 0])
    await probe.held('a', 3, { ...SLOT, nonce: 'another', fingerprint: 'hold read:2' })
  }),
  slotsCase('a request without a slot leaves slots unchanged', async ({ probe }) => {
    for (const id of ['a', 'b']) await probe.held(id, 1, SLOT)
    await probe.admitted(1)
    await probe.held('c', 1, { limits: [100, 0] })
    await probe.settleHold('c', 'cancelled')
    assert.deepEqual(await probe.used(), [3, 2])
  }),
  ...Object.entries(ENDS).map(([what, end]) =>
    slotsCase(`${what} frees one slot once`, async (given) => {
      const { probe } = given
      for (const id of ['a', 'b']) await probe.held(id, 5, SLOT)
      await end(given)
      assert.deepEqual(await probe.slots(), [1])
      for (let again = 0; again < 3; again++) {
        await probe.settleHold('a', 'committed')
        await probe.settleHold('a', 'cancelled')
        await probe.sweep()
      }
      assert.deepEqual(await probe.slots(), [1])
      await probe.held('c', 1, SLOT)
      assert.equal((await probe.hold('d', 1, SLOT)).outcome, 'refused')
    }),
  ),
  slotsCase('a reset closes windows and keeps slots', async ({ probe }) => {
    for (const id of ['a', 'b']) await probe.held(id, 5, SLOT)
    await probe.reset()
    assert.deepEqual(await probe.used(), [0, 2])
    assert.equal((await probe.hold('c', 1, SLOT)).outcome, 'refused')
    await probe.settleHold('a', 'committed')
    assert.deepEqual(await probe.slots(), [1])
    await probe.held('c', 1, SLOT)
    await probe.settleHold('b', 'cancelled')
    assert.deepEqual(await probe.used(), [1, 1])
  }),
  slotsCase('a slot stays taken, however long ago the windows ended', async ({ probe, advance }) => {
    for (const id of ['a', 'b']) await probe.held(id, 5, { ...SLOT, ttlMs: 20 * HOUR_MS })
    await advance(10 * HOUR_MS)
    await probe.sweep()
    assert.deepEqual(await probe.used(), [0, 2])
    assert.equal((await probe.hold('c', 1, SLOT)).outcome, 'refused')
    await probe.extend('a', DAY_MS)
    await advance(23 * HOUR_MS)
    await probe.sweep()
    assert.deepEqual(await probe.used(), [0, 1])
    await probe.held('c', 1, SLOT)
    assert.deepEqual(await probe.used(), [1, 2], 'beside one that was taken long ago')
    assert.equal((await probe.hold('d', 1, SLOT)).outcome, 'refused')
    await probe.settleHold('a', 'committed')
    assert.deepEqual(await probe.slots(), [1])
  }),
  slotsCaseWith('expiry')(
    'a row is kept at least as long as a hold has a slot in it',
    async ({ probe, keptForMs, advance }) => {
      await probe.held('a', 5, { ...SLOT, ttlMs: 20 * HOUR_MS })
      assert.ok((await keptForMs(ROW)) >= 20 * HOUR_MS)
      await advance(HOUR_MS)
      await probe.extend('a', DAY_MS)
      assert.ok((await keptForMs(ROW)) >= DAY_MS, 'an extension keeps it longer')
      await probe.admitted(1)
      await probe.reset()
      await probe.held('b', 5, SLOT)
      assert.ok((await keptForMs(ROW)) >= DAY_MS, 'and nothing keeps it shorter')
    },
  ),
  slotsCaseWith('damage')(
    "a slot of a lost row isn't freed in the row that replaced it",
    async ({ probe, advance, damage }) => {
      await probe.held('a', 5, SLOT)
      await damage(ROW, (bytes) => bytes.slice(0, -1))
      await probe.reset()
      await advance(1)
      await probe.held('b', 5, SLOT)
      await probe.settleHold('a', 'cancelled')
      assert.deepEqual(await probe.used(), [5, 1])
    },
  ),
  slotsCase('concurrent requests are admitted up to the number of slots', async ({ probe, store, peer }) => {
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        probe.hold(`h${n}`, 1, { ...SLOT, store: n % 2 ? peer : store, limits: [100, 7] }),
      ),
    )
    assert.equal(replies.filter(({ outcome }) => outcome === 'admitted').length, 7)
    assert.deepEqual(await probe.used(), [7, 7])
  }),
  slotsCaseWith('clock-steps')(
    'a clock that steps back neither frees nor takes a slot twice',
    async ({ probe, advance, stepClock }) => {
      await probe.held('a', 5, SLOT)
      await advance(HOLD_MS)
      await probe.sweep()
      await probe.held('b', 5, SLOT)
      await stepClock(-30_000)
      await probe.sweep()
      assert.deepEqual(await probe.slots(), [1])
      await probe.held('c', 5, SLOT)
      assert.equal((await probe.hold('d', 5, SLOT)).outcome, 'refused')
      await advance(30_000)
      await probe.sweep()
      assert.deepEqual(await probe.slots(), [2])
    },
  ),
  slotsCase('policies with other windows share slots, and another label has its own', async ({ store, peer }) => {
    const windows = rollingCells({ label: '1m', lengthMs: MINUTE_MS }, { label: '1d', lengthMs: DAY_MS })
    const one = new HoldProbe(store, SLOTS, [100, 2])
    const same = new HoldProbe(peer, { ...SLOTS, cells: withSlots(windows, 'running') }, [100, 100, 2])
    const other = new HoldProbe(peer, { ...SLOTS, cells: withSlots(windows, 'active') }, [100, 100, 2])
    await one.held('a', 1, SLOT)
    await same.held('b', 1, SLOT)
    assert.equal((await one.hold('c', 1, SLOT)).outcome, 'refused')
    assert.deepEqual(await other.slots(), [0])
    await other.held('d', 1, SLOT)
    await same.settleHold('a', 'committed')
    assert.deepEqual([await one.slots(), await same.slots(), await other.slots()], [[1], [1], [1]])
    assert.equal(await other.released('b'), 'settled', 'by the record, whatever cells are known')
    assert.deepEqual([await one.slots(), await other.slots()], [[0], [1]])
  }),
  sharedCase('slots of a shared layer add up over subjects', async ({ probe }) => {
    for (const subject of ['u', 'v', 'w']) await probe.held('a', 1, { ...SLOT, subject })
    assert.equal((await probe.hold('a', 1, { ...SLOT, subject: 'x' })).outcome, 'refused')
    assert.deepEqual(await probe.used({ subject: 'x' }), [0, 0, 3, 3])
    await probe.settleHold('a', 'cancelled', { subject: 'v' })
    assert.deepEqual(await probe.used(), [1, 1, 2, 2])
    await probe.held('a', 1, { ...SLOT, subject: 'x' })
  }),
  sharedCase('a layer without free slots prevents a slot in the other layer', async ({ probe }) => {
    for (const id of ['a', 'b']) await probe.held(id, 1, SLOT)
    assert.equal((await probe.hold('c', 1, SLOT)).outcome, 'refused')
    assert.deepEqual(await probe.used(), [2, 2, 2, 2])
    await probe.held('a', 1, { ...SLOT, subject: 'v' })
    assert.equal((await probe.hold('b', 1, { ...SLOT, subject: 'v' })).outcome, 'refused')
    assert.deepEqual(await probe.used({ subject: 'v' }), [1, 1, 3, 3])
  }),
]
