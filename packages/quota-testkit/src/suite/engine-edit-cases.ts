import assert from 'node:assert/strict'
import { createQuota, defaultPolicy, type LimitTable, memorySettings, type Policy, type Quota } from '@scoregw/quota'
import type { CaseContext, ConformanceCase } from './harness.ts'
import { plainCase } from './port-harness.ts'
import { throwsCode } from './probe.ts'

const BEFORE: Policy = defaultPolicy({
  operations: { load: { category: 'read', cost: 4 }, ping: { category: 'read', cost: 0 } },
})

function withLimit(base: LimitTable, label: string, limit: number): LimitTable {
  const each = <T, U>(record: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> =>
    Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]))
  return each(base, (layer) => each(layer, (category) => ({ [label]: limit, ...category })))
}

/** One more window, one more name for people, a different order. Existing counters must stay. */
const AFTER: Policy = {
  ...BEFORE,
  windows: [{ label: '10m', lengthMs: 600_000 }, ...[...BEFORE.windows].reverse()],
  layers: [...BEFORE.layers].reverse().map((layer) => ({ ...layer, scope: `The ${layer.name}` })),
  categories: [...BEFORE.categories].reverse(),
  base: withLimit(BEFORE.base, '10m', 20),
}

/** Two processes of a rolling deployment: the same counters and settings, two policies. */
function twoEngines({ store, peer, clock }: CaseContext): readonly [before: Quota, after: Quota] {
  const settingsStore = memorySettings()
  return [
    createQuota({ policy: BEFORE, store, settingsStore, clock }),
    createQuota({ policy: AFTER, store: peer, settingsStore, clock }),
  ]
}

/** Returns `[limit, used]` of a subject's own windows by label. */
async function own(quota: Quota): Promise<Record<string, readonly [limit: unknown, used: number]>> {
  const { windows } = await quota.status('u')
  const personal = (windows.read ?? []).filter(({ layer }) => layer === 'personal')
  return Object.fromEntries(personal.map(({ window, limit, used }) => [window, [limit, used] as const]))
}

async function admittedOf(quota: Quota, calls: number): Promise<number> {
  let admitted = 0
  for (let call = 0; call < calls; call++) {
    if ((await quota.consume({ subject: 'u', operation: 'load' })).allowed) admitted++
  }
  return admitted
}

/** Cases for engines while a policy is edited. */
export const ENGINE_EDIT_CASES: readonly ConformanceCase[] = [
  {
    name: 'engine: a repeat is a duplicate even if the price changed meanwhile, also to 0',
    needs: 'ids',
    async run(context) {
      const [one, two] = twoEngines(context)
      const request = { subject: 'u', operation: 'load', id: 'attempt' } as const
      assert.equal((await one.reserve(request)).status, 'reserved')
      for (const load of [7, 0, 4]) {
        await two.settings.update({ prices: { load } })
        assert.equal((await two.reserve(request)).status, 'duplicate', `at a price of ${load}`)
      }
      await throwsCode(() => two.reserve({ ...request, cost: 4 }), 'id_conflict')
      const free = { subject: 'u', operation: 'ping', id: 'free' } as const
      assert.equal((await one.reserve(free)).status, 'reserved')
      assert.equal((await two.reserve(free)).status, 'duplicate')
      await one.settings.update({ prices: { ping: 3 } })
      assert.equal((await two.reserve(free)).status, 'duplicate')
      assert.deepEqual((await own(one))['1h'], [120, 4])
    },
    async without(context) {
      const [one] = twoEngines(context)
      await throwsCode(() => one.reserve({ subject: 'u', operation: 'ping', id: 'free' }), 'quota_unavailable')
    },
  },
  plainCase('engine: settings stored by one policy leave no window of another without a limit', async (context) => {
    const [before, after] = twoEngines(context)
    await before.settings.update({ mode: 'lenient', base: { personal: { read: { '1h': 40 } } } })
    assert.deepEqual(await own(after), { '10m': [30, 0], '1d': [1_800, 0], '5h': [600, 0], '1h': [60, 0] })
    assert.equal(await admittedOf(after, 10), 7)
    assert.equal(await admittedOf(before, 20), 8)
    assert.deepEqual(await own(after), { '10m': [30, 28], '1d': [1_800, 60], '5h': [600, 60], '1h': [60, 60] })
    assert.equal(await admittedOf(after, 3), 0)
  }),
  plainCase('engine: a policy that changes settings keeps names that it doesn’t have', async (context) => {
    const [before, after] = twoEngines(context)
    await after.settings.update({ base: { personal: { read: { '10m': 8 } } } })
    await before.settings.update({ mode: 'lenient' })
    await before.settings.replace({ ...(await plain(before)), mode: 'normal' })
    assert.deepEqual((await own(after))['10m'], [8, 0])
    await throwsCode(() => before.settings.update({ base: { personal: { read: { '10m': 9 } } } }), 'invalid_settings')
    assert.equal(await admittedOf(after, 5), 2)
  }),
]

/** The settings as they can be stored again. */
async function plain(quota: Quota) {
  const { version: _, revision: __, ...settings } = await quota.settings.get()
  return settings
}
