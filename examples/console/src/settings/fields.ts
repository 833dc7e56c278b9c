import type { Settings } from '../api/api.ts'
import { CELLS, type Cell, pathOf } from './axes.ts'
import { OPERATION_NAMES } from './operations.ts'

/**
 * A document as a form has it: texts by the paths by which the API names faults. Texts and not values, so that what is
 * half typed has its place, and so that versions can be held against each other field by field.
 */
export type Fields = Readonly<Record<string, string>>

/** What a text should have been. */
export type FaultCode = 'tokens' | 'price' | 'multiplier' | 'customMissing' | 'override'
export type Faults = Readonly<Record<string, FaultCode>>

/** What a form's texts come to. */
export interface Read<T> {
  /** Absent: there are faults. */
  readonly body: T | undefined
  readonly faults: Faults
}

const MAX_TOKENS = 100_000_000_000

/** Tokens of a text; `undefined` for any other text. */
export function tokensOf(text: string): number | undefined {
  const value = wholeNumber(text)
  return value === undefined || value > MAX_TOKENS ? undefined : value
}

export function multiplierOf(text: string): number | undefined {
  if (!/^\d(?:\.\d{1,2})?$/.test(text.trim())) return undefined
  const value = Number(text)
  return value >= 0.25 && value <= 4 ? value : undefined
}

export function wholeNumber(text: string): number | undefined {
  const value = Number(text.trim())
  return /^\d{1,16}$/.test(text.trim()) && Number.isSafeInteger(value) ? value : undefined
}

export function settingsFields({ mode, base, custom, site, prices }: Settings): Fields {
  const cells = (table: 'base' | 'custom', values: Settings['base'] | null): [string, string][] =>
    CELLS.map((cell) => [pathOf(table, cell), values === null ? '' : String(valueAt(values, cell))])
  return Object.fromEntries([
    ['mode', mode],
    ...cells('base', base),
    ...cells('custom', custom),
    ['site.enabled', String(site.enabled)],
    ['site.multiplier', String(site.multiplier)],
    ...OPERATION_NAMES.map((name) => [`prices.${name}`, prices[name] === undefined ? '' : String(prices[name])]),
  ])
}

/** The document that a form stands for. */
export function readSettings(fields: Fields): Read<Settings> {
  const needsCustom = fields.mode === 'custom' || CELLS.some((cell) => textAt(fields, pathOf('custom', cell)) !== '')
  const faults = Object.fromEntries([
    ...tableFaults(fields, 'base'),
    ...(needsCustom ? tableFaults(fields, 'custom') : []),
    ...otherFaults(fields),
  ])
  if (Object.keys(faults).length > 0) return { body: undefined, faults }
  const prices = OPERATION_NAMES.flatMap((name) => {
    const price = wholeNumber(textAt(fields, `prices.${name}`))
    return price === undefined ? [] : [[name, price] as const]
  })
  const body = {
    mode: textAt(fields, 'mode') as Settings['mode'],
    base: tableOf(fields, 'base'),
    custom: needsCustom ? tableOf(fields, 'custom') : null,
    site: { enabled: fields['site.enabled'] === 'true', multiplier: Number(fields['site.multiplier']) },
    prices: Object.fromEntries(prices),
  }
  return { body, faults }
}

type Found = readonly (readonly [string, FaultCode])[]

function tableFaults(fields: Fields, table: 'base' | 'custom'): Found {
  return CELLS.map((cell) => pathOf(table, cell))
    .filter((path) => tokensOf(textAt(fields, path)) === undefined)
    .map((path) => [path, table === 'custom' && textAt(fields, path) === '' ? 'customMissing' : 'tokens'] as const)
}

function otherFaults(fields: Fields): Found {
  const prices = OPERATION_NAMES.map((name) => `prices.${name}`).filter((path) => {
    const text = textAt(fields, path)
    return text !== '' && wholeNumber(text) === undefined
  })
  const isMultiplier = multiplierOf(textAt(fields, 'site.multiplier')) !== undefined
  return [
    ...prices.map((path) => [path, 'price'] as const),
    ...(isMultiplier ? [] : [['site.multiplier', 'multiplier'] as const]),
  ]
}

function textAt(fields: Fields, path: string): string {
  return fields[path] ?? ''
}

function valueAt(table: Settings['base'], { layer, category, window }: Cell): number {
  return table[layer][category][window]
}

function tableOf(fields: Fields, table: 'base' | 'custom'): Settings['base'] {
  const layer = (name: Cell['layer']): Settings['base']['personal'] => {
    const windows = (category: Cell['category']): Settings['base']['personal']['read'] => {
      const at = (window: Cell['window']): number => Number(fields[pathOf(table, { layer: name, category, window })])
      return { '1h': at('1h'), '5h': at('5h'), '1d': at('1d') }
    }
    return { read: windows('read'), write: windows('write') }
  }
  return { personal: layer('personal'), site: layer('site') }
}
