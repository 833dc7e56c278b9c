import assert from 'node:assert/strict'
import { cellsIn, slotsCell, windowCell } from '@scoregw/quota/internal'
import type { CaseOf } from './abilities.ts'
import type { CaseContext, ConformanceCase, Need } from './harness.ts'
import { HOLD_MS, HoldProbe } from './hold-probe.ts'
import { HOUR_MS, idOf, ONE_WINDOW, Probe, SECOND_MS, SITE } from './probe.ts'
import type { Table } from './table.ts'

const MINUTE_MS = 60_000
const UNITS = ['requests', 'tokens', 'money'] as const

/** One window per unit: a minute of requests, an hour of tokens, two hours of money. */
const LIMITS = {
  requests: windowCell({ label: '1m', lengthMs: MINUTE_MS }, 'requests'),
  tokens: windowCell({ label: '1h', lengthMs: HOUR_MS }, 'tokens'),
  money: windowCell({ label: '2h', lengthMs: 2 * HOUR_MS }, 'money'),
}

function counting(...units: readonly (typeof UNITS)[number][]): Table {
  const cells = cellsIn(
    units,
    units.map((unit) => LIMITS[unit]),
  )
  return { ...ONE_WINDOW, units, cells }
}

const THREE = counting(...UNITS)
const SHARED: Table = { ...THREE, layers: [...THREE.layers, SITE] }
const WITH_SLOTS: Table = { ...THREE, cells: cellsIn(UNITS, [...Object.values(LIMITS), slotsCell('running')]) }

function unitCaseWith(...needs: readonly Need[]): CaseOf<CaseContext> {
  return (name, run) => ({
    name: `units: ${name}`,
    needs,
    run,
    async without(context) {
      const probe = new Probe(context.store, THREE, 10)
      await probe.admitted([1, 2, 3])
      assert.deepEqual(await probe.used(), [1, 2, 3])
    },
  })
}

const unitCase = unitCaseWith()

function holdCaseWith(...more: readonly Need[]) {
  return (name: string, run: (probe: HoldProbe, context: CaseContext) => Promise<void>): ConformanceCase =>
    unitCaseWith('holds', ...more)(name, (context) => run(new HoldProbe(context.store, THREE, 10), context))
}

const holdCase = holdCaseWith()

/** An amount of one unit, and 0 of the others. */
function only(unit: number, amount: number): readonly number[] {
  return UNITS.map((_, at) => (at === unit ? amount : 0))
}

const TAKE_CASES: readonly ConformanceCase[] = [
  unitCase('every limit counts its own unit in every layer', async ({ store }) => {
    const probe = new Probe(store, SHARED, 10)
    const { now, states } = await probe.admitted([1, 2, 3])
    assert.deepEqual([...states], [now, 1, now, 2, now, 3, now, 1, now, 2, now, 3])
    await probe.admitted([2, 0, 1])
    assert.deepEqual(await probe.used(), [3, 2, 4, 3, 2, 4])
  }),
  ...UNITS.map((name, unit) =>
    unitCase(`a request is refused and charges nothing when ${name} have no room`, async ({ store, advance }) => {
      const probe = new Probe(store, SHARED, 10)
      await probe.admitted(only(unit, 8))
      const before = await probe.states()
      await advance(1)
      const refused = await probe.refused([1, 1, 1].with(unit, 3))
      assert.deepEqual([...refused.states], before)
      assert.deepEqual(await probe.states(), before)
      await probe.admitted([1, 1, 1].with(unit, 2))
    }),
  ),
  unitCase('limits of a unit without cost are neither checked nor charged', async (context) => {
    const { store, advance } = context
    const probe = new Probe(store, THREE, 10)
    const { now } = await probe.admitted([1, 9, 0])
    const lowered = { limits: [10, 5, 0] }
    const { states } = await probe.admitted([1, 0, 0], lowered)
    assert.deepEqual([...states], [now, 2, now, 9, -1, 0], 'not opened either')
    await advance(HOUR_MS)
    const later = await probe.admitted([1, 0, 0], lowered)
    assert.deepEqual([...later.states], [later.now, 1, -1, 0, -1, 0])
    await probe.refused([0, 1, 0], { limits: [10, 0, 0] })
    await probe.refused([0, 0, 1], lowered)
  }),
  unitCaseWith('clock-steps')(
    "a limit of a unit without cost isn't moved to the present",
    async ({ store, stepClock }) => {
      const probe = new Probe(store, THREE, 10)
      const { now } = await probe.admitted([0, 3, 0])
      await stepClock(-20 * SECOND_MS)
      await probe.admitted([1, 0, 0])
      await probe.refused([11, 0, 0])
      await stepClock(20 * SECOND_MS)
      assert.deepEqual((await probe.states()).slice(2, 4), [now, 3])
    },
  ),
  unitCase('concurrent requests are admitted as far as the scarcest unit allows', async ({ store }) => {
    const probe = new Probe(store, THREE, [100, 10, 50])
    const replies = await Promise.all(Array.from({ length: 12 }, () => probe.take([1, 2, 5])))
    assert.equal(replies.filter(({ outcome }) => outcome === 'admitted').length, 5)
    assert.deepEqual(await probe.used(), [5, 10, 25])
  }),
]

const NAME_CASES: readonly ConformanceCase[] = [
  unitCase("the order of units isn't part of a counter", async ({ store, peer }) => {
    const [one, other] = [new Probe(store, THREE, 10), new Probe(peer, counting('money', 'requests', 'tokens'), 10)]
    const first = await one.admitted([1, 2, 3])
    await other.admitted([4, 5, 6])
    assert.deepEqual(await one.used(), [6, 8, 7])
    await one.cancel(first, [1, 2, 3])
    assert.deepEqual(await other.used(), [5, 6, 4])
    await other.refused([7, 0, 0])
  }),
  unitCase('another unit has another counter', async ({ store, peer }) => {
    const limits = ['tokens', 'requests'].map((unit) => windowCell({ label: '1h', lengthMs: HOUR_MS }, unit))
    const [tokens, requests] = limits.map(
      (limit): Table => ({ ...ONE_WINDOW, units: [limit.unit], cells: cellsIn([limit.unit], [limit]) }),
    ) as [Table, Table]
    const [one, other] = [new Probe(store, tokens, 10), new Probe(peer, requests, 10)]
    await one.admitted(9)
    await other.admitted(8)
    assert.deepEqual([await one.used(), await other.used()], [[9], [8]])
    const before = new Probe(peer, ONE_WINDOW, 10)
    assert.deepEqual(await before.used(), [9], 'tokens have the counters of policies without units')
  }),
  unitCase('units of another policy are kept', async ({ store, peer }) => {
    const [all, some] = [new Probe(store, THREE, 10), new Probe(peer, counting('tokens'), 10)]
    const { now } = await all.admitted([1, 2, 3])
    await some.admitted(4)
    await some.refused(7)
    await some.reset()
    await some.admitted(1)
    const states = await all.states()
    assert.deepEqual([states[0], states[1], states[3], states[4], states[5]], [now, 1, 1, now, 3])
  }),
]

const SETTLE_CASES: readonly ConformanceCase[] = [
  ...UNITS.map((name, unit) =>
    unitCase(`${name} are given back separately`, async ({ store }) => {
      const probe = new Probe(store, SHARED, 10)
      const reply = await probe.admitted([4, 5, 6])
      await probe.commit(reply, only(unit, 3))
      const row = [4, 5, 6].map((amount, at) => (at === unit ? amount - 3 : amount))
      assert.deepEqual(await probe.used(), [...row, ...row])
    }),
  ),
  unitCase('each unit is given back only to its own window', async ({ store, advance }) => {
    const probe = new Probe(store, THREE, 10)
    const reply = await probe.admitted([4, 5, 6])
    await advance(MINUTE_MS)
    await probe.admitted([1, 1, 1])
    await probe.cancel(reply, [4, 5, 6])
    assert.deepEqual(await probe.used(), [1, 1, 1])
  }),
  unitCase('spending without the store is charged over any limit', async ({ store }) => {
    const probe = new Probe(store, THREE, 10)
    const reply = await probe.admitted([9, 9, 9])
    await probe.commit(reply, [-3, 2, 0])
    assert.deepEqual(await probe.used(), [12, 7, 9])
  }),
  unitCaseWith('ids')('an id is charged once and cancelled once in all units', async ({ store, peer }) => {
    const probe = new Probe(store, THREE, 10)
    const first = await probe.admitted([1, 2, 3], { id: idOf('a') })
    const again = await probe.admitted([1, 2, 3], { id: idOf('a'), store: peer })
    assert.deepEqual([...again.states], [...first.states])
    for (let times = 0; times < 2; times++) await probe.cancel(first, [1, 2, 3], { id: idOf('a') })
    assert.deepEqual(await probe.used(), [0, 0, 0])
  }),
]

const HOLD_CASES: readonly ConformanceCase[] = [
  holdCase('a hold has its units by name and gives all back at its end', async (probe, { advance }) => {
    await probe.held('a', [1, 0, 3])
    const { holds } = await probe.list()
    assert.deepEqual(holds[0]?.costs, { requests: 1, money: 3 })
    await advance(HOLD_MS)
    const [ended] = await probe.sweep()
    assert.deepEqual(ended?.costs, { requests: 1, money: 3 })
    assert.deepEqual(await probe.used(), [0, 0, 0])
  }),
  holdCase('a hold grows in all units or not at all', async (probe) => {
    await probe.held('a', [1, 2, 3])
    await probe.admitted([0, 0, 6])
    assert.equal((await probe.grow('a', [1, 1, 2])).outcome, 'refused')
    assert.equal((await probe.grow('a', [1, 0, 1])).outcome, 'held')
    assert.deepEqual(await probe.used(), [2, 2, 10])
    assert.deepEqual((await probe.list()).holds[0]?.costs, { requests: 2, tokens: 2, money: 4 })
    await probe.released('a')
    assert.deepEqual(await probe.used(), [0, 0, 6])
  }),
  holdCase('a commit gives back the rest of each unit', async (probe) => {
    await probe.held('a', [1, 8, 6])
    const actual = [1, 3, 0]
    assert.deepEqual(await probe.committed('a', { actual }), ['settled', actual, [0, 0, 0], [1, 8, 6]])
    assert.deepEqual(await probe.used(), actual)
    assert.deepEqual(await probe.committed('a', { actual: [9, 9, 9] }), ['settled', actual, [0, 0, 0], [1, 8, 6]])
    assert.deepEqual(await probe.used(), actual)
  }),
  ...UNITS.map((name, unit) =>
    holdCase(`a commit above the hold in ${name} only is rejected or charged up to its bound`, async (probe) => {
      await probe.held('a', [2, 2, 2])
      const actual = [1, 1, 1].with(unit, 7)
      assert.equal((await probe.committed('a', { actual }))[0], 'above')
      const over = { actual, overrun: 'charge', maxOverrun: only(unit, 4) } as const
      const [outcome, charged, uncharged] = await probe.committed('a', over)
      assert.deepEqual([outcome, charged, uncharged], ['settled', [1, 1, 1].with(unit, 6), only(unit, 1)])
      assert.deepEqual(await probe.used(), [1, 1, 1].with(unit, 6))
    }),
  ),
  holdCaseWith('fit')('an overrun is fitted unit by unit', async (probe) => {
    await probe.admitted([0, 7, 5])
    await probe.held('a', [1, 2, 1])
    const over = { actual: [3, 9, 4], overrun: 'fit', maxOverrun: [9, 9, 2] } as const
    assert.deepEqual(await probe.committed('a', over), ['settled', [3, 3, 3], [0, 6, 1], [1, 2, 1]])
    assert.deepEqual(await probe.used(), [3, 10, 8])
  }),
  holdCase('a late commit is charged up to its bound in each unit', async (probe, { advance }) => {
    await probe.held('a', [1, 2, 3])
    await advance(HOLD_MS)
    const over = { actual: [1, 9, 4], overrun: 'charge', maxOverrun: [0, 3, 9] } as const
    assert.deepEqual(await probe.committed('a', over), ['settled', [1, 5, 4], [0, 4, 0], [1, 2, 3]])
    assert.deepEqual(await probe.used(), [1, 5, 4])
  }),
  holdCase('a policy with fewer units keeps other units charged and gives them back', async (probe, { peer }) => {
    const less = new HoldProbe(peer, counting('tokens'), 10)
    await probe.held('a', [1, 5, 3])
    await probe.held('b', [2, 1, 4])
    assert.deepEqual((await less.list()).holds[0]?.costs, { requests: 1, tokens: 5, money: 3 })
    assert.deepEqual(await less.committed('a', { actual: 2 }), ['settled', 2, 0, 5])
    assert.deepEqual(await probe.used(), [3, 3, 7])
    assert.equal(await less.released('b'), 'settled')
    assert.deepEqual(await probe.used(), [1, 2, 3])
  }),
  unitCaseWith('holds', 'concurrency')('slots work like a further unit', async ({ store }) => {
    const probe = new HoldProbe(store, WITH_SLOTS, [10, 10, 10, 1])
    await probe.held('a', [1, 0, 2], { slot: true })
    assert.deepEqual(await probe.used(), [1, 0, 2, 1])
    assert.deepEqual((await probe.list()).holds[0]?.costs, { requests: 1, money: 2, slots: 1 })
    assert.equal((await probe.hold('b', [0, 1, 0], { slot: true })).outcome, 'refused')
    await probe.held('c', [0, 1, 0])
    await probe.committed('a', { actual: [1, 0, 1] })
    assert.deepEqual(await probe.used(), [1, 1, 1, 0])
  }),
]

/** Cases about limits of several units. */
export const UNIT_CASES: readonly ConformanceCase[] = [...TAKE_CASES, ...NAME_CASES, ...SETTLE_CASES, ...HOLD_CASES]
