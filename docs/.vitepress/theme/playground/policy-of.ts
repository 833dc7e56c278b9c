import type { Limit, Policy } from '@scoregw/quota'
import { CATEGORIES, LENGTHS_MS, type Limits, type Scenario } from './scenario.ts'

/** A scenario as the policy of an engine. */
export function policyOf({ windows, personal, site, operations }: Scenario): Policy {
  return {
    windows: windows.map((label) => ({ label, lengthMs: LENGTHS_MS[label] ?? 0 })),
    categories: CATEGORIES,
    layers: [
      { name: 'personal', scope: 'personal', shared: false },
      ...(site === null ? [] : [{ name: 'site', scope: 'site', shared: true }]),
    ],
    operations: Object.fromEntries(operations.map(({ name, category, cost }) => [name, { category, cost }])),
    base: { personal: baseOf(windows, personal), ...(site === null ? {} : { site: baseOf(windows, site) }) },
  }
}

function baseOf(windows: readonly string[], limits: Limits): Record<string, Record<string, Limit>> {
  const ofCategory = (values: Limits['read']): Record<string, Limit> =>
    Object.fromEntries(windows.map((label, index) => [label, values[index] ?? 'unlimited']))
  return { read: ofCategory(limits.read), write: ofCategory(limits.write) }
}
