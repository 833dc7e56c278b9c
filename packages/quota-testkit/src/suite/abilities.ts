import assert from 'node:assert/strict'
import { createQuota, type Policy, type QuotaOptions } from '@scoregw/quota'
import { type CaseContext, type ConformanceCase, missingOf, type Need, type StoreAbility } from './harness.ts'
import { HOUR_MS, ONE_WINDOW, PERSONAL, Probe, SITE, throwsCode } from './probe.ts'
import { MIXED } from './table.ts'

/** A subject and the site have one window each. */
export const ROLLING: Policy<'work'> = {
  windows: [{ label: '1h', lengthMs: HOUR_MS }],
  categories: ['read'],
  layers: [PERSONAL, SITE],
  operations: { work: { category: 'read', cost: 1 } },
  base: { personal: { read: { '1h': 100 } }, site: { read: { '1h': 100 } } },
}

/** A policy that needs each ability. Holds are needed by a request, and sets by a schema. */
const POLICIES: Readonly<Record<Exclude<StoreAbility, 'holds' | 'sets'>, Policy<'work'>>> = {
  calendar: {
    ...ROLLING,
    windows: [{ label: 'day', every: 'day', timeZone: 'UTC' }],
    base: { personal: { read: { day: 100 } }, site: { read: { day: 100 } } },
  },
  bucket: { ...ROLLING, windows: [{ label: '1h', lengthMs: HOUR_MS, burst: 10 }] },
  concurrency: {
    ...ROLLING,
    concurrency: { label: 'running', operations: ['work'] },
    base: { ...ROLLING.base, personal: { read: { '1h': 100, running: 2 } } },
  },
  'shared-concurrency': {
    ...ROLLING,
    concurrency: { label: 'running', operations: ['work'] },
    base: { ...ROLLING.base, site: { read: { '1h': 100, running: 2 } } },
  },
  fit: { ...ROLLING, operations: { work: { category: 'read', cost: 1, overrun: 'fit', maxOverrun: 5 } } },
}

const calendar: QuotaOptions['calendar'] = {
  isTimeZone: () => true,
  periods: (_, at) => [at, at + HOUR_MS, at + 2 * HOUR_MS],
}

/** Checks that an engine on a store without an ability refuses before it charges anything, or that the store does. */
async function refuses({ store, clock }: CaseContext, ability: StoreAbility): Promise<void> {
  if (ability === 'sets') {
    await throwsCode(() => store.open(MIXED), 'store_unsupported')
    return
  }
  if (ability !== 'holds') {
    const policy = POLICIES[ability]
    await throwsCode(() => createQuota({ policy, store, clock, calendar }), 'store_unsupported')
    return
  }
  const quota = createQuota({ policy: ROLLING, store, clock })
  const request = { subject: 'u', operation: 'work', ttlMs: 60_000 } as const
  await throwsCode(() => quota.reserve(request), 'holds_unsupported')
  const { windows } = await quota.status('u')
  assert.deepEqual(
    windows.read?.map(({ used }) => used),
    [0, 0],
  )
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
export type CaseOf<Given> = (name: string, run: (given: Given) => Promise<void>) => ConformanceCase

/** Makes a case for stores with all of these abilities and capabilities. */
export function abilityCase(
  name: string,
  needs: Need | readonly Need[],
  run: (context: CaseContext) => Promise<void>,
): ConformanceCase {
  return { name, needs, run, without: (context) => withoutNeed(context, missingOf(context, needs)) }
}
