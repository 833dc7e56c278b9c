import { isObject } from '../options/objects.ts'
import { wrongCost } from './cost-rules.ts'
import { fitPlans, fitShadow, fitThresholds } from './fit-plans.ts'
import type { Limit, LimitTable, Policy } from './policy.ts'
import { initialSettings, MODES, type Mode, type Settings, type SharedLayerSettings } from './settings.ts'
import { Faults, type Fitted, mapValues, member, strangers } from './stored.ts'
import { type Cost, unitNames } from './units.ts'
import { isLimit, isMultiplier } from './values.ts'

/**
 * Lays a stored document over a policy, by names. A document outlives the policy under which it was written, so nothing
 * is taken for granted: members that the policy does not know are not in force, and missing or faulty ones follow the
 * policy's own value. Nothing throws, and every limit that comes out is one that can be decided by.
 *
 * @param hasFactor whether there is a factor for mode `adaptive`; without, the mode is `normal`
 */
export function fitSettings(policy: Policy, hasFactor: boolean, document: unknown): Fitted<Settings> {
  const faults = new Faults()
  const own = initialSettings(policy)
  if (!isObject(document)) {
    faults.add('', 'expected an object: the settings of the policy apply')
    return { settings: own, faults: faults.list }
  }
  strangers(document, own, '', faults)
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

/** The table of a document that has none. */
function customOf(mode: Mode, policy: Policy): LimitTable | null {
  return mode === 'custom' ? policy.base : null
}

/** A table of limits; where it has none for a window, the policy's base applies. */
function fitTable(policy: Policy, table: unknown, path: string, faults: Faults): LimitTable {
  strangers(table, policy.base, path, faults)
  return mapValues(policy.base, (categories, layer) => {
    const ofLayer = member(table, layer)
    strangers(ofLayer, categories, `${path}.${layer}`, faults)
    return mapValues(categories, (windows, category) => {
      const ofCategory = member(ofLayer, category)
      strangers(ofCategory, windows, `${path}.${layer}.${category}`, faults)
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
  strangers(layers, own.layers, 'layers', faults)
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
  strangers(prices, policy.operations, 'prices', faults)
  const units = unitNames(policy)
  const fitted: [string, Cost][] = []
  for (const operation of Object.keys(policy.operations)) {
    const price = member(prices, operation)
    if (price === undefined) continue
    const fault = wrongCost(units, price, { least: 0 })
    const path = `prices.${operation}${fault?.unit === undefined ? '' : `.${fault.unit}`}`
    if (fault === undefined) fitted.push([operation, price as Cost])
    else faults.add(path, 'not a price: that of the policy applies')
  }
  return Object.fromEntries(fitted)
}
