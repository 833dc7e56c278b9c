import assert from 'node:assert/strict'
import { createQuota, definePolicy } from '@scoregw/quota'
import type { QuotaStore } from '@scoregw/quota/store'
import { usedBy } from './abilities.ts'
import type { CaseContext } from './harness.ts'
import type { ContextCase } from './old-case.ts'
import { DAY_MS, HOUR_MS, ONE_WINDOW, PERSONAL, Probe, SITE, throwsCode } from './probe.ts'

const TWO_LAYERS = { ...ONE_WINDOW, layers: [SITE, PERSONAL] }

/** Stores without a bound must keep all subjects. */
async function keepsEverybody({ store }: CaseContext): Promise<void> {
  const probe = new Probe(store, ONE_WINDOW, 2)
  for (let user = 0; user < 100; user++) await probe.admitted(1, { subject: `u${user}` })
  for (let user = 0; user < 100; user++) assert.deepEqual(await probe.used({ subject: `u${user}` }), [1])
}

function boundCase(name: string, run: (context: CaseContext) => Promise<void>): ContextCase {
  return { name, needs: 'bounded', wishes: { maxSubjects: 3 }, run, without: keepsEverybody }
}

/** Fills a store with room for three subjects, the shared layer first. That catches a store that charges too early. */
async function filled(store: QuotaStore): Promise<Probe> {
  const probe = new Probe(store, TWO_LAYERS, 100)
  for (const subject of ['a', 'b', 'c']) await probe.admitted(1, { subject })
  return probe
}

const SHARED_FIRST = definePolicy({
  limits: {
    all: { shared: 'site', limit: 100, per: '1h' },
    own: { by: 'personal', limit: 100, per: '1h' },
  },
  operations: { work: {} },
})

/** An engine on a store with room for three subjects, who have one request each. */
async function fullEngine({ store, clock }: CaseContext, failurePolicy: 'open' | 'closed') {
  const quota = createQuota({
    policy: SHARED_FIRST,
    store,
    clock,
    failurePolicy: { work: failurePolicy },
    logger: false,
  })
  for (const subject of ['a', 'b', 'c']) await quota.consume({ subject, operation: 'work' })
  return quota
}

/** Cases for a store with room for three subjects. */
export const BOUND_CASES: readonly ContextCase[] = [
  boundCase('a new subject in a full store gets store_full and is charged nothing', async ({ store }) => {
    const probe = await filled(store)
    for (let again = 0; again < 5; again++) {
      await throwsCode(() => probe.take(1, { subject: `new-${again}` }), 'store_full')
    }
    assert.deepEqual(await probe.used({ subject: 'new-0' }), [3, 0])
  }),
  boundCase('a full store drops no live counter', async ({ store, advance }) => {
    const probe = await filled(store)
    for (let step = 0; step < 60; step++) {
      await advance(59_000)
      await throwsCode(() => probe.take(1, { subject: `new-${step}` }), 'store_full')
    }
    for (const subject of ['a', 'b', 'c']) {
      assert.deepEqual(await probe.used({ subject }), [3, 1])
      await probe.admitted(1, { subject, layers: [1], limits: [2] })
      await probe.refused(1, { subject, layers: [1], limits: [2] })
    }
  }),
  boundCase('a refusal in a full store needs no room', async ({ store }) => {
    const probe = await filled(store)
    await probe.refused(101, { subject: 'new' })
  }),
  boundCase('expired subjects make room for new ones', async ({ store, advance }) => {
    const probe = await filled(store)
    await advance(HOUR_MS + DAY_MS)
    for (const subject of ['d', 'e', 'f']) await probe.admitted(1, { subject })
    await throwsCode(() => probe.take(1, { subject: 'g' }), 'store_full')
  }),
  boundCase("a full store isn't a refusal: the failure policy closed gives quota_unavailable", async (context) => {
    const quota = await fullEngine(context, 'closed')
    const error = await throwsCode(() => quota.consume({ subject: 'new', operation: 'work' }), 'quota_unavailable')
    assert.equal((error.cause as { code?: unknown }).code, 'store_full')
    assert.equal((await quota.consume({ subject: 'a', operation: 'work' })).allowed, true)
  }),
  boundCase('a full store with the failure policy open admits without counting', async (context) => {
    const quota = await fullEngine(context, 'open')
    const decision = await quota.consume({ subject: 'new', operation: 'work' })
    assert.deepEqual([decision.allowed, decision.source], [true, 'fallback'])
    assert.deepEqual(await usedBy(quota, 'new'), { all: 3, own: 0 })
  }),
]
