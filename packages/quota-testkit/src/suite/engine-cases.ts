import assert from 'node:assert/strict'
import {
  createQuota,
  type Decision,
  isSyncQuota,
  memorySettings,
  type Policy,
  parsePolicy,
  type Quota,
} from '@scoregw/quota'
import type { CaseContext, ConformanceCase } from './harness.ts'
import { plainCase } from './port-harness.ts'
import { DAY_MS, HOUR_MS, throwsCode } from './probe.ts'

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

/** Two engines in two processes, with the same counters and settings. */
function twoEngines(context: CaseContext) {
  const settingsStore = memorySettings()
  const make = (store = context.store) =>
    createQuota({ policy: policyOf(20, 100), store, settingsStore, clock: context.clock, logger: false })
  return [make(), make(context.peer)] as const
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
export const ENGINE_CASES: readonly ConformanceCase[] = [
  plainCase('engine: a refusal lists every refusing limit and the retry time', async (context) => {
    const quota = engineOn(context, 20, 30)
    await quota.consume({ subject: 'u', operation: 'look', cost: 20 })
    await context.advance(500)
    const decision = refusal(await quota.consume({ subject: 'u', operation: 'look', cost: 11 }))
    const start = decision.now - 500
    assert.deepEqual(
      decision.refusals.map(({ name, used: tokens, resetAt }) => [name, tokens, resetAt]),
      [
        ['read-1h', 20, start + HOUR_MS],
        ['site-1h', 20, start + HOUR_MS],
      ],
    )
    const { refusedBy, retryable, retryAfterMs, retryAfterSeconds } = decision
    assert.deepEqual([refusedBy.by, refusedBy.title], ['personal', 'Personal'])
    assert.deepEqual([retryable, retryAfterSeconds, retryAfterMs], [true, 3_600, HOUR_MS - 500])
  }),
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
  plainCase('engine: peek() returns what consume() would and changes nothing', async (context) => {
    const quota = engineOn(context)
    assert.equal((await quota.peek({ subject: 'u', operation: 'look', cost: 20 })).allowed, true)
    assert.deepEqual(await used(quota), [0, 0, 0, 0, 0, 0])
    await quota.consume({ subject: 'u', operation: 'look', cost: 20 })
    const foreseen = refusal(await quota.peek({ subject: 'u', operation: 'load' }))
    const real = refusal(await quota.consume({ subject: 'u', operation: 'load' }))
    assert.deepEqual(foreseen.refusals, real.refusals)
    assert.deepEqual(foreseen.limits, real.limits)
  }),
  plainCase('engine: a free request is admitted and changes nothing, even with nothing left', async (context) => {
    const quota = engineOn(context)
    await quota.consume({ subject: 'u', operation: 'look', cost: 20 })
    const before = await quota.status('u')
    const decision = await quota.consume({ subject: 'u', operation: 'ping' })
    assert.deepEqual([decision.allowed, decision.source], [true, 'free'])
    const reservation = await quota.reserve({ subject: 'u', operation: 'save', cost: 0 })
    await reservation.cancel()
    assert.deepEqual(await quota.status('u'), before)
  }),
  plainCase('engine: a disabled site and a subject that bypasses it leave the site uncharged', async (context) => {
    const quota = engineOn(context, 20, 20)
    await quota.subjects.set('vip', { bypass: { site: true } })
    await quota.consume({ subject: 'vip', operation: 'look', cost: 20 })
    assert.deepEqual(await used(quota, 'vip'), [20, 20, 20])
    assert.deepEqual(await used(quota, 'u'), [0, 0, 0, 0, 0, 0])
    await quota.settings.update({ shared: { site: { enabled: false } } })
    await quota.consume({ subject: 'u', operation: 'look', cost: 20 })
    refusal(await quota.consume({ subject: 'u', operation: 'look' }))
    await quota.settings.update({ shared: { site: { enabled: true } } })
    assert.deepEqual(await used(quota, 'u'), [20, 20, 20, 0, 0, 0])
  }),
  plainCase('engine: a reservation is committed for less or cancelled', async (context) => {
    const quota = engineOn(context)
    const first = await quota.reserve({ subject: 'u', operation: 'save' })
    assert.equal(first.status, 'reserved')
    await throwsCode(() => first.commit(16), 'commit_above_reservation')
    await first.commit(6)
    await first.cancel()
    assert.deepEqual(await used(quota, 'u', 'write'), [6, 6, 6, 6, 6, 6])
    const second = await quota.reserve({ subject: 'u', operation: 'save', cost: 14 })
    const third = await quota.reserve({ subject: 'u', operation: 'save', cost: 1 })
    assert.equal(third.status, 'refused')
    await throwsCode(() => third.commit(), 'commit_refused')
    await second.cancel()
    await second.cancel()
    assert.deepEqual(await used(quota, 'u', 'write'), [6, 6, 6, 6, 6, 6])
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
  plainCase('engine: windows end one after the other over a whole day', async (context) => {
    const quota = engineOn(context, 20, 1_000)
    const admitted: number[] = []
    for (let minute = 0; minute < 24 * 60; minute += 10) {
      const decision = await quota.consume({ subject: 'u', operation: 'look', cost: 5 })
      if (decision.allowed) admitted.push(minute)
      await context.advance(600_000)
    }
    const hours = [0, 60, 300, 360]
    assert.deepEqual(
      admitted,
      hours.flatMap((hour) => [hour, hour + 10, hour + 20, hour + 30]),
    )
    await context.advance(DAY_MS)
    assert.deepEqual(await used(quota), [0, 0, 0, 0, 0, 0])
  }),
]
