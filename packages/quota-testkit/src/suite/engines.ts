import { createQuota, memorySettings, type Policy, type Quota, type Subject } from '@scoregw/quota'
import type { CaseContext } from './harness.ts'

/** Two processes with the same counters and settings, and maybe two policies. */
export function enginesOn(
  { store, peer, clock }: CaseContext,
  one: Policy,
  other: Policy = one,
): readonly [Quota, Quota] {
  const shared = { settingsStore: memorySettings(), clock, logger: false } as const
  return [createQuota({ ...shared, policy: one, store }), createQuota({ ...shared, policy: other, store: peer })]
}

/** What a subject has used, by limit. */
export async function usedBy(quota: Quota, subject: Subject): Promise<Record<string, number | undefined>> {
  const { limits } = await quota.status(subject)
  return Object.fromEntries(Object.entries(limits).map(([name, limit]) => [name, limit?.used]))
}
