import { type Policy, parsePolicy, type Subject } from '@scoregw/quota'
import { costsOf, isFree, limitName, type Scenario, teamOf, type Unit, usedCategories } from './scenario.ts'

/** A scenario as the policy of an engine. */
export function policyOf(scenario: Scenario): Policy {
  const { operations } = scenario
  const limits = [
    ...limitsOf(scenario, { by: 'user' }, scenario.user),
    ...limitsOf(scenario, { by: 'team' }, scenario.team),
    ...limitsOf(scenario, { shared: 'site' }, scenario.site),
  ]
  return parsePolicy({
    limits: Object.fromEntries(limits),
    operations: Object.fromEntries(
      operations.map((each) => {
        const cost = Object.entries(costsOf(scenario, each)).map(([unit, amount]) => amountOf(unit as Unit, amount))
        return [each.name, { category: each.category, cost: Object.fromEntries(cost), free: isFree(scenario, each) }]
      }),
    ),
  })
}

/** Who pays for what a person asks. */
export function subjectOf({ team }: Scenario, name: string): Subject {
  return team === null ? name : { user: name, team: teamOf(name) }
}

type Whose = { readonly by: string; readonly shared?: undefined } | { readonly shared: string; readonly by?: undefined }

function limitsOf(scenario: Scenario, whose: Whose, limits: Scenario['team']) {
  const { windows, units, bursts } = scenario
  if (limits === null) return []
  return usedCategories(scenario).flatMap((category) =>
    windows.map((per, at) => {
      const [of, limit] = amountOf(units[at] ?? 'tokens', limits[category][at] ?? 'unlimited')
      const burst = bursts[at] ? { burst: { share: bursts[at] } } : {}
      return [
        limitName(whose.by ?? whose.shared, category, per),
        { ...whose, limit, of, per, for: category, ...burst },
      ] as const
    }),
  )
}

/** An amount in a unit of the policy, which counts cents as money. */
function amountOf(unit: Unit, amount: number | 'unlimited') {
  if (unit !== 'cents') return [unit, amount] as const
  return ['usd', amount === 'unlimited' ? amount : { USD: (amount / 100).toFixed(2) }] as const
}
