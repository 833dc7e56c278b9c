import * as v from 'valibot'
import type { Fault } from '../errors/quota-error.ts'
import { type Check, group, isPlain, oneOf, tableEach, where } from '../options/checks.ts'
import { expectedKind, expectedText, faultsOf, noSuchName } from '../options/faults.ts'
import { once } from '../options/options-parser.ts'
import { REQUESTS } from '../windows/identity.ts'
import { anchorCheck } from '../windows/kinds/calendar.ts'
import { counts, limitNamed, limitNames, limitsOfLayer, placedLimits } from './cells.ts'
import { ADAPTIVE_HUNDREDTHS, effectiveQuotas, type LimitInputs, planLimit, planNames } from './limits.ts'
import type { LimitRule, Policy } from './policy.ts'
import { costCheck, numberCheck, plansCheck, someNumbersCheck, thresholdsCheck } from './rules.ts'
import { initialSettings, MODES, type Settings } from './settings.ts'
import { unitNames, vectorOf } from './units.ts'
import { eachKey, isInstant, isMultiplier, MAX_MULTIPLIER, MIN_MULTIPLIER, nameOf, ownOf } from './values.ts'

const A_MULTIPLIER = `a number from ${MIN_MULTIPLIER} to ${MAX_MULTIPLIER} with at most two decimals`

/**
 * Returns all faults of a settings document; none if it can be stored.
 *
 * @param hasFactor whether mode `adaptive` has a factor
 */
export function settingsCheck(policy: Policy, hasFactor: boolean): (document: unknown) => Fault[] {
  const schema = once(() => settingsSchema(policy, hasFactor))
  return (document) => [...faultsOf(schema(), document), ...customFaults(document)]
}

function settingsSchema(policy: Policy, hasFactor: boolean): Check<unknown> {
  const numbers = someNumbersCheck(policy, { asStored: true })
  const layer = group({ enabled: oneOf(true, false), multiplier: where<number>(isMultiplier, A_MULTIPLIER) })
  return group({
    mode: modeSchema(hasFactor),
    limits: eachKey(limitNames(policy), (name) => numberCheck(policy, limitNamed(policy, name)!, { asStored: true })),
    custom: v.nullable(numbers),
    shared: eachKey(sharedNames(policy), () => layer),
    prices: pricesSchema(policy),
    shadow: switches('a limit', limitNames(policy)),
    plans: plansCheck(policy, { asStored: true }),
    thresholds: v.nullable(thresholdsCheck(unitNames(policy))),
  })
}

/** Checks an object with `true` or `false` by name. */
function switches(what: string, names: readonly string[]): Check<Readonly<Record<string, boolean>>> {
  const isOn = oneOf(true, false)
  return tableEach(
    (name) => (names.includes(name) ? isOn : `not ${what}: ${noSuchName(name, names, 'the policy has')}`),
    'an object of true or false by name',
  )
}

function modeSchema(hasFactor: boolean): Check<string> {
  const available = (mode: unknown): boolean => hasFactor || mode !== 'adaptive'
  return v.custom<string>(
    (mode) => (MODES as readonly unknown[]).includes(mode) && available(mode),
    ({ input }) =>
      available(input)
        ? expectedText(`one of ${MODES.join(', ')}`, input)
        : 'not available: this engine has no adaptive factor',
  )
}

/** Not part of the schema, so that faults between members are reported together with others. */
function customFaults(document: unknown): Fault[] {
  const { mode, custom } = (document ?? {}) as { mode?: unknown; custom?: unknown }
  return mode === 'custom' && custom === null ? [{ path: 'custom', message: 'mode "custom" needs these numbers' }] : []
}

/** Prices by operation. An invalid price and an unknown operation are both faults. */
function pricesSchema(policy: Policy): Check<Readonly<Record<string, unknown>>> {
  const operations = Object.keys(policy.operations)
  const known = new Set(operations)
  const price = costCheck(policy.units, { least: 0, asStored: true })
  const table = v.custom<Readonly<Record<string, unknown>>>(isPlain, expectedKind('an object of prices by operation'))
  const prices = v.rawCheck<Readonly<Record<string, unknown>>>(({ dataset, addIssue }) => {
    if (!dataset.typed) return
    for (const [operation, cost] of Object.entries(dataset.value)) {
      const faults = [
        ...(known.has(operation) ? [] : [`not an operation: ${noSuchName(operation, operations, 'the policy has')}`]),
        ...faultsOf(price, cost).map((fault) =>
          fault.path === '' ? fault.message : `${fault.path}: ${fault.message}`,
        ),
      ]
      const path = { type: 'object', origin: 'value', input: dataset.value, key: operation, value: cost } as const
      for (const message of faults) addIssue({ message, path: [path] })
    }
  })
  return v.pipe(table, prices)
}

/**
 * Returns all faults of a subject's settings in a layer; none if they can be stored.
 *
 * @param plans the names of all plans
 */
export function subjectSettingsFaults(
  policy: Policy,
  { layer, plans }: { readonly layer: string; readonly plans: readonly string[] },
  document: unknown,
): Fault[] {
  const shared = sharedNames(policy)
  const own = limitsOfLayer(policy, layer)
  const override = (rule: LimitRule): Check<unknown> => numberCheck(policy, rule, { asStored: true, orNull: true })
  const until = v.nullable(where<number>(isInstant, 'epoch milliseconds, or null for no end'))
  const schema = group({
    limits: group(Object.fromEntries(own.map((rule) => [rule.name, override(rule)]))),
    bypass: switches('a shared layer', shared),
    plan: v.nullable(nameOf('a plan', plans, 'there are')),
    blocked: oneOf(true, false),
    until: group({ limits: until, plan: until, blocked: until }),
    anchor: v.nullable(anchorCheck()),
  })
  return faultsOf(schema, document)
}

function sharedNames(policy: Policy): readonly string[] {
  return policy.layers.filter((layer) => layer.shared).map((layer) => layer.name)
}

/** Returns an operation's price under the settings, one number per unit. The default is the policy's price. */
export function priceOf(policy: Policy, settings: Settings, operation: string): readonly number[] {
  const units = unitNames(policy)
  const standard = units.map((unit) => Number(unit === REQUESTS))
  const own = vectorOf(units, policy.operations[operation]!.cost ?? {}, standard)
  return vectorOf(units, ownOf(settings.prices, operation) ?? {}, own)
}

/**
 * Warns of operations that valid settings make impossible: a limit is below the price, or no slot is available. There
 * is one entry per limit, which names the operations. `path` points into the mode's table or a plan. Mode `adaptive` is
 * checked at its lowest factor. Shadowed limits make nothing impossible.
 *
 * @param least limits below this are ignored
 */
export function settingsWarnings(policy: Policy, settings: Settings, least: 0 | 1 = 0): Fault[] {
  const amounts = settings.mode === 'custom' ? 'custom' : 'limits'
  const inputs = { policy, settings, factorHundredths: ADAPTIVE_HUNDREDTHS.min }
  return [
    ...warningsOf(inputs, undefined, least).map(({ path, message }) => ({ path: `${amounts}.${path}`, message })),
    ...planNames(policy, settings).flatMap((plan) =>
      warningsOf(inputs, plan, least).map(({ path, message }) => ({ path: `plans.${plan}.${path}`, message })),
    ),
  ]
}

/** Warns about a policy's own limits. A limit of 0 blocks on purpose, so it is no cause for a warning. */
export function policyWarnings(policy: Policy): Fault[] {
  return settingsWarnings(policy, initialSettings(policy), 1)
}

/** @param plan whose limits to check; `undefined`: those of subjects without a plan */
function warningsOf(inputs: LimitInputs, plan: string | undefined, least: 0 | 1): Fault[] {
  const { policy, settings } = inputs
  const { limits } = effectiveQuotas(inputs, { plan })
  return placedLimits(policy).shown.flatMap(({ rule, at }) => {
    const isLookedAt = plan === undefined || planLimit({ policy, settings }, plan, rule.name) !== undefined
    const limit = limits[at]!
    const message = isLookedAt && limit >= least ? warning(inputs, rule, limit) : undefined
    return message === undefined ? [] : [{ path: rule.name, message }]
  })
}

function warning({ policy, settings }: LimitInputs, rule: LimitRule, limit: number): string | undefined {
  const operations = Object.keys(policy.operations).filter((name) => counts(rule, name))
  if (rule.window === undefined) {
    return limit === 0 && operations.length > 0 ? `a limit of 0 never admits ${operations.join(', ')}` : undefined
  }
  const unit = unitNames(policy).indexOf(rule.unit)
  const tooDear = operations.filter((name) => priceOf(policy, settings, name)[unit]! > limit)
  const where = settings.mode === 'adaptive' ? ` at factor ${ADAPTIVE_HUNDREDTHS.min / 100}` : ''
  const what = rule.window.burst === undefined ? 'limit' : 'burst'
  return tooDear.length === 0
    ? undefined
    : `the effective ${what} of ${limit} ${rule.unit}${where} is below the price of ${tooDear.join(', ')}`
}
