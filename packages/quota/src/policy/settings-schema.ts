import * as v from 'valibot'
import type { Fault } from '../errors/quota-error.ts'
import { type Check, group, isPlain, oneOf, tableEach, where } from '../options/checks.ts'
import { expectedKind, expectedText, faultsOf, noSuchName } from '../options/faults.ts'
import { once } from '../options/options-parser.ts'
import { anchorCheck } from '../windows/kinds/calendar.ts'
import { limitNamed, limitNames, limitsOfLayer } from './cells.ts'
import type { LimitRule, Policy } from './policy.ts'
import { costCheck, numberCheck, plansCheck, someNumbersCheck, thresholdsCheck } from './rules.ts'
import { MODES } from './settings.ts'
import { unitNames } from './units.ts'
import { eachKey, isInstant, isMultiplier, MAX_MULTIPLIER, MIN_MULTIPLIER, nameOf } from './values.ts'

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
