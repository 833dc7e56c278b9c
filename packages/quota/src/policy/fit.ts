import type { Fault } from '../errors/quota-error.ts'
import { plain, shown } from '../errors/shown.ts'
import type { Limit, LimitTable, Policy } from './policy.ts'
import {
  initialSettings,
  initialSubjectSettings,
  MODES,
  type Mode,
  type Settings,
  type SharedLayerSettings,
  type SubjectSettings,
} from './settings.ts'
import { isLimit, isMultiplier, isPrice } from './values.ts'

/** Most faults that are told of one document. */
const MAX_FAULTS = 100

/** A stored document as a policy takes it, and what in it could not be taken. */
export interface Fitted<T> {
  readonly settings: T
  readonly faults: readonly Fault[]
}

/**
 * Lays a stored document over a policy, by names. A document outlives the policy under which it was written, so nothing
 * is taken for granted: what the policy does not know is not in force, and what is missing or faulty follows the policy's
 * own value. Nothing throws, and every limit that comes out is one that can be decided by.
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
  }
  return { settings, faults: faults.list }
}

/** As {@link fitSettings}, for one subject's document: what is missing or faulty follows the default. */
export function fitSubjectSettings(policy: Policy, document: unknown): Fitted<SubjectSettings> {
  const faults = new Faults()
  const { version: _, revision: __, ...own } = initialSubjectSettings(policy)
  if (!isObject(document)) {
    faults.add('', 'expected an object: the defaults apply')
    return { settings: own, faults: faults.list }
  }
  strangers(document, own, '', faults)
  const overrides = member(document, 'overrides')
  const fitted = mapValues(own.overrides, (windows, category) => {
    const stored = member(overrides, category)
    strangers(stored, windows, `overrides.${category}`, faults)
    return mapValues(windows, (_none, label): Limit | null => {
      const value = member(stored, label) ?? null
      if (value === null || isLimit(value)) return value
      faults.add(`overrides.${category}.${label}`, 'not a limit: the default applies')
      return null
    })
  })
  strangers(overrides, own.overrides, 'overrides', faults)
  return {
    settings: { overrides: fitted, bypass: fitBypass(policy, member(document, 'bypass'), faults) },
    faults: faults.list,
  }
}

/**
 * A document to be stored: `next` whole, and whatever the stored one has under names that the policy does not know, so
 * that a process with an older or newer policy finds its values again. So does one that can follow a mode which this one
 * cannot: unless the change names another.
 *
 * @param change what the administrator wrote
 */
export function keepUnknown(policy: Policy, stored: unknown, next: Settings, change: object): object {
  const mode = member(stored, 'mode')
  const isKept = MODES.includes(mode as Mode) && !Object.hasOwn(change, 'mode')
  const { prices, ...rest } = isObject(stored) ? stored : {}
  const unknownPrices = isObject(prices)
    ? Object.fromEntries(Object.entries(prices).filter(([operation]) => !Object.hasOwn(policy.operations, operation)))
    : {}
  const settings = isKept ? { ...next, mode } : next
  return overlay({ ...rest, prices: unknownPrices }, settings) as object
}

/** As {@link keepUnknown}, for one subject's document. */
export function keepUnknownOfSubject(policy: Policy, stored: unknown, next: SubjectSettings): object {
  const bypass = member(stored, 'bypass')
  const unknown = Array.isArray(bypass) ? bypass.filter((name) => !isSharedLayer(policy, name)) : []
  const merged = overlay(stored, next) as object
  return { ...merged, bypass: [...next.bypass, ...unknown] }
}

/** Members that only `below` has, under everything that `above` has. */
function overlay(below: unknown, above: unknown): unknown {
  if (!isObject(below) || !isObject(above)) return above
  const merged = new Map(Object.entries(below))
  for (const [key, value] of Object.entries(above)) merged.set(key, overlay(merged.get(key), value))
  return Object.fromEntries(merged)
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
  const fitted: [string, number][] = []
  for (const operation of Object.keys(policy.operations)) {
    const price = member(prices, operation)
    if (isPrice(price)) fitted.push([operation, price])
    else if (price !== undefined) faults.add(`prices.${operation}`, 'not a price: that of the policy applies')
  }
  return Object.fromEntries(fitted)
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

/** Tells names that the policy does not have. */
function strangers(value: unknown, known: object, path: string, faults: Faults): void {
  if (value !== undefined && !isObject(value)) {
    faults.add(path, 'expected an object: the values of the policy apply')
    return
  }
  for (const key of Object.keys(value ?? {})) {
    const of = path === '' ? '' : `${path}.`
    if (!Object.hasOwn(known, key)) faults.add(of + plain(key), 'not in the policy: kept, not in force')
  }
}

function member(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function mapValues<T, U>(record: Readonly<Record<string, T>>, map: (value: T, key: string) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value, key)]))
}

class Faults {
  readonly list: Fault[] = []

  add(path: string, message: string): void {
    if (this.list.length < MAX_FAULTS) this.list.push({ path, message })
  }
}
