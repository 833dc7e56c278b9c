import { plain } from '../errors/shown.ts'
import { isObject, isPlain } from '../options/checks.ts'
import type { OwnAnchor } from '../windows/kinds/calendar.ts'
import { limitsOfLayer } from './cells.ts'
import { fitAnchor } from './limits.ts'
import type { LimitNumber, LimitNumbers, LimitRule, Policy } from './policy.ts'
import { areThresholds, limitNumber, plainCost, wrongCost } from './rules.ts'
import {
  initialSettings,
  initialSubjectSettings,
  MODES,
  type Mode,
  type Settings,
  type SharedLayerSettings,
  type SubjectSettings,
  type Threshold,
} from './settings.ts'
import { Faults, type Fitted, mapValues, member, membersOf, noteUnknownKeys } from './stored.ts'
import { type PlainCost, unitNamed, unitNames } from './units.ts'
import { isInstant, isMultiplier, wrongName } from './values.ts'

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
  if (mode === 'custom' && custom === null) faults.add('custom', 'missing: the limits apply, not scaled')
  const settings: Settings = {
    mode,
    limits: fitNumbers(policy, own.limits, member(document, 'limits'), faults),
    custom: custom === null ? customOf(mode) : fitSome(policy, custom, 'custom', faults),
    shared: fitShared(own, member(document, 'shared'), faults),
    prices: fitPrices(policy, member(document, 'prices'), faults),
    shadow: fitSwitches(policy.limits, member(document, 'shadow'), 'shadow', faults),
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

/** The numbers of mode `custom`, for a document without them. */
function customOf(mode: Mode): LimitNumbers | null {
  return mode === 'custom' ? {} : null
}

/** Returns a stored value by a limit's name, or by its former one. */
function memberOf({ name, formerly }: LimitRule, stored: unknown): unknown {
  const isNew = formerly === undefined || (isObject(stored) && Object.hasOwn(stored, name))
  return member(stored, isNew ? name : formerly)
}

/** The names that a document may have for these limits, former ones included. */
function knownNames(limits: readonly LimitRule[]): object {
  return Object.fromEntries(limits.flatMap(({ name, formerly = name }) => [name, formerly]).map((name) => [name, true]))
}

/** A number for each limit. Where there is none, the policy's applies. */
function fitNumbers(policy: Policy, own: LimitNumbers, stored: unknown, faults: Faults): LimitNumbers {
  noteUnknownKeys(stored, knownNames(policy.limits), 'limits', faults)
  return Object.fromEntries(
    policy.limits.map((rule) => {
      const value = memberOf(rule, stored)
      const number = limitNumber(policy.units, rule, value, true)
      if (number !== undefined) return [rule.name, number]
      const standard = own[rule.name]!
      const what = value === undefined ? 'missing' : 'not a limit'
      faults.add(`limits.${rule.name}`, `${what}: the policy has ${standard}, which applies`)
      return [rule.name, standard]
    }),
  )
}

/** The valid numbers of some limits. */
function fitSome(
  policy: Policy,
  stored: unknown,
  at: string,
  faults: Faults,
  limits: readonly LimitRule[] = policy.limits,
  accepts?: (value: unknown) => boolean,
): LimitNumbers {
  if (!isObject(stored)) faults.add(at, 'expected an object: not in force')
  else noteUnknownKeys(stored, knownNames(limits), at, faults)
  const fitted = limits.flatMap((rule): [string, LimitNumber][] => {
    const value = memberOf(rule, stored)
    if (value === undefined) return []
    if (accepts?.(value)) return [[rule.name, value as LimitNumber]]
    const number = limitNumber(policy.units, rule, value, true)
    if (number !== undefined) return [[rule.name, number]]
    faults.add(`${at}.${rule.name}`, 'not a limit: what there is without it applies')
    return []
  })
  return Object.fromEntries(fitted)
}

function fitShared(own: Settings, layers: unknown, faults: Faults): Settings['shared'] {
  noteUnknownKeys(layers, own.shared, 'shared', faults)
  return mapValues(own.shared, (defaults, name): SharedLayerSettings => {
    const stored = member(layers, name)
    const enabled = member(stored, 'enabled')
    const multiplier = member(stored, 'multiplier')
    if (typeof enabled !== 'boolean') faults.add(`shared.${name}.enabled`, 'missing or not a boolean: on')
    if (!isMultiplier(multiplier)) faults.add(`shared.${name}.multiplier`, 'missing or not a multiplier: 1 applies')
    return {
      enabled: typeof enabled === 'boolean' ? enabled : defaults.enabled,
      multiplier: isMultiplier(multiplier) ? multiplier : defaults.multiplier,
    }
  })
}

function fitPrices(policy: Policy, prices: unknown, faults: Faults): Settings['prices'] {
  noteUnknownKeys(prices, policy.operations, 'prices', faults)
  const fitted: [string, PlainCost][] = []
  for (const operation of Object.keys(policy.operations)) {
    const stored = member(prices, operation)
    if (stored === undefined) continue
    const price = fitPrice(policy.units, stored, `prices.${operation}`, faults)
    if (price !== undefined) fitted.push([operation, price])
  }
  return Object.fromEntries(fitted)
}

/** Fits a price, unit by unit, because a newer process may count more units. */
function fitPrice(units: Policy['units'], stored: unknown, path: string, faults: Faults): PlainCost | undefined {
  const isRight = (price: unknown, at: string): boolean => {
    const isPrice = wrongCost(units, price, { least: 0, asStored: true }) === undefined
    if (!isPrice) faults.add(at, 'not a price: that of the policy applies')
    return isPrice
  }
  if (!isPlain(stored) || membersOf(stored).length === 0) return isRight(stored, path) ? plainCost(stored) : undefined
  const isUnit = (unit: string): boolean => unitNamed(units, unit) !== undefined
  const price = fitMembers(stored, path, faults, isUnit, (amount, at, unit): number | undefined =>
    isRight({ [unit]: amount }, at) ? (amount as number) : undefined,
  )
  return membersOf(price).length === 0 ? undefined : plainCost(price)
}

const UNKNOWN = 'not in the policy: kept, not in force'

/** Fits `true` and `false` by name. Ignores names that the policy doesn't have. */
function fitSwitches(
  known: readonly Pick<LimitRule, 'name' | 'formerly'>[],
  stored: unknown,
  at: string,
  faults: Faults,
): Readonly<Record<string, boolean>> {
  if (stored === undefined) return {}
  const rules = known as readonly LimitRule[]
  noteUnknownKeys(stored, knownNames(rules), at, faults)
  const fitted = rules.flatMap((rule): [string, boolean][] => {
    const value = memberOf(rule, stored)
    if (typeof value === 'boolean') return [[rule.name, value]]
    if (value !== undefined) faults.add(`${at}.${rule.name}`, 'not a boolean: not in force')
    return []
  })
  return Object.fromEntries(fitted)
}

/**
 * Fits plans' numbers. Ignores limits that the policy doesn't have.
 *
 * @param accepts whether a value is kept as it is
 */
export function fitPlans(
  policy: Policy,
  stored: unknown,
  faults: Faults,
  accepts?: (value: unknown) => boolean,
): Settings['plans'] {
  if (stored !== undefined && !isObject(stored))
    faults.add('plans', 'expected an object: the plans of the policy apply')
  const isName = (plan: string): boolean => wrongName(plan, 'a name') === undefined
  const own = policy.limits.filter(({ layer }) => !policy.layers[layer]!.shared)
  for (const [plan] of membersOf(stored)) {
    if (!isName(plan)) faults.add(`plans.${plain(plan)}`, 'not a name: kept, not in force')
  }
  return Object.fromEntries(
    membersOf(stored)
      .filter(([plan]) => isName(plan))
      .map(([plan, numbers]) => [plan, fitSome(policy, numbers, `plans.${plan}`, faults, own, accepts)]),
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
      limits: fitOverrides(policy, layer, member(document, 'limits'), faults),
      bypass: fitSwitches(
        policy.layers.filter(({ shared }) => shared),
        member(document, 'bypass'),
        'bypass',
        faults,
      ),
      plan: fitPlanName(member(document, 'plan'), faults),
      blocked: fitBlocked(member(document, 'blocked'), faults),
      until: fitUntil(own.until, member(document, 'until'), faults),
      anchor: fitOwnAnchor(member(document, 'anchor'), faults),
    },
    faults: faults.list,
  }
}

function fitOverrides(policy: Policy, layer: string, stored: unknown, faults: Faults): SubjectSettings['limits'] {
  const own = limitsOfLayer(policy, layer)
  noteUnknownKeys(stored, knownNames(own), 'limits', faults)
  return Object.fromEntries(
    own.map((rule) => {
      const value = memberOf(rule, stored) ?? null
      const number = value === null ? null : limitNumber(policy.units, rule, value, true)
      if (number === undefined) faults.add(`limits.${rule.name}`, 'not a limit: the default applies')
      return [rule.name, number ?? null]
    }),
  )
}

function fitBlocked(blocked: unknown, faults: Faults): boolean {
  if (blocked === undefined || typeof blocked === 'boolean') return blocked === true
  faults.add('blocked', 'not a boolean: not blocked')
  return false
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
  return { limits: fitInstant('limits'), plan: fitInstant('plan'), blocked: fitInstant('blocked') }
}

function fitOwnAnchor(stored: unknown, faults: Faults): OwnAnchor | null {
  if (stored === undefined || stored === null) return null
  const anchor = fitAnchor(stored)
  if (anchor === undefined) faults.add('anchor', "not an anchor: periods begin at the calendar's beginning")
  return anchor ?? null
}
