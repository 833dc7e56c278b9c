import { type FaultCode, type Fields, multiplierOf, type Read, tokensOf, wholeNumber } from '../../form/form.ts'
import { type Category, CELLS, type Layer, OPERATIONS, pathOf, type Settings, type Table } from '../../limits.ts'
import { modeOf } from './setting-texts.ts'

type TableName = 'base' | 'custom'

export function settingsFields({ mode, base, custom, site, prices }: Settings): Fields {
  const cells = (name: TableName, table: Table | null): [string, string][] =>
    CELLS.map((cell) => [pathOf(name, cell), textOf(table?.[cell.layer][cell.category][cell.window])])
  return Object.fromEntries([
    ['mode', mode],
    ...cells('base', base),
    ...cells('custom', custom),
    ['site.enabled', String(site.enabled)],
    ['site.multiplier', String(site.multiplier)],
    ...OPERATIONS.map((name) => [`prices.${name}`, textOf(prices[name])]),
  ])
}

export function readSettings(fields: Fields): Read<Settings> {
  const hasCustom = fields.mode === 'custom' || CELLS.some((cell) => textAt(fields, pathOf('custom', cell)) !== '')
  const faults = Object.fromEntries([
    ...tableFaults(fields, 'base'),
    ...(hasCustom ? tableFaults(fields, 'custom') : []),
    ...otherFaults(fields),
  ])
  if (Object.keys(faults).length > 0) return { body: undefined, faults }
  const prices = OPERATIONS.flatMap((name) => {
    const price = wholeNumber(textAt(fields, `prices.${name}`))
    return price === undefined ? [] : [[name, price] as const]
  })
  const body: Settings = {
    mode: modeOf(textAt(fields, 'mode')),
    base: tableOf(fields, 'base'),
    custom: hasCustom ? tableOf(fields, 'custom') : null,
    site: {
      enabled: fields['site.enabled'] === 'true',
      multiplier: multiplierOf(textAt(fields, 'site.multiplier')) ?? 1,
    },
    prices: Object.fromEntries(prices),
  }
  return { body, faults }
}

type Found = readonly (readonly [string, FaultCode])[]

function tableFaults(fields: Fields, table: TableName): Found {
  return CELLS.map((cell) => pathOf(table, cell))
    .filter((path) => tokensOf(textAt(fields, path)) === undefined)
    .map((path) => [path, table === 'custom' && textAt(fields, path) === '' ? 'customMissing' : 'tokens'] as const)
}

function otherFaults(fields: Fields): Found {
  const prices = OPERATIONS.map((name) => `prices.${name}`).filter(
    (path) => textAt(fields, path) !== '' && wholeNumber(textAt(fields, path)) === undefined,
  )
  const isMultiplier = multiplierOf(textAt(fields, 'site.multiplier')) !== undefined
  return [
    ...prices.map((path) => [path, 'price'] as const),
    ...(isMultiplier ? [] : [['site.multiplier', 'multiplier'] as const]),
  ]
}

function textAt(fields: Fields, path: string): string {
  return fields[path] ?? ''
}

function textOf(value: number | undefined): string {
  return value === undefined ? '' : String(value)
}

function tableOf(fields: Fields, table: TableName): Table {
  const windows = (layer: Layer, category: Category): Table[Layer][Category] => {
    const at = (window: '1h' | '5h' | '1d'): number =>
      tokensOf(textAt(fields, pathOf(table, { layer, category, window }))) ?? 0
    return { '1h': at('1h'), '5h': at('5h'), '1d': at('1d') }
  }
  const categories = (layer: Layer): Table[Layer] => ({ read: windows(layer, 'read'), write: windows(layer, 'write') })
  return { personal: categories('personal'), site: categories('site') }
}
