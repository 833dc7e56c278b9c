import type { Policy, Settings, SharedLayer, Table } from '../api/documents.ts'
import { type Cell, cellsOf, pathOf, sharedLayers } from './axes.ts'

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

export function settingsFields(policy: Policy, settings: Settings): Fields {
  const { mode, base, custom, prices } = settings
  const cells = (table: 'base' | 'custom', values: Table | null): [string, string][] =>
    cellsOf(policy).map((cell) => [pathOf(table, cell), values === null ? '' : textOf(valueAt(values, cell))])
  const layers = sharedLayers(policy).flatMap(({ name }): [string, string][] => {
    const { enabled, multiplier } = settings[name] as SharedLayer
    return [
      [`${name}.enabled`, String(enabled)],
      [`${name}.multiplier`, String(multiplier)],
    ]
  })
  return Object.fromEntries([
    ['mode', mode],
    ...cells('base', base),
    ...cells('custom', custom),
    ...layers,
    ...Object.keys(policy.operations).map((name) => [`prices.${name}`, textOf(prices[name])]),
  ])
}

/** The document that a form stands for. */
export function readSettings(policy: Policy, fields: Fields): Read<Settings> {
  const cells = cellsOf(policy)
  const needsCustom = fields.mode === 'custom' || cells.some((cell) => textAt(fields, pathOf('custom', cell)) !== '')
  const faults = Object.fromEntries([
    ...tableFaults(cells, fields, 'base'),
    ...(needsCustom ? tableFaults(cells, fields, 'custom') : []),
    ...otherFaults(policy, fields),
  ])
  if (Object.keys(faults).length > 0) return { body: undefined, faults }
  const prices = Object.keys(policy.operations).flatMap((name) => {
    const price = wholeNumber(textAt(fields, `prices.${name}`))
    return price === undefined ? [] : [[name, price] as const]
  })
  const layers = sharedLayers(policy).map(({ name }): [string, SharedLayer] => [
    name,
    { enabled: fields[`${name}.enabled`] === 'true', multiplier: Number(fields[`${name}.multiplier`]) },
  ])
  const body: Settings = {
    ...Object.fromEntries(layers),
    mode: textAt(fields, 'mode') as Settings['mode'],
    base: tableOf(policy, fields, 'base'),
    custom: needsCustom ? tableOf(policy, fields, 'custom') : null,
    prices: Object.fromEntries(prices),
  }
  return { body, faults }
}

type Found = readonly (readonly [string, FaultCode])[]

function tableFaults(cells: readonly Cell[], fields: Fields, table: 'base' | 'custom'): Found {
  return cells
    .map((cell) => pathOf(table, cell))
    .filter((path) => tokensOf(textAt(fields, path)) === undefined)
    .map((path) => [path, table === 'custom' && textAt(fields, path) === '' ? 'customMissing' : 'tokens'] as const)
}

function otherFaults(policy: Policy, fields: Fields): Found {
  const prices = Object.keys(policy.operations)
    .map((name) => `prices.${name}`)
    .filter((path) => textAt(fields, path) !== '' && wholeNumber(textAt(fields, path)) === undefined)
  const multipliers = sharedLayers(policy)
    .map(({ name }) => `${name}.multiplier`)
    .filter((path) => multiplierOf(textAt(fields, path)) === undefined)
  return [
    ...prices.map((path) => [path, 'price'] as const),
    ...multipliers.map((path) => [path, 'multiplier'] as const),
  ]
}

function textAt(fields: Fields, path: string): string {
  return fields[path] ?? ''
}

/** A document of another policy may lack what this one has. */
function textOf(value: number | undefined): string {
  return value === undefined ? '' : String(value)
}

function valueAt(table: Table, { layer, category, window }: Cell): number | undefined {
  return table[layer]?.[category]?.[window]
}

function tableOf({ layers, categories, windows }: Policy, fields: Fields, table: 'base' | 'custom'): Table {
  const windowsOf = (layer: string, category: string): Record<string, number> =>
    Object.fromEntries(
      windows.map(({ label }) => [label, Number(fields[pathOf(table, { layer, category, window: label })])]),
    )
  const categoriesOf = (layer: string): Table[string] =>
    Object.fromEntries(categories.map((category) => [category, windowsOf(layer, category)]))
  return Object.fromEntries(layers.map(({ name }) => [name, categoriesOf(name)]))
}
