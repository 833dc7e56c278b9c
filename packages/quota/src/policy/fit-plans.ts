import { plain, shown } from '../errors/shown.ts'
import { isObject } from '../options/objects.ts'
import { hasLimit, limitLabels } from './cells.ts'
import { wrongPlan } from './names.ts'
import type { Limit, PlanTable, Policy } from './policy.ts'
import type { Settings, ShadowedLimits, Threshold } from './settings.ts'
import { type Faults, membersOf } from './stored.ts'
import { areThresholds } from './threshold-rules.ts'
import { unitNames } from './units.ts'
import { isLimit } from './values.ts'

const UNKNOWN = 'not in the policy: kept, not in force'

/** Shadowed limits that a document names; what the policy does not have is not shadowed. */
export function fitShadow(policy: Policy, stored: unknown, faults: Faults): Settings['shadow'] {
  if (stored !== undefined && !isObject(stored)) faults.add('shadow', 'expected an object: no limit is shadowed')
  const fitted: [string, ShadowedLimits][] = []
  for (const [layer, limits] of membersOf(stored)) {
    const path = `shadow.${plain(layer)}`
    if (!policy.layers.some(({ name }) => name === layer)) faults.add(path, UNKNOWN)
    else if (limits === 'all') fitted.push([layer, limits])
    else if (Array.isArray(limits)) fitted.push([layer, fitLabels(policy, limits, path, faults)])
    else faults.add(path, 'expected "all", or a list of limits: none is shadowed')
  }
  return Object.fromEntries(fitted)
}

function fitLabels(policy: Policy, labels: readonly unknown[], path: string, faults: Faults): string[] {
  const known = limitLabels(policy)
  for (const label of labels) {
    if (!known.includes(label as string)) faults.add(path, `no limit ${shown(label)}: not in force`)
  }
  return known.filter((label) => labels.includes(label))
}

/**
 * Limits of plans that a document names; a plan's limit that the policy does not have is not in force.
 *
 * @param accepts whether a value is a limit
 */
export function fitPlans(
  policy: Policy,
  stored: unknown,
  faults: Faults,
  accepts: (value: unknown) => boolean = isLimit,
): Settings['plans'] {
  if (stored !== undefined && !isObject(stored))
    faults.add('plans', 'expected an object: the plans of the policy apply')
  const plans = membersOf(stored).filter(([plan]) => wrongPlan(plan) === undefined)
  for (const [plan] of membersOf(stored)) {
    if (wrongPlan(plan) !== undefined) faults.add(`plans.${plain(plan)}`, 'not a name: kept, not in force')
  }
  return Object.fromEntries(
    plans.map(([plan, table]) => [plan, fitPlan(policy, table, `plans.${plan}`, faults, accepts)]),
  )
}

function fitPlan(
  policy: Policy,
  table: unknown,
  at: string,
  faults: Faults,
  accepts: (value: unknown) => boolean,
): PlanTable {
  const isOwn = (layer: string): boolean => policy.layers.some(({ name, shared }) => !shared && name === layer)
  const isCategory = (category: string): boolean => policy.categories.includes(category)
  return fitMembers(table, at, faults, isOwn, (ofLayer, atLayer, layer) =>
    fitMembers(ofLayer, atLayer, faults, isCategory, (ofCategory, atCategory, category) => {
      const isLabel = (label: string): boolean => hasLimit(policy, layer, category, label)
      return fitMembers(ofCategory, atCategory, faults, isLabel, (limit, atLabel): Limit | undefined => {
        if (accepts(limit)) return limit as Limit
        faults.add(atLabel, 'not a limit: what there is without it applies')
        return undefined
      })
    }),
  )
}

/**
 * The members that the policy knows and `take` takes.
 *
 * @param take reports a fault for each value that it does not accept
 */
function fitMembers<T>(
  value: unknown,
  at: string,
  faults: Faults,
  isKnown: (key: string) => boolean,
  take: (value: unknown, at: string, key: string) => T | undefined,
): Record<string, T> {
  if (!isObject(value)) faults.add(at, 'expected an object: not in force')
  const fitted: [string, T][] = []
  for (const [key, each] of membersOf(value)) {
    const path = `${at}.${plain(key)}`
    if (!isKnown(key)) {
      faults.add(path, UNKNOWN)
      continue
    }
    const taken = take(each, path, key)
    if (taken !== undefined) fitted.push([key, taken])
  }
  return Object.fromEntries(fitted)
}

export function fitThresholds(policy: Policy, stored: unknown, faults: Faults): readonly Threshold[] | null {
  if (stored === undefined || stored === null) return null
  if (areThresholds(stored, unitNames(policy))) return stored
  faults.add('thresholds', 'not a list of thresholds: those of the options apply')
  return null
}
