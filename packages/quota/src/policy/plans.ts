import type { Limit, PlanTable, Policy } from './policy.ts'
import type { Settings } from './settings.ts'
import { ownOf } from './values.ts'

/** The names of all plans: those of the policy, and those that only the settings have. */
export function planNames(policy: Pick<Policy, 'plans'>, settings: Pick<Settings, 'plans'>): readonly string[] {
  return [...new Set([...Object.keys(policy.plans ?? {}), ...Object.keys(settings.plans)])]
}

/** A plan's limit: what the settings say, else what the policy says; `undefined`: it follows the base. */
export function planLimit(
  policy: Pick<Policy, 'plans'>,
  settings: Pick<Settings, 'plans'>,
  plan: string,
  layer: string,
  category: string,
  label: string,
): Limit | undefined {
  const limitIn = (plans: Readonly<Record<string, PlanTable>> | undefined): Limit | undefined =>
    ownOf(ownOf(ownOf(ownOf(plans, plan), layer), category), label)
  return limitIn(settings.plans) ?? limitIn(policy.plans)
}
