import { plain, shown } from '../errors/shown.ts'
import { isObject, isPlain } from '../options/checks.ts'
import type { OwnAnchor } from '../windows/kinds/calendar.ts'
import { hasLimit, limitLabels } from './cells.ts'
import { fitAnchor } from './limits.ts'
import type { Limit, LimitTable, PlanTable, Policy } from './policy.ts'
import { areThresholds, wrongCost } from './rules.ts'
import {
  initialSettings,
  initialSubjectSettings,
  MODES,
  type Mode,
  type Settings,
  type ShadowedLimits,
  type SharedLayerSettings,
  type SubjectSettings,
  type Threshold,
} from './settings.ts'
import { Faults, type Fitted, mapValues, member, membersOf, noteUnknownKeys } from './stored.ts'
import { type Cost, unitNames } from './units.ts'
import { isInstant, isLimit, isMultiplier, wrongPlan } from './values.ts'

/**
 * Applies a stored document to a policy, by names. The document may be older or newer than the policy. Members that the
 * policy doesn't know have no effect. Missing or invalid ones get the policy's value. Nothing throws, and all limits in
 * the result are valid.
 *
 * @param hasFactor whether mode `adaptive` has a factor; without it, the mode is `normal`
 */
export function fitSettings(policy: Policy, hasFactor: boolean, document: unknown): Fitted<Settings> {
  const faults = new Faults()
  const own = initialSettings(policy)
  if (!isObject(document)) {
    faults.add('', 'expected an object: the settings of the policy apply')
    return { settings: own, faults: faults.list }
  }
  noteUnknownKeys(document, own, '', faults)
  const mode = fitMode(member(document, 'mode'), hasFactor, faults)
  const custom = member(document, 'custom') ?? null
  if (mode === 'custom' && custom === null) faults.add('custom', 'missing: the base limits of the policy apply')
  const settings: Settings = {
    mode,
    base: fitTable(policy, member(document, 'base'), 'base', faults),
    custom: custom === null ? customOf(mode, policy) : fitTable(policy, custom, 'custom', faults),
    layers: fitLayers(own, member(document, 'layers'), faults),
    prices: fitPrices(policy, member(document, 'prices'), faults),
    shadow: fitShadow(policy, member(document, 'shadow'), faults),
    plans: fitPlans(policy, member(document, 'plans'), faults),
    thresholds: fitThresholds(policy, member(document, 'thresholds'), faults),
  }
  return { settings, faults: faults.list }
}

function fitMode(mode: unknown, hasFactor: boolean, faults: Faults): Mode {
  if (!MODES.includes(mode as Mode)) {
    faults.add('mode', `expected one of ${MODES.join(', ')}: normal applies`)
    return 'normal'
  }
  if (mode === 'adaptive' && !hasFactor) {
    faults.add('mode', 'this engine has no adaptive factor: normal applies')
    return 'normal'
  }
  return mode as Mode
}

/** The custom table, for a document without one. */
function customOf(mode: Mode, policy: Policy): LimitTable | null {
  return mode === 'custom' ? policy.base : null
}

/** A table of limits. Where it has no limit for a window, the policy's base applies. */
function fitTable(policy: Policy, table: unknown, path: string, faults: Faults): LimitTable {
  noteUnknownKeys(table, policy.base, path, faults)
  return mapValues(policy.base, (categories, layer) => {
    const ofLayer = member(table, layer)
    noteUnknownKeys(ofLayer, categories, `${path}.${layer}`, faults)
    return mapValues(categories, (windows, category) => {
      const ofCategory = member(ofLayer, category)
      noteUnknownKeys(ofCategory, windows, `${path}.${layer}.${category}`, faults)
      return mapValues(windows, (own, label): Limit => {
        const value = member(ofCategory, label)
        if (isLimit(value)) return value
        const what = value === undefined ? 'missing' : 'not a limit'
        faults.add(`${path}.${layer}.${category}.${label}`, `${what}: the policy has ${own}, which applies`)
        return own
      })
    })
  })
}

function fitLayers(own: Settings, layers: unknown, faults: Faults): Settings['layers'] {
  noteUnknownKeys(layers, own.layers, 'layers', faults)
  return mapValues(own.layers, (defaults, name): SharedLayerSettings => {
    const stored = member(layers, name)
    const enabled = member(stored, 'enabled')
    const multiplier = member(stored, 'multiplier')
    if (typeof enabled !== 'boolean') faults.add(`layers.${name}.enabled`, 'missing or not a boolean: on')
    if (!isMultiplier(multiplier)) faults.add(`layers.${name}.multiplier`, 'missing or not a multiplier: 1 applies')
    return {
      enabled: typeof enabled === 'boolean' ? enabled : defaults.enabled,
      multiplier: isMultiplier(multiplier) ? multiplier : defaults.multiplier,
    }
  })
}

function fitPrices(policy: Policy, prices: unknown, faults: Faults): Settings['prices'] {
  noteUnknownKeys(prices, policy.operations, 'prices', faults)
  const fitted: [string, Cost][] = []
  for (const operation of Object.keys(policy.operations)) {
    const stored = member(prices, operation)
    if (stored === undefined) continue
    const price = fitPrice(unitNames(policy), stored, `prices.${operation}`, faults)
    if (price !== undefined) fitted.push([operation, price])
  }
  return Object.fromEntries(fitted)
}

/** Fits a price, unit by unit, because a newer process may count more units. */
function fitPrice(units: readonly string[], stored: unknown, path: string, faults: Faults): Cost | undefined {
  const isRight = (price: unknown, at: string): boolean => {
    const isPrice = wrongCost(units, price, { least: 0 }) === undefined
    if (!isPrice) faults.add(at, 'not a price: that of the policy applies')
    return isPrice
  }
  if (!isPlain(stored) || membersOf(stored).length === 0) return isRight(stored, path) ? (stored as Cost) : undefined
  const isUnit = (unit: string): boolean => units.includes(unit)
  const price = fitMembers(stored, path, faults, isUnit, (amount, at, unit): number | undefined =>
    isRight({ [unit]: amount }, at) ? (amount as number) : undefined,
  )
  return membersOf(price).length === 0 ? undefined : price
}

const UNKNOWN = 'not in the policy: kept, not in force'

/** Fits shadowed limits. Ignores limits that the policy doesn't have. */
function fitShadow(policy: Policy, stored: unknown, faults: Faults): Settings['shadow'] {
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
 * Fits plans' limits. Ignores limits that the policy doesn't have.
 *
 * @param accepts whether a value is a valid limit
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
 * Returns the members that the policy knows and `take` accepts.
 *
 * @param take reports a fault for each value that it rejects
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

function fitThresholds(policy: Policy, stored: unknown, faults: Faults): readonly Threshold[] | null {
  if (stored === undefined || stored === null) return null
  if (areThresholds(stored, unitNames(policy))) return stored
  faults.add('thresholds', 'not a list of thresholds: those of the options apply')
  return null
}

/**
 * Like `fitSettings`, for a subject's document. Missing or invalid members get the default. An unknown plan is
 * accepted, because later settings may define it.
 *
 * @param layer of the settings
 */
export function fitSubjectSettings(policy: Policy, layer: string, document: unknown): Fitted<SubjectSettings> {
  const faults = new Faults()
  const { version: _, revision: __, ...own } = initialSubjectSettings(policy, layer)
  if (!isObject(document)) {
    faults.add('', 'expected an object: the defaults apply')
    return { settings: own, faults: faults.list }
  }
  noteUnknownKeys(document, own, '', faults)
  return {
    settings: {
      overrides: fitOverrides(own.overrides, member(document, 'overrides'), faults),
      bypass: fitBypass(policy, member(document, 'bypass'), faults),
      plan: fitPlanName(member(document, 'plan'), faults),
      until: fitUntil(own.until, member(document, 'until'), faults),
      anchor: fitOwnAnchor(member(document, 'anchor'), faults),
    },
    faults: faults.list,
  }
}

function fitOverrides(
  own: SubjectSettings['overrides'],
  stored: unknown,
  faults: Faults,
): SubjectSettings['overrides'] {
  const fitted = mapValues(own, (limits, category) => {
    const ofCategory = member(stored, category)
    noteUnknownKeys(ofCategory, limits, `overrides.${category}`, faults)
    return mapValues(limits, (_none, label): Limit | null => {
      const value = member(ofCategory, label) ?? null
      if (value === null || isLimit(value)) return value
      faults.add(`overrides.${category}.${label}`, 'not a limit: the default applies')
      return null
    })
  })
  noteUnknownKeys(stored, own, 'overrides', faults)
  return fitted
}

function fitPlanName(plan: unknown, faults: Faults): string | null {
  if (plan === undefined || plan === null) return null
  if (typeof plan === 'string') return plan
  faults.add('plan', 'not a name: none')
  return null
}

function fitUntil(own: SubjectSettings['until'], stored: unknown, faults: Faults): SubjectSettings['until'] {
  noteUnknownKeys(stored, own, 'until', faults)
  const fitInstant = (part: keyof SubjectSettings['until']): number | null => {
    const value = member(stored, part) ?? null
    if (value === null || isInstant(value)) return value
    faults.add(`until.${part}`, 'not an instant: without an end')
    return null
  }
  return { overrides: fitInstant('overrides'), plan: fitInstant('plan') }
}

function fitOwnAnchor(stored: unknown, faults: Faults): OwnAnchor | null {
  if (stored === undefined || stored === null) return null
  const anchor = fitAnchor(stored)
  if (anchor === undefined) faults.add('anchor', "not an anchor: periods begin at the calendar's beginning")
  return anchor ?? null
}

function fitBypass(policy: Policy, bypass: unknown, faults: Faults): string[] {
  if (bypass === undefined) return []
  if (!Array.isArray(bypass)) {
    faults.add('bypass', 'expected a list of shared layers: none is bypassed')
    return []
  }
  const unknown = bypass.filter((name) => !isSharedLayer(policy, name))
  for (const name of unknown) faults.add('bypass', `no shared layer ${shown(name)}: not in force`)
  return [...new Set(bypass.filter((name) => isSharedLayer(policy, name)))] as string[]
}

function isSharedLayer(policy: Policy, name: unknown): boolean {
  return policy.layers.some((layer) => layer.shared && layer.name === name)
}
