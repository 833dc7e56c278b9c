import { plain } from '../errors/shown.ts'
import { isObject, isPlain } from '../options/checks.ts'
import { limitsOfLayer, ownLimits } from './cells.ts'
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
} from './settings.ts'
import { type PlainCost, unitNames } from './units.ts'
import { type Fitted, isInstant, isMultiplier, mapValues, member, membersOf, Part, wrongName } from './values.ts'

/**
 * Applies a stored document to a policy, by names. The document may be older or newer than the policy. Members that the
 * policy doesn't know have no effect. Missing or invalid ones get the policy's value. Nothing throws, and all limits in
 * the result are valid.
 *
 * @param hasFactor whether mode `adaptive` has a factor; without it, the mode is `normal`
 */
export function fitSettings(policy: Policy, hasFactor: boolean, document: unknown): Fitted<Settings> {
  const stored = new Part(document)
  const { faults } = stored
  const own = initialSettings(policy)
  if (!isObject(document)) {
    stored.wrong('expected an object: the settings of the policy apply')
    return { settings: own, faults }
  }
  stored.noteUnknown(Object.keys(own))
  const mode = fitMode(stored.of('mode'), hasFactor)
  const custom = member(document, 'custom') ?? null
  if (mode === 'custom' && custom === null) stored.of('custom').wrong('missing: the limits apply, not scaled')
  const numbers = (of: Part, rules = policy.limits): LimitNumbers =>
    fitTable(of, rules, numberIn(policy), 'not a limit: the number without it applies')
  const settings: Settings = {
    mode,
    limits: fitNumbers(policy, own.limits, stored.of('limits')),
    custom: custom === null && mode !== 'custom' ? null : numbers(stored.at('custom', custom ?? {})),
    shared: fitShared(own, stored.of('shared')),
    prices: fitPrices(policy, stored.of('prices')),
    shadow: fitSwitches(stored.of('shadow'), policy.limits),
    plans: fitPlans(stored.of('plans'), (of) => numbers(of, ownLimits(policy))),
    thresholds: stored
      .of('thresholds')
      .orNull(
        (of) => (areThresholds(of, unitNames(policy)) ? of : undefined),
        'not a list of thresholds: those of the options apply',
      ),
  }
  return { settings, faults }
}

/**
 * Like `fitSettings`, for a subject's document. Missing or invalid members get the default. An unknown plan is
 * accepted, because later settings may define it.
 *
 * @param layer of the settings
 */
export function fitSubjectSettings(policy: Policy, layer: string, document: unknown): Fitted<SubjectSettings> {
  const stored = new Part(document)
  const { faults } = stored
  const { version: _, revision: __, ...own } = initialSubjectSettings(policy, layer)
  if (!isObject(document)) {
    stored.wrong('expected an object: the defaults apply')
    return { settings: own, faults }
  }
  stored.noteUnknown(Object.keys(own))
  const number = numberIn(policy)
  const orDefault = (value: unknown, rule: LimitRule): LimitNumber | null | undefined =>
    value === null ? null : number(value, rule)
  const wrong = 'not a limit: the default applies'
  const limits = fitTable(stored.of('limits'), limitsOfLayer(policy, layer), orDefault, wrong)
  const shared = policy.layers.filter((each) => each.shared)
  const blocked = member(document, 'blocked') ?? false
  if (typeof blocked !== 'boolean') stored.of('blocked').wrong('not a boolean: not blocked')
  const settings: SubjectSettings = {
    limits: { ...own.limits, ...limits },
    bypass: fitSwitches(stored.of('bypass'), shared),
    plan: stored
      .of('plan')
      .orNull((plan) => (typeof plan === 'string' ? plan : undefined), 'not a name: no plan applies'),
    blocked: blocked === true,
    until: fitUntil(own.until, stored.of('until')),
    anchor: stored
      .of('anchor')
      .orNull((anchor) => fitAnchor(anchor), "not an anchor: periods begin at the calendar's beginning"),
  }
  return { settings, faults }
}

/** A name that the policy has, and the one that it had. */
type Named = Pick<LimitRule, 'name' | 'formerly'>

/** Returns a stored value by a limit's name, or by its former one. */
function memberOf({ name, formerly }: Named, stored: unknown): unknown {
  const isNew = formerly === undefined || (isObject(stored) && Object.hasOwn(stored, name))
  return member(stored, isNew ? name : formerly)
}

/**
 * Returns the members of a stored object that the policy knows and `read` accepts. Reports the others.
 *
 * @param wrong what is wrong with a value, and what applies instead
 */
function fitTable<N extends Named, T>(
  stored: Part,
  known: readonly N[],
  read: (value: unknown, of: N) => T | undefined,
  wrong: string,
): Readonly<Record<string, T>> {
  stored.noteUnknown(known.flatMap(({ name, formerly = name }) => [name, formerly]))
  const fitted = known.flatMap((of): [string, T][] => {
    const value = memberOf(of, stored.value)
    if (value === undefined) return []
    const right = read(value, of)
    if (right !== undefined) return [[of.name, right]]
    stored.of(of.name).wrong(wrong)
    return []
  })
  return Object.fromEntries(fitted)
}

function numberIn({ units }: Policy): (value: unknown, rule: LimitRule) => LimitNumber | undefined {
  return (value, rule) => limitNumber(units, rule, value, true)
}

function fitMode(stored: Part, hasFactor: boolean): Mode {
  const mode = MODES.find((each) => each === stored.value)
  if (mode === undefined) stored.wrong(`expected one of ${MODES.join(', ')}: normal applies`)
  if (mode !== 'adaptive' || hasFactor) return mode ?? 'normal'
  stored.wrong('this engine has no adaptive factor: normal applies')
  return 'normal'
}

/** A number for each limit. Where there is none, the policy's applies. */
function fitNumbers(policy: Policy, own: LimitNumbers, stored: Part): LimitNumbers {
  const instead = 'that of the policy applies'
  const fitted = fitTable(stored, policy.limits, numberIn(policy), `not a limit: ${instead}`)
  for (const rule of policy.limits) {
    if (memberOf(rule, stored.value) === undefined) stored.of(rule.name).wrong(`missing: ${instead}`)
  }
  return { ...own, ...fitted }
}

function fitShared(own: Settings, layers: Part): Settings['shared'] {
  layers.noteUnknown(Object.keys(own.shared))
  return mapValues(own.shared, (defaults, name): SharedLayerSettings => {
    const [enabled, multiplier] = [layers.of(name).of('enabled'), layers.of(name).of('multiplier')]
    if (typeof enabled.value !== 'boolean') enabled.wrong('missing or not a boolean: on')
    if (!isMultiplier(multiplier.value)) multiplier.wrong('missing or not a multiplier: 1 applies')
    return {
      enabled: typeof enabled.value === 'boolean' ? enabled.value : defaults.enabled,
      multiplier: isMultiplier(multiplier.value) ? multiplier.value : defaults.multiplier,
    }
  })
}

/** Fits prices, unit by unit, because a newer process may count more units. */
function fitPrices(policy: Policy, stored: Part): Settings['prices'] {
  const wrong = 'not a price: that of the policy applies'
  const isRight = (price: unknown): boolean =>
    wrongCost(policy.units, price, { least: 0, asStored: true }) === undefined
  const units = unitNames(policy).map((name) => ({ name }))
  const price = (value: unknown, { name: operation }: Named): PlainCost | undefined => {
    if (!isPlain(value) || membersOf(value).length === 0) return isRight(value) ? plainCost(value) : undefined
    const amount = (of: unknown, { name }: Named): unknown => (isRight({ [name]: of }) ? of : undefined)
    return plainCost(fitTable(stored.of(operation), units, amount, wrong))
  }
  const operations = Object.keys(policy.operations).map((name) => ({ name }))
  const prices = fitTable(stored, operations, price, wrong)
  return Object.fromEntries(Object.entries(prices).filter(([, each]) => !isObject(each) || membersOf(each).length > 0))
}

/** Fits `true` and `false` by name. */
function fitSwitches(stored: Part, known: readonly Named[]): Readonly<Record<string, boolean>> {
  const isOn = (value: unknown): boolean | undefined => (typeof value === 'boolean' ? value : undefined)
  return fitTable(stored, known, isOn, 'not a boolean: not in force')
}

function fitPlans(stored: Part, numbers: (of: Part) => LimitNumbers): Settings['plans'] {
  const { value } = stored
  if (value !== undefined && !isObject(value)) stored.wrong('expected an object: the plans of the policy apply')
  const named = membersOf(value).filter(([plan]) => {
    const isName = wrongName(plan, 'a name') === undefined
    if (!isName) stored.at(plain(plan), undefined).wrong('not a name: kept, not in force')
    return isName
  })
  return Object.fromEntries(named.map(([plan]) => [plan, numbers(stored.of(plan))]))
}

function fitUntil(own: SubjectSettings['until'], stored: Part): SubjectSettings['until'] {
  stored.noteUnknown(Object.keys(own))
  const instant = (part: keyof typeof own): number | null =>
    stored.of(part).orNull((end) => (isInstant(end) ? end : undefined), 'not an instant: without an end')
  return { limits: instant('limits'), plan: instant('plan'), blocked: instant('blocked') }
}
