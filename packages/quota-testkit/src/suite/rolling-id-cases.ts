import assert from 'node:assert/strict'
import type { StoreSchema } from '@scoregw/quota/store'
import { withWindows } from './edits.ts'
import type { CaseContext, ConformanceCase } from './harness.ts'
import { refusesIds } from './id-cases.ts'
import { Parties, SUBJECT } from './parties.ts'
import { DAY_MS, HOUR_MS, idOf, Probe, SIX_WINDOWS } from './probe.ts'

const BEFORE: StoreSchema = SIX_WINDOWS
/** Everything that may change without touching an id: windows, the places of categories and layers, a shared layer more. */
const AFTER: StoreSchema = {
  ...withWindows(SIX_WINDOWS, [
    { label: '10m', lengthMs: 600_000 },
    { label: '5h', lengthMs: 5 * HOUR_MS },
    { label: '1d', lengthMs: DAY_MS },
  ]),
  categories: ['admin', 'write', 'read'],
  layers: [{ name: 'all', shared: true }, ...SIX_WINDOWS.layers],
}

function idCase(name: string, run: (context: CaseContext) => Promise<void>): ConformanceCase {
  return { name, needs: 'ids', run, without: refusesIds }
}

/** Two processes, the one with the policy before an edit and the other with the one after it. */
function twoProbes({ store, peer }: CaseContext): readonly [before: Probe, after: Probe] {
  return [new Probe(store, BEFORE, 100), new Probe(peer, AFTER, 100)]
}

/** What becomes of an id that was used before a layer of own keys was added. */
async function againWithTeam({ store, peer }: CaseContext): Promise<string> {
  const team = { name: 'team', shared: false }
  const before = new Probe(store, BEFORE, 99)
  const after = new Probe(peer, { ...BEFORE, layers: [...BEFORE.layers, team] }, 99)
  await before.admitted(3, { id: idOf('attempt', 'a') })
  const { outcome } = await after.take(3, { subject: SUBJECT, id: idOf('attempt', 'b') })
  return outcome
}

/** Promises about ids while the policy is edited. */
export const ROLLING_ID_CASES: readonly ConformanceCase[] = [
  idCase('an id that was used under one policy is a duplicate under the other', async (context) => {
    const [before, after] = twoProbes(context)
    await before.admitted(3, { id: idOf('old', 'a') })
    await after.admitted(3, { category: 2, id: idOf('new', 'a') })
    assert.equal((await after.take(3, { category: 2, id: idOf('old', 'b') })).outcome, 'duplicate')
    assert.equal((await before.take(3, { id: idOf('new', 'b') })).outcome, 'duplicate')
    assert.equal((await before.take(3, { id: idOf('new', 'b', 'other') })).outcome, 'conflict')
    assert.deepEqual(await before.used({ layers: [0] }), [3, 6, 6])
  }),
  idCase('ids go by the name of their category, not by its place', async (context) => {
    const [before, after] = twoProbes(context)
    await before.admitted(1, { category: 0, id: idOf('attempt', 'a') })
    await after.admitted(1, { category: 0, id: idOf('attempt', 'b') })
    await after.admitted(1, { category: 1, id: idOf('attempt', 'c') })
    assert.equal((await before.take(1, { category: 1, id: idOf('attempt', 'd') })).outcome, 'duplicate')
    assert.equal((await after.take(1, { category: 2, id: idOf('attempt', 'd') })).outcome, 'duplicate')
  }),
  idCase('a cancel by one policy keeps the reserve of the other from charging', async (context) => {
    const [before, after] = twoProbes(context)
    await after.cancel(undefined, 3, { category: 2, id: idOf('attempt') })
    assert.equal((await before.take(3, { id: idOf('attempt') })).outcome, 'cancelled')
    const reply = await before.admitted(3, { id: idOf('second') })
    await before.cancel(reply, 3, { id: idOf('second') })
    assert.equal((await after.take(3, { category: 2, id: idOf('second') })).outcome, 'cancelled')
    assert.deepEqual(await before.used({ layers: [0] }), [0, 0, 0])
  }),
  idCase('a refund finds its windows after another policy wrote, also those unknown to that', async (context) => {
    const parties = new Parties(context, 'at once', BEFORE, AFTER)
    const taken = await parties.take(BEFORE, 3, { id: idOf('attempt', 'a') })
    await parties.advance(1_000)
    const other = await parties.take(AFTER, 2, { id: idOf('other', 'b') })
    await parties.take(AFTER, 4)
    await parties.cancel(BEFORE, taken, 3)
    await parties.cancel(AFTER, other, 1)
    await parties.advance(HOUR_MS)
    await parties.take(BEFORE, 1)
  }),
  {
    name: 'an id goes on when a layer of own keys is added behind the first',
    needs: 'regroup',
    run: async (context) => {
      if (!context.capabilities.includes('ids')) return refusesIds(context)
      assert.equal(await againWithTeam(context), 'duplicate')
    },
    // Ids begin again together with the counters beside which they are kept.
    without: async (context) => {
      if (!context.capabilities.includes('ids')) return refusesIds(context)
      assert.equal(await againWithTeam(context), 'admitted')
    },
  },
]
