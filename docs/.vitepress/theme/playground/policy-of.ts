import type { Limit, Policy, Subject } from '@scoregw/quota'
import { CATEGORIES, LENGTHS_MS, type Limits, type Scenario, teamOf } from './scenario.ts'

/** A scenario as the policy of an engine. */
export function policyOf({ windows, personal, team, site, operations }: Scenario): Policy {
  return {
    windows: windows.map((label) => ({ label, lengthMs: LENGTHS_MS[label] ?? 0 })),
    categories: CATEGORIES,
    layers: [
      { name: 'personal', scope: 'personal', shared: false },
      ...(team === null ? [] : [{ name: 'team', scope: 'team', shared: false }]),
      ...(site === null ? [] : [{ name: 'site', scope: 'site', shared: true }]),
    ],
    operations: Object.fromEntries(operations.map(({ name, category, cost }) => [name, { category, cost }])),
    base: {
      personal: baseOf(windows, personal),
      ...(team === null ? {} : { team: baseOf(windows, team) }),
      ...(site === null ? {} : { site: baseOf(windows, site) }),
    },
  }
}

/** Who pays for what a person asks. */
export function subjectOf({ team }: Scenario, name: string): Subject {
  return team === null ? name : { personal: name, team: teamOf(name) }
}

function baseOf(windows: readonly string[], limits: Limits): Record<string, Record<string, Limit>> {
  const ofCategory = (values: Limits['read']): Record<string, Limit> =>
    Object.fromEntries(windows.map((label, index) => [label, values[index] ?? 'unlimited']))
  return { read: ofCategory(limits.read), write: ofCategory(limits.write) }
}
