import type { Policy, Settings, SharedLayer, Table } from '../../api/documents.ts'
import { type Cell, cellsOf, pathOf, sharedLayers } from '../../form/axes.ts'
import { type FaultCode, type Fields, multiplierOf, type Read, tokensOf, wholeNumber } from '../../form/form.ts'
import { readRules, ruleFaults, ruleFields } from './rule-fields.ts'

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
    ...ruleFields(policy, settings),
  ])
}

export function readSettings(policy: Policy, fields: Fields): Read<Settings> {
  const cells = cellsOf(policy)
  const needsCustom = fields.mode === 'custom' || cells.some((cell) => textAt(fields, pathOf('custom', cell)) !== '')
  const faults = Object.fromEntries([
    ...tableFaults(cells, fields, 'base'),
    ...(needsCustom ? tableFaults(cells, fields, 'custom') : []),
    ...otherFaults(policy, fields),
    ...ruleFaults(policy, fields),
  ])
  if (Object.keys(faults).length > 0) return { body: undefined, faults }
  const prices = Object.keys(policy.operations).flatMap((name) => {
    const price = wholeNumber(textAt(fields, `prices.${name}`))
    return price === undefined ? [] : [[name, price] as const]
  })
  const layers = sharedLayers(policy).map(({ name }): [string, SharedLayer] => [
    name,
    {
      enabled: fields[`${name}.enabled`] === 'true',
      multiplier: multiplierOf(textAt(fields, `${name}.multiplier`)) ?? 1,
    },
  ])
  const body: Settings = {
    ...Object.fromEntries(layers),
    mode: textAt(fields, 'mode') as Settings['mode'],
    base: tableOf(policy, fields, 'base'),
    custom: needsCustom ? tableOf(policy, fields, 'custom') : null,
    prices: Object.fromEntries(prices),
    ...readRules(policy, fields),
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

/** A document from another policy may lack a value. */
function textOf(value: number | undefined): string {
  return value === undefined ? '' : String(value)
}

function valueAt(table: Table, { layer, category, window }: Cell): number | undefined {
  return table[layer]?.[category]?.[window]
}

function tableOf(policy: Policy, fields: Fields, table: 'base' | 'custom'): Table {
  const { layers, categories } = policy
  const cells = cellsOf(policy)
  const windowsOf = (layer: string, category: string): Record<string, number> =>
    Object.fromEntries(
      cells
        .filter((cell) => cell.layer === layer && cell.category === category)
        .map((cell) => [cell.window, tokensOf(textAt(fields, pathOf(table, cell))) ?? 0]),
    )
  const categoriesOf = (layer: string): Table[string] =>
    Object.fromEntries(categories.map((category) => [category, windowsOf(layer, category)]))
  return Object.fromEntries(layers.map(({ name }) => [name, categoriesOf(name)]))
}
