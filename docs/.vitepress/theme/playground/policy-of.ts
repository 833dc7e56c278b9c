import type { Limit, Policy, SeveralUnits, Subject } from '@scoregw/quota'
import {
  CATEGORIES,
  CENTS,
  costsOf,
  countedIn,
  LENGTHS_MS,
  type Limits,
  type Scenario,
  teamOf,
  type Unit,
} from './scenario.ts'

/** Whatever its windows count. */
export type Counted = SeveralUnits<Unit>

/** A scenario as the policy of an engine. */
export function policyOf(scenario: Scenario): Policy<string, Counted> {
  const { windows, units, bursts, personal, team, site, operations } = scenario
  return {
    units: countedIn(scenario).map((unit) => (unit === 'cents' ? CENTS : unit)),
    windows: windows.map((label, at) => {
      const burst = bursts[at] ? { burst: { share: bursts[at] } } : {}
      return { label, lengthMs: LENGTHS_MS[label] ?? 0, unit: units[at], ...burst }
    }),
    categories: CATEGORIES,
    layers: [
      { name: 'personal', scope: 'personal', shared: false },
      ...(team === null ? [] : [{ name: 'team', scope: 'team', shared: false }]),
      ...(site === null ? [] : [{ name: 'site', scope: 'site', shared: true }]),
    ],
    operations: Object.fromEntries(
      operations.map((each) => [each.name, { category: each.category, cost: costsOf(scenario, each) }]),
    ),
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
