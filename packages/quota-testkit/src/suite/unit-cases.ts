import assert from 'node:assert/strict'
import { cellsIn, windowCell } from '@scoregw/quota/internal'
import type { CaseOf } from './abilities.ts'
import type { CaseContext, Need } from './harness.ts'
import { HOLD_MS, HoldProbe } from './hold-probe.ts'
import type { ContextCase } from './old-case.ts'
import { HOUR_MS, ONE_WINDOW, Probe, SECOND_MS } from './probe.ts'
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
  return (name: string, run: (probe: HoldProbe, context: CaseContext) => Promise<void>): ContextCase =>
    unitCaseWith('holds', ...more)(name, (context) => run(new HoldProbe(context.store, THREE, 10), context))
}

const holdCase = holdCaseWith()

const TAKE_CASES: readonly ContextCase[] = [
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
]

const NAME_CASES: readonly ContextCase[] = [
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

const SETTLE_CASES: readonly ContextCase[] = [
  unitCase('spending without the store is charged over any limit', async ({ store }) => {
    const probe = new Probe(store, THREE, 10)
    const reply = await probe.admitted([9, 9, 9])
    await probe.commit(reply, [-3, 2, 0])
    assert.deepEqual(await probe.used(), [12, 7, 9])
  }),
]

const HOLD_CASES: readonly ContextCase[] = [
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
]

/** Cases about limits of several units. */
export const UNIT_CASES: readonly ContextCase[] = [...TAKE_CASES, ...NAME_CASES, ...SETTLE_CASES, ...HOLD_CASES]
