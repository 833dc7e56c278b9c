import * as v from 'valibot'
import type { Fault } from '../errors/quota-error.ts'
import { type Check, group, isPlain, listOf, oneOf, tableEach, where } from '../options/checks.ts'
import { expectedKind, expectedText, faultsOf, listed, noSuchName } from '../options/faults.ts'
import { once } from '../options/options-parser.ts'
import { anchorCheck } from '../windows/kinds/calendar.ts'
import { hasLimit, limitLabels, unitOfLabel } from './cells.ts'
import type { Limit, Policy } from './policy.ts'
import { costCheck, plansCheck, tableCheck, thresholdsCheck } from './rules.ts'
import { MODES, type ShadowedLimits } from './settings.ts'
import { unitNames } from './units.ts'
import { aLimit, eachKey, isInstant, isLimit, isMultiplier, MAX_MULTIPLIER, MIN_MULTIPLIER, nameOf } from './values.ts'

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
  const table = tableCheck(policy)
  const layer = group({ enabled: oneOf(true, false), multiplier: where<number>(isMultiplier, A_MULTIPLIER) })
  return group({
    mode: modeSchema(hasFactor),
    base: table,
    custom: v.nullable(table),
    layers: eachKey(sharedNames(policy), () => layer),
    prices: pricesSchema(policy),
    shadow: shadowSchema(policy),
    plans: plansCheck(policy),
    thresholds: v.nullable(thresholdsCheck(unitNames(policy))),
  })
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
  return mode === 'custom' && custom === null ? [{ path: 'custom', message: 'mode "custom" needs this table' }] : []
}

/** Prices by operation. An invalid price and an unknown operation are both faults. */
function pricesSchema(policy: Policy): Check<Readonly<Record<string, unknown>>> {
  const operations = Object.keys(policy.operations)
  const known = new Set(operations)
  const price = costCheck(unitNames(policy), { least: 0 })
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

function shadowSchema(policy: Policy): Check<Readonly<Record<string, ShadowedLimits>>> {
  const layers = policy.layers.map(({ name }) => name)
  const labels = limitLabels(policy)
  const list = listOf(nameOf('a limit', labels), 0, labels.length)
  const all = where<'all'>((value) => value === 'all', `"all", or a list of limits: ${listed(labels)}`)
  const limits = v.lazy<Check<ShadowedLimits>>((value) => (Array.isArray(value) ? list : all))
  return tableEach(
    (layer) => (layers.includes(layer) ? limits : `not a layer: ${noSuchName(layer, layers, 'the policy has')}`),
    'an object of limits by layer',
  )
}

/**
 * Returns all faults of a subject's settings in a layer; none if they can be stored.
 *
 * @param plans the names of all plans
 */
export function subjectSettingsFaults(
  policy: Policy,
  layer: string,
  document: unknown,
  plans: readonly string[],
): Fault[] {
  const shared = sharedNames(policy)
  const override = (label: string): Check<Limit | null> =>
    where<Limit | null>(
      (value) => value === null || isLimit(value),
      `${aLimit(unitOfLabel(policy, label))}, "unlimited", or null to follow the default`,
    )
  const sharedLayer = where<string>(
    (value) => shared.includes(value as string),
    `the name of a shared layer: ${listed(shared)}`,
  )
  const until = v.nullable(where<number>(isInstant, 'epoch milliseconds, or null for no end'))
  const schema = group({
    overrides: eachKey(policy.categories, (category) =>
      eachKey(
        limitLabels(policy).filter((label) => hasLimit(policy, layer, category, label)),
        override,
      ),
    ),
    bypass: listOf(sharedLayer, 0, policy.layers.length),
    plan: v.nullable(nameOf('a plan', plans, 'there are')),
    until: group({ overrides: until, plan: until }),
    anchor: v.nullable(anchorCheck()),
  })
  return faultsOf(schema, document, { limits: 'use `overrides`, by category and window' })
}

function sharedNames(policy: Policy): readonly string[] {
  return policy.layers.filter((layer) => layer.shared).map((layer) => layer.name)
}
