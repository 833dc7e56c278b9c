import assert from 'node:assert/strict'
import { createQuota, memorySettings, type Policy, parsePolicy, type Quota } from '@scoregw/quota'
import type { CaseContext, ConformanceCase } from './harness.ts'
import { plainCase } from './port-harness.ts'
import { throwsCode } from './probe.ts'

const NUMBERS = { '10m': 20, '1h': 120, '5h': 400, '1d': 1_200 } as const

/** Limits of each subject and of the site. */
function policyOf(layers: readonly string[], lengths: readonly (keyof typeof NUMBERS)[], titles: object): Policy {
  const limits = layers.flatMap((layer) =>
    lengths.map((per) => {
      const whose = layer === 'site' ? { shared: layer } : { by: layer }
      return [`${layer}-${per}`, { ...whose, limit: (layer === 'site' ? 25 : 1) * NUMBERS[per], per }] as const
    }),
  )
  const operations = { load: { cost: 4 }, ping: { cost: 0, free: true } }
  return parsePolicy({ limits: Object.fromEntries(limits), operations, titles })
}

const BEFORE = policyOf(['personal', 'site'], ['1h', '5h', '1d'], {})

/** One more limit, other names for people, a different order. Existing counters must stay. */
const AFTER = policyOf(['site', 'personal'], ['10m', '1d', '5h', '1h'], { personal: 'Own', site: 'The site' })

/** Two processes of a rolling deployment: the same counters and settings, two policies. */
function twoEngines({ store, peer, clock }: CaseContext): readonly [before: Quota, after: Quota] {
  const settingsStore = memorySettings()
  return [
    createQuota({ policy: BEFORE, store, settingsStore, clock, logger: false }),
    createQuota({ policy: AFTER, store: peer, settingsStore, clock, logger: false }),
  ]
}

/** Returns `[limit, used]` of a subject's own limits by length. */
async function own(quota: Quota): Promise<Record<string, readonly [limit: unknown, used: number]>> {
  const limits = Object.values((await quota.status('u')).limits).filter((limit) => limit?.by === 'personal')
  return Object.fromEntries(
    limits.map((limit) => [limit?.name.replace('personal-', ''), [limit?.limit, limit?.used ?? -1] as const]),
  )
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
  plainCase('engine: settings stored by one policy leave no limit of another without a number', async (context) => {
    const [before, after] = twoEngines(context)
    await before.settings.update({ mode: 'lenient', limits: { 'personal-1h': 40 } })
    assert.deepEqual(await own(after), { '10m': [30, 0], '1d': [1_800, 0], '5h': [600, 0], '1h': [60, 0] })
    assert.equal(await admittedOf(after, 10), 7)
    assert.equal(await admittedOf(before, 20), 8)
    assert.deepEqual(await own(after), { '10m': [30, 28], '1d': [1_800, 60], '5h': [600, 60], '1h': [60, 60] })
    assert.equal(await admittedOf(after, 3), 0)
  }),
  plainCase('engine: a policy that changes settings keeps names that it doesn’t have', async (context) => {
    const [before, after] = twoEngines(context)
    await after.settings.update({ limits: { 'personal-10m': 8 } })
    await before.settings.update({ mode: 'lenient' })
    await before.settings.replace({ ...(await plain(before)), mode: 'normal' })
    assert.deepEqual((await own(after))['10m'], [8, 0])
    await throwsCode(() => before.settings.update({ limits: { 'personal-10m': 9 } }), 'invalid_settings')
    assert.equal(await admittedOf(after, 5), 2)
  }),
]

/** The settings as they can be stored again. */
async function plain(quota: Quota) {
  const { version: _, revision: __, ...settings } = await quota.settings.get()
  return settings
}
