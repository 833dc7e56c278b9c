import assert from 'node:assert/strict'
import {
  createQuota,
  definePolicy,
  memorySettings,
  type Policy,
  type Quota,
  type QuotaOptions,
  type Subject,
} from '@scoregw/quota'
import { utcCalendar } from '../model/utc-calendar.ts'
import { type CaseContext, missingOf, type Need, type StoreAbility } from './harness.ts'
import type { ContextCase } from './old-case.ts'
import { HOUR_MS, ONE_WINDOW, Probe, throwsCode } from './probe.ts'
import { MIXED } from './table.ts'

const LIMITS = {
  own: { by: 'personal', limit: 100, per: '1h' },
  all: { shared: 'site', limit: 100, per: '1h' },
} as const

/** A subject and the site have one window each. */
const operations = { work: {} }
const ROLLING = definePolicy({ limits: LIMITS, operations })

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

/** Two processes with the same counters and settings, and maybe two policies. */
export function enginesOn(
  { store, peer, clock }: CaseContext,
  one: Policy,
  other: Policy = one,
): readonly [Quota, Quota] {
  const shared = { settingsStore: memorySettings(), clock, calendar: utcCalendar, logger: false } as const
  return [createQuota({ ...shared, policy: one, store }), createQuota({ ...shared, policy: other, store: peer })]
}

/** What a subject has used, by limit. */
export async function usedBy(quota: Quota, subject: Subject): Promise<Record<string, number | undefined>> {
  const { limits } = await quota.status(subject)
  return Object.fromEntries(Object.entries(limits).map(([name, limit]) => [name, limit?.used]))
}

/** Checks that an engine on a store without an ability refuses before it charges anything, or that the store does. */
async function refuses({ store, clock }: CaseContext, ability: StoreAbility): Promise<void> {
  if (ability === 'sets') {
    await throwsCode(() => store.open(MIXED), 'store_unsupported')
    return
  }
  if (ability !== 'holds') {
    const policy: Policy = POLICIES[ability]
    await throwsCode(() => createQuota({ policy, store, clock, calendar }), 'store_unsupported')
    return
  }
  const quota = createQuota({ policy: ROLLING, store, clock })
  const request = { subject: 'u', operation: 'work', ttlMs: 60_000 } as const
  await throwsCode(() => quota.reserve(request), 'holds_unsupported')
  assert.deepEqual(await usedBy(quota, 'u'), { own: 0, all: 0 })
}

const ABILITIES: readonly Need[] = ['holds', 'calendar', 'bucket', 'concurrency', 'shared-concurrency', 'fit', 'sets']

/** The case to run instead if a need isn't met: the refusal, or the case's own alternative. */
async function withoutNeed(context: CaseContext, need: Need | undefined): Promise<void> {
  if (ABILITIES.includes(need ?? 'sync')) return refuses(context, need as StoreAbility)
  const probe = new Probe(context.store, ONE_WINDOW, 10)
  const { now } = await probe.admitted(4)
  assert.deepEqual(await probe.states(), [now, 4])
  await probe.refused(7)
}

/** Makes a case of one kind. */
export type CaseOf<Given> = (name: string, run: (given: Given) => Promise<void>) => ContextCase

/** Makes a case for stores with all of these abilities and capabilities. */
export function abilityCase(
  name: string,
  needs: Need | readonly Need[],
  run: (context: CaseContext) => Promise<void>,
): ContextCase {
  return { name, needs, run, without: (context) => withoutNeed(context, missingOf(context, [needs].flat())) }
}
