import assert from 'node:assert/strict'
import { createQuota, definePolicy, isSyncQuota, type Policy, type QuotaOptions } from '@scoregw/quota'
import { newRevision, type QuotaStore } from '@scoregw/quota/store'
import { usedBy } from './engines.ts'
import type { CaseContext, Need, StoreAbility } from './harness.ts'
import { DAY, DAY_MS, HOUR, HOUR_MS, HOURLY, inEach, MIXED, SHARED, SITE, TEAM, USER } from './limits.ts'
import { Probe, shows, throwsCode } from './probe.ts'

const LIMITS = {
  own: { by: 'personal', limit: 100, per: '1h' },
  all: { shared: 'site', limit: 100, per: '1h' },
} as const
const operations = { work: {} }
const PLAIN = definePolicy({ limits: LIMITS, operations })

/** A policy that needs each ability. Holds are needed by a request, and sets by a schema. */
const POLICIES = {
  calendar: definePolicy({
    limits: { ...LIMITS, daily: { by: 'personal', limit: 100, every: 'day', timeZone: 'UTC' } },
    operations,
  }),
  bucket: definePolicy({ limits: { ...LIMITS, own: { ...LIMITS.own, burst: 10 } }, operations }),
  concurrency: definePolicy({ limits: { ...LIMITS, running: { by: 'personal', concurrency: 2 } }, operations }),
  'shared-concurrency': definePolicy({
    limits: { ...LIMITS, running: { shared: 'site', concurrency: 2 } },
    operations,
  }),
  fit: definePolicy({ limits: LIMITS, operations: { work: { overrun: 'fit', maxOverrun: 5 } } }),
}

const calendar: QuotaOptions['calendar'] = {
  isTimeZone: () => true,
  periods: (_, at) => [at, at + HOUR_MS, at + 2 * HOUR_MS],
}

/** An engine refuses a policy that needs the ability, before it charges anything. */
function engineRefuses(ability: keyof typeof POLICIES) {
  const policy: Policy = POLICIES[ability]
  return async ({ store, clock }: CaseContext): Promise<void> => {
    await throwsCode(() => createQuota({ policy, store, clock, calendar }), 'store_unsupported')
  }
}

const ABILITIES: Readonly<Record<StoreAbility, (context: CaseContext) => Promise<void>>> = {
  calendar: engineRefuses('calendar'),
  bucket: engineRefuses('bucket'),
  concurrency: engineRefuses('concurrency'),
  'shared-concurrency': engineRefuses('shared-concurrency'),
  fit: engineRefuses('fit'),
  async holds({ store, clock }) {
    const quota = createQuota({ policy: PLAIN, store, clock })
    await throwsCode(() => quota.reserve({ subject: 'u', operation: 'work', ttlMs: 60_000 }), 'holds_unsupported')
    assert.deepEqual(await usedBy(quota, 'u'), { own: 0, all: 0 })
  },
  async sets({ store }) {
    await throwsCode(() => new Probe(store, MIXED).counters(), 'store_unsupported')
  },
}

/** The deadline of an asynchronous store. */
export function deadlineOf(store: QuotaStore): number | undefined {
  return store.sync ? undefined : store.deadlineMs
}

/** What a store must do if it lacks something that a case needs. */
export const WITHOUT: Readonly<Record<Need, (context: CaseContext) => Promise<void>>> = {
  ...ABILITIES,
  /** Ids are rejected with a typed error, and nothing is charged. */
  async ids({ store, clock }) {
    const { take, isAt } = new Probe(store, HOURLY)
    await throwsCode(() => take(1, { id: '__proto__' }))
    await isAt([-1, 0])
    const quota = createQuota({ policy: PLAIN, store, clock, logger: false })
    await throwsCode(() => quota.reserve({ subject: 'u', operation: 'work', id: 'x' }), 'quota_unavailable')
    assert.deepEqual(await usedBy(quota, 'u'), { own: 0, all: 0 })
  },
  async sync({ store, clock }) {
    const quota = createQuota({ policy: PLAIN, store, clock, logger: false })
    assert.equal(store.sync, false)
    assert.equal(isSyncQuota(quota), false)
    const calls = ['consumeSync', 'peekSync', 'reserveSync', 'statusSync']
    assert.deepEqual(
      calls.filter((name) => name in quota),
      [],
      'calls that an engine could not answer are not there',
    )
    assert.deepEqual(await usedBy(quota, 'u'), { own: 0, all: 0 })
  },
  async 'clock-steps'({ store, advance }) {
    const { take } = new Probe(store, HOURLY, 1_000)
    let last = 0
    for (let round = 0; round < 10; round++) {
      const { now } = await take(1)
      assert.ok(now >= last, `${now} after ${last}`)
      last = now
      await advance(7)
    }
  },
  async bounded({ store }) {
    const { admit, isUsed } = new Probe(store, HOURLY, 2)
    for (let user = 0; user < 100; user++) await admit(1, { subject: `u${user}` })
    for (let user = 0; user < 100; user++) await isUsed(1, { subject: `u${user}` })
  },
  async revisions({ store }) {
    const { admit, isUsed } = new Probe(store, SHARED)
    for (const settingsRevision of [undefined, '', newRevision()]) await admit(1, { settingsRevision })
    await isUsed(3)
  },
  /** A reset starts from zero. */
  async damage({ store }) {
    const { admit, reset } = new Probe(store, SHARED)
    const { now } = await admit(10)
    await reset()
    shows(await admit(10), [now + 1, 10])
  },
  /** A row stays as long as its longest window, whatever a policy without that window writes. */
  async expiry({ store, peer, advance }) {
    const [short, long] = [new Probe(store, HOURLY), new Probe(peer, inEach([USER], HOUR, DAY))]
    const { now } = await long.admit(3)
    await short.cancel(await short.admit(2), 1)
    await short.reset()
    await advance(DAY_MS - 1)
    await long.isAt({ 'user 1h': [-1, 0], 'user 1d': [now, 3] })
  },
  async deadline({ store }) {
    const deadlineMs = deadlineOf(store)
    assert.ok(deadlineMs === undefined || (deadlineMs > 0 && Number.isFinite(deadlineMs)), `deadlineMs ${deadlineMs}`)
    await new Probe(store, SHARED).admit(1)
  },
  /** If one layer of subjects becomes several, shared counters go on, and ids restart with the counters of their row. */
  async regroup(context) {
    const { store, peer, capabilities } = context
    const [before, after] = [new Probe(store, SHARED), new Probe(peer, inEach([USER, SITE, TEAM], HOUR))]
    const named = capabilities.includes('ids') ? { id: 'attempt' } : {}
    await before.admit(3, named)
    const subject = { user: 'u', team: 't' }
    await after.isUsed(3, { subject, layers: ['site'] })
    await after.admit(4, { subject, ...named, nonce: 'another' })
    await before.isUsed(7, { layers: ['site'] })
  },
}
