import assert from 'node:assert/strict'
import { createQuota, type Decision, isSyncQuota, type Policy, parsePolicy, type Quota } from '@scoregw/quota'
import { enginesOn } from './abilities.ts'
import type { CaseContext } from './harness.ts'
import type { ContextCase } from './old-case.ts'
import { plainCase } from './old-case.ts'
import { HOUR_MS, throwsCode } from './probe.ts'

const LENGTHS = { '1h': 1, '5h': 2, '1d': 4 } as const

/** Limits of each subject for reads and writes, and of the site for both, because leases are of whole rows. */
function policyOf(personal: number, site: number): Policy {
  const limitsOf = (name: string, limit: number, members: object) =>
    Object.entries(LENGTHS).map(
      ([per, times]) => [`${name}-${per}`, { ...members, per, limit: times * limit }] as const,
    )
  const limits = [
    ...limitsOf('read', personal, { by: 'personal', for: 'read' }),
    ...limitsOf('write', personal, { by: 'personal', for: 'write' }),
    ...limitsOf('site', site, { shared: 'site' }),
  ]
  return parsePolicy({
    limits: Object.fromEntries(limits),
    titles: { personal: 'Personal' },
    operations: {
      look: { category: 'read' },
      load: { category: 'read', cost: 4 },
      save: { category: 'write', cost: 15 },
      ping: { category: 'read', cost: 0, free: true },
    },
  })
}

function engineOn({ store, clock }: CaseContext, personal = 20, site = 100): Quota {
  return createQuota({ policy: policyOf(personal, site), store, clock, logger: false })
}

function twoEngines(context: CaseContext): readonly [Quota, Quota] {
  return enginesOn(context, policyOf(20, 100))
}

async function used(quota: Quota, subject = 'u', category = 'read'): Promise<number[]> {
  const { limits } = await quota.status(subject)
  const ofCategory = Object.values(limits).filter(
    (limit) => limit?.name.startsWith(category) || limit?.shared === 'site',
  )
  return ofCategory.map((limit) => limit?.used ?? -1)
}

function refusal(decision: Decision): Extract<Decision, { allowed: false }> {
  assert.equal(decision.allowed, false)
  if (decision.allowed) throw new TypeError('not a refusal')
  return decision
}

/** Cases for an engine on the store. */
export const ENGINE_CASES: readonly ContextCase[] = [
  plainCase('engine: a request is refused before Retry-After and admitted at it', async (context) => {
    const quota = engineOn(context, 20, 100)
    await quota.consume({ subject: 'u', operation: 'look', cost: 20 })
    await context.advance(HOUR_MS)
    await quota.consume({ subject: 'u', operation: 'look', cost: 20 })
    await context.advance(1)
    const request = { subject: 'u', operation: 'look', cost: 5 } as const
    const decision = refusal(await quota.consume(request))
    assert.equal(decision.refusedBy.name, 'read-5h')
    await context.advance(decision.resetAt - decision.now - 1)
    refusal(await quota.consume(request))
    await context.advance(decision.now + Number(decision.retryAfterSeconds) * 1_000 - context.clock.now())
    assert.equal((await quota.consume(request)).allowed, true)
  }),
  {
    name: 'engine: one id in two processes is reserved by one of them',
    needs: 'ids',
    async run(context) {
      const [one, two] = twoEngines(context)
      const request = { subject: 'u', operation: 'load', id: 'attempt-7' } as const
      const first = await one.reserve(request)
      const second = await two.reserve(request)
      assert.deepEqual([first.status, second.status], ['reserved', 'duplicate'])
      await second.cancel()
      assert.deepEqual(await used(two), [4, 4, 4, 4, 4, 4])
      await throwsCode(() => two.reserve({ ...request, operation: 'look' }), 'id_conflict')
      await throwsCode(() => two.reserve({ ...request, cost: 5 }), 'id_conflict')
      await first.cancel()
      assert.deepEqual(await used(two), [0, 0, 0, 0, 0, 0])
      assert.equal((await two.reserve(request)).status, 'cancelled')
    },
    async without(context) {
      const quota = engineOn(context)
      await throwsCode(() => quota.reserve({ subject: 'u', operation: 'load', id: 'x' }), 'quota_unavailable')
      assert.deepEqual(await used(quota), [0, 0, 0, 0, 0, 0])
    },
  },
  plainCase('engine: settings changed by one process apply in the other', async (context) => {
    const [one, two] = twoEngines(context)
    await one.consume({ subject: 'u', operation: 'look', cost: 15 })
    await two.settings.update({ prices: { look: 6 } })
    refusal(await one.consume({ subject: 'u', operation: 'look' }))
    await two.settings.update({ mode: 'lenient' })
    assert.equal((await one.consume({ subject: 'u', operation: 'look' })).allowed, true)
    assert.deepEqual(await used(two), [21, 21, 21, 21, 21, 21])
  }),
  plainCase(
    'engine: a reset resets limits of the subject’s own, and shared ones only when they are named',
    async (context) => {
      const quota = engineOn(context)
      await quota.consume({ subject: 'u', operation: 'load' })
      await quota.consume({ subject: 'u', operation: 'save' })
      await quota.reset('u', { limits: ['read-1h', 'read-5h', 'read-1d'] })
      assert.deepEqual(await used(quota, 'u', 'read'), [0, 0, 0, 19, 19, 19])
      assert.deepEqual(await used(quota, 'u', 'write'), [15, 15, 15, 19, 19, 19])
      await quota.reset('u')
      await quota.reset('u', { limits: ['site-1h', 'site-1d'] })
      assert.deepEqual(await used(quota, 'u', 'write'), [0, 0, 0, 0, 19, 0])
      await throwsCode(() => quota.reset('u', { limits: ['nowhere'] }), 'invalid_reset')
    },
  ),
  {
    name: 'engine: the Sync calls are available on a synchronous store',
    needs: 'sync',
    async run(context) {
      const quota = engineOn(context)
      assert.equal(context.store.sync, true)
      assert.ok(isSyncQuota(quota), 'an engine whose stores answer at once has the Sync calls')
      assert.equal(quota.consumeSync({ subject: 'u', operation: 'load' }).allowed, true)
      quota.reserveSync({ subject: 'u', operation: 'load' }).cancel()
      assert.deepEqual(
        Object.values(quota.statusSync('u').limits).map((limit) => limit?.used),
        [4, 4, 4, 0, 0, 0, 4, 4, 4],
      )
    },
    async without(context) {
      const quota = engineOn(context)
      assert.equal(context.store.sync, false)
      assert.equal(isSyncQuota(quota), false)
      assert.deepEqual(
        ['consumeSync', 'peekSync', 'reserveSync', 'statusSync'].filter((name) => name in quota),
        [],
        'calls that an engine could not answer are not there',
      )
      assert.deepEqual(await used(quota), [0, 0, 0, 0, 0, 0])
    },
  },
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
      await one.settings.update({ prices: { ping: 3 } })
      assert.equal((await two.reserve(free)).status, 'duplicate')
      assert.deepEqual(await used(one), [4, 4, 4, 4, 4, 4])
    },
    async without(context) {
      const [one] = twoEngines(context)
      await throwsCode(() => one.reserve({ subject: 'u', operation: 'ping', id: 'free' }), 'quota_unavailable')
    },
  },
]
