import type { paths } from 'example-client/gateway-types'

type SettingsBody = paths['/admin/quota/settings']['put']['requestBody']['content']['application/json']
type UserQuotaDocument = paths['/admin/users/{id}/quota']['get']['responses'][200]['content']['application/json']

/** Everyone's limits: the members that administrators edit. */
export type Settings = Pick<SettingsBody, 'mode' | 'base' | 'custom' | 'site' | 'prices'>
/** One user's overrides, and whether the site-wide limits apply. `null`: the default. */
export type UserQuota = Pick<UserQuotaDocument, 'overrides' | 'bypassSite'>
export type QuotaStatus = paths['/me/quota']['get']['responses'][200]['content']['application/json']
export type Table = Settings['base']
export type Mode = Settings['mode']
export type Layer = keyof Table
export type Category = keyof Table['personal']
export type Window = keyof Table['personal']['read']
export type Operation = keyof Settings['prices']

export const MODES: readonly Mode[] = ['conservative', 'normal', 'lenient', 'adaptive', 'custom']
export const LAYERS: readonly Layer[] = ['personal', 'site']
export const CATEGORIES: readonly Category[] = ['read', 'write']
export const WINDOWS: readonly Window[] = ['1h', '5h', '1d']

/** One limit of a table. */
export interface Cell {
  readonly layer: Layer
  readonly category: Category
  readonly window: Window
}

export const CELLS: readonly Cell[] = LAYERS.flatMap((layer) =>
  CATEGORIES.flatMap((category) => WINDOWS.map((window) => ({ layer, category, window }))),
)

/** The path that the API uses in faults. */
export function pathOf(table: 'base' | 'custom', { layer, category, window }: Cell): string {
  return `${table}.${layer}.${category}.${window}`
}

/** The default prices in tokens. The settings have what differs. */
export const PRICES: Readonly<Record<Category, Partial<Record<Operation, number>>>> = {
  read: {
    'user.data': 2,
    'user.charge': 2,
    'user.items': 2,
    'user.gates': 2,
    'user.music': 4,
    'source.lx': 5,
    'source.fish': 5,
  },
  write: {
    'ticket.clear': 5,
    'music.delete': 10,
    'music.upsert': 15,
    'user.clear': 20,
    'charge.2': 10,
    'charge.3': 15,
    'charge.5': 25,
  },
}

export const OPERATIONS = CATEGORIES.flatMap((category) => Object.keys(PRICES[category])) as readonly Operation[]

/** The settings before the first change. */
export const DEFAULTS: Settings = {
  mode: 'normal',
  base: {
    personal: { read: { '1h': 120, '5h': 400, '1d': 1_200 }, write: { '1h': 60, '5h': 200, '1d': 600 } },
    site: { read: { '1h': 3_000, '5h': 10_000, '1d': 36_000 }, write: { '1h': 1_500, '5h': 5_000, '1d': 18_000 } },
  },
  custom: null,
  site: { enabled: true, multiplier: 1 },
  prices: {},
}
