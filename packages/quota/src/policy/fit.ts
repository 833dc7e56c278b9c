import { plain } from '../errors/shown.ts'
import { isObject, isPlain } from '../options/checks.ts'

import { limitsOfLayer, ownLimits } from './cells.ts'
import { fitAnchor } from './limits.ts'
import type { LimitNumber, LimitNumbers, LimitRule, Policy } from './policy.ts'
import { areThresholds, limitNumber, plainCost, withBurst, wrongCost } from './rules.ts'
import {
  initialSettings,
  initialSubjectSettings,
  MODES,
  type Mode,
  type Settings,
  type SharedLayerSettings,
  type SubjectSettings,
} from './settings.ts'
import { Faults, type Fitted, mapValues, member, membersOf, noteUnknownKeys } from './stored.ts'
import { type PlainCost, unitNames } from './units.ts'
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
  const stored = (name: keyof Settings): unknown => member(document, name)
  const mode = fitMode(stored('mode'), hasFactor, faults)
  const custom = stored('custom') ?? null
  if (mode === 'custom' && custom === null) faults.add('custom', 'missing: the limits apply, not scaled')
  const numbers = (of: unknown, at: string, rules = policy.limits): LimitNumbers =>
    fitTable(rules, of, at, faults, numberIn(policy), wrongNumber('what there is without it applies'))
  const settings: Settings = {
    mode,
    limits: fitNumbers(policy, own.limits, stored('limits'), faults),
    custom: custom === null && mode !== 'custom' ? null : numbers(custom ?? {}, 'custom'),
    shared: fitShared(own, stored('shared'), faults),
    prices: fitPrices(policy, stored('prices'), faults),
    shadow: fitSwitches(policy.limits, stored('shadow'), 'shadow', faults),
    plans: fitPlans(stored('plans'), faults, (of, at) => numbers(of, at, ownLimits(policy))),
    thresholds: orNull(
      stored('thresholds'),
      'thresholds',
      faults,
      'not a list of thresholds: those of the options apply',
      (of) => (areThresholds(of, unitNames(policy)) ? of : undefined),
    ),
  }
  return { settings, faults: faults.list }
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
  const stored = (name: keyof SubjectSettings): unknown => member(document, name)
  const number = numberIn(policy)
  const rules = limitsOfLayer(policy, layer)
  const orDefault = (value: unknown, rule: LimitRule): LimitNumber | null | undefined =>
    value === null ? null : number(value, rule)
  const shared = policy.layers.filter((each) => each.shared)
  const blocked = stored('blocked') ?? false
  if (typeof blocked !== 'boolean') faults.add('blocked', 'not a boolean: not blocked')
  const settings: SubjectSettings = {
    limits: {
      ...own.limits,
      ...fitTable(rules, stored('limits'), 'limits', faults, orDefault, wrongNumber('the default applies')),
    },
    bypass: fitSwitches(shared, stored('bypass'), 'bypass', faults),
    plan: orNull(stored('plan'), 'plan', faults, 'not a name: none', (plan) =>
      typeof plan === 'string' ? plan : undefined,
    ),
    blocked: blocked === true,
    until: fitUntil(own.until, stored('until'), faults),
    anchor: orNull(
      stored('anchor'),
      'anchor',
      faults,
      "not an anchor: periods begin at the calendar's beginning",
      (anchor) => fitAnchor(anchor),
    ),
  }
  return { settings, faults: faults.list }
}

/** A name that the policy has, and the one that it had. */
type Named = Pick<LimitRule, 'name' | 'formerly'>

/** Returns a stored value by a limit's name, or by its former one. */
function memberOf({ name, formerly }: Named, stored: unknown): unknown {
  const isNew = formerly === undefined || (isObject(stored) && Object.hasOwn(stored, name))
  return member(stored, isNew ? name : formerly)
}

/**
 * Adds the stored numbers with a burst of limits that are no buckets in this policy. Processes with another policy use
 * them, so every change keeps them, except one that names their limits.
 *
 * @param named the numbers in the change; `null` removes all
 */
export function withForeignBursts<T extends object>(
  rules: readonly LimitRule[],
  stored: unknown,
  next: T,
  named: unknown,
): T {
  if (named === null) return next
  const foreign = rules.flatMap((rule): [string, unknown][] => {
    const value = memberOf(rule, stored)
    const isForeign = rule.window?.burst === undefined && withBurst(value) !== undefined
    return isForeign && member(named, rule.name) === undefined ? [[rule.name, value]] : []
  })
  return { ...next, ...Object.fromEntries(foreign) }
}

/** The names that a document may have, former ones included. */
function knownNames(known: readonly Named[]): object {
  return Object.fromEntries(known.flatMap(({ name, formerly = name }) => [name, formerly]).map((name) => [name, true]))
}

/**
 * Returns the members of a stored object that the policy knows and `read` accepts. Reports the others.
 *
 * @param wrong what is wrong with a value, and what applies instead
 */
function fitTable<N extends Named, T>(
  known: readonly N[],
  stored: unknown,
  at: string,
  faults: Faults,
  read: (value: unknown, of: N) => T | undefined,
  wrong: string | ((value: unknown) => string),
): Readonly<Record<string, T>> {
  noteUnknownKeys(stored, knownNames(known), at, faults)
  const fitted = known.flatMap((of): [string, T][] => {
    const value = memberOf(of, stored)
    if (value === undefined) return []
    const right = read(value, of)
    if (right !== undefined) return [[of.name, right]]
    faults.add(`${at}.${of.name}`, typeof wrong === 'string' ? wrong : wrong(value))
    return []
  })
  return Object.fromEntries(fitted)
}

/** Returns a stored value that may be missing. */
function orNull<T>(
  stored: unknown,
  at: string,
  faults: Faults,
  wrong: string,
  read: (stored: unknown) => T | undefined,
): T | null {
  if (stored === undefined || stored === null) return null
  const right = read(stored)
  if (right === undefined) faults.add(at, wrong)
  return right ?? null
}

function numberIn({ units }: Policy): (value: unknown, rule: LimitRule) => LimitNumber | undefined {
  return (value, rule) => limitNumber(units, rule, value, true)
}

/** What is wrong with a number. One with a burst is kept for processes whose limit is a bucket. */
function wrongNumber(instead: string): (value: unknown) => string {
  return (value) =>
    withBurst(value) === undefined
      ? `not a limit: ${instead}`
      : `has a burst, and this limit is no token bucket: kept; ${instead}`
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

/** A number for each limit. Where there is none, the policy's applies. */
function fitNumbers(policy: Policy, own: LimitNumbers, stored: unknown, faults: Faults): LimitNumbers {
  const wrong = wrongNumber('that of the policy applies')
  const fitted = fitTable(policy.limits, stored, 'limits', faults, numberIn(policy), wrong)
  for (const rule of policy.limits) {
    if (memberOf(rule, stored) === undefined) faults.add(`limits.${rule.name}`, 'missing: that of the policy applies')
  }
  return { ...own, ...fitted }
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

/** Fits prices, unit by unit, because a newer process may count more units. */
function fitPrices(policy: Policy, stored: unknown, faults: Faults): Settings['prices'] {
  const wrong = 'not a price: that of the policy applies'
  const isRight = (price: unknown): boolean =>
    wrongCost(policy.units, price, { least: 0, asStored: true }) === undefined
  const units = unitNames(policy).map((name) => ({ name }))
  const price = (value: unknown, { name: operation }: Named): PlainCost | undefined => {
    if (!isPlain(value) || membersOf(value).length === 0) return isRight(value) ? plainCost(value) : undefined
    const amount = (of: unknown, { name }: Named): unknown => (isRight({ [name]: of }) ? of : undefined)
    return plainCost(fitTable(units, value, `prices.${operation}`, faults, amount, wrong))
  }
  const operations = Object.keys(policy.operations).map((name) => ({ name }))
  const prices = fitTable(operations, stored, 'prices', faults, price, wrong)
  return Object.fromEntries(Object.entries(prices).filter(([, each]) => !isObject(each) || membersOf(each).length > 0))
}

/** Fits `true` and `false` by name. */
function fitSwitches(
  known: readonly Named[],
  stored: unknown,
  at: string,
  faults: Faults,
): Readonly<Record<string, boolean>> {
  const isOn = (value: unknown): boolean | undefined => (typeof value === 'boolean' ? value : undefined)
  return fitTable(known, stored, at, faults, isOn, 'not a boolean: not in force')
}

function fitPlans(
  stored: unknown,
  faults: Faults,
  numbers: (of: unknown, at: string) => LimitNumbers,
): Settings['plans'] {
  if (stored !== undefined && !isObject(stored))
    faults.add('plans', 'expected an object: the plans of the policy apply')
  const named = membersOf(stored).filter(([plan]) => {
    const isName = wrongName(plan, 'a name') === undefined
    if (!isName) faults.add(`plans.${plain(plan)}`, 'not a name: kept, not in force')
    return isName
  })
  return Object.fromEntries(named.map(([plan, of]) => [plan, numbers(of, `plans.${plan}`)]))
}

function fitUntil(own: SubjectSettings['until'], stored: unknown, faults: Faults): SubjectSettings['until'] {
  noteUnknownKeys(stored, own, 'until', faults)
  const wrong = 'not an instant: without an end'
  const instant = (part: keyof typeof own): number | null =>
    orNull(member(stored, part), `until.${part}`, faults, wrong, (end) => (isInstant(end) ? end : undefined))
  return { limits: instant('limits'), plan: instant('plan'), blocked: instant('blocked') }
}
