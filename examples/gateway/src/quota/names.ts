import type { ScoreGatewayLimit } from '@scoregw/quota/score-gateway'
import { policy } from './policy.ts'

/**
 * Between the policy's names, such as `personal-read-1h`, and the specification's layer, category and window. Nothing
 * else in the gateway knows how names are made.
 */

export const LAYERS = ['personal', 'site'] as const
export const CATEGORIES = ['read', 'write'] as const
const WINDOWS = ['1h', '5h', '1d'] as const

type Layer = (typeof LAYERS)[number]
type Category = (typeof CATEGORIES)[number]
type Window = (typeof WINDOWS)[number]

/** Where the specification has a limit. */
interface Place {
  readonly layer: Layer
  /** The layer's name for people. */
  readonly scope: string
  readonly category: Category
  readonly window: Window
}

/** Values by layer, category and window. */
type Table<T> = { readonly [layer in Layer]: { readonly [category in Category]: { readonly [window in Window]: T } } }
type SomeOf<T> = {
  readonly [layer in Layer]?: {
    readonly [category in Category]?: { readonly [window in Window]?: T | undefined } | undefined
  }
}

const PLACES: ReadonlyMap<string, Place & { readonly name: ScoreGatewayLimit }> = new Map(
  LAYERS.flatMap((layer) =>
    CATEGORIES.flatMap((category) =>
      WINDOWS.map((window) => {
        const name = `${layer}-${category}-${window}` as const
        const scope = policy.limits.find((limit) => limit.name === name)?.title ?? layer
        return [name, { name, layer, scope, category, window }] as const
      }),
    ),
  ),
)

/** Returns a limit's place; `undefined` if the policy doesn't have it, or no longer. */
export function findPlace(name: string): Place | undefined {
  return PLACES.get(name)
}

/** @throws {Error} for a name that the policy doesn't have */
export function placeOf(name: string): Place {
  const place = findPlace(name)
  if (place === undefined) throw new Error(`the policy has no limit ${name}`)
  return place
}

/** Returns the names of a layer's limits, or of those of one category. */
export function limitsIn(layer: Layer, category?: Category): ScoreGatewayLimit[] {
  const isIn = (place: Place): boolean => place.layer === layer && (category ?? place.category) === place.category
  return [...PLACES.values()].filter(isIn).map(({ name }) => name)
}

/** Converts values by name to the specification's table. A name without a value gets `missing`. */
export function tableOf<T>(values: { readonly [name in ScoreGatewayLimit]?: T }, missing: T): Table<T> {
  const windows = (layer: Layer, category: Category) => {
    const at = (window: Window): T => values[`${layer}-${category}-${window}`] ?? missing
    return { '1h': at('1h'), '5h': at('5h'), '1d': at('1d') }
  }
  const categories = (layer: Layer) => ({ read: windows(layer, 'read'), write: windows(layer, 'write') })
  return { personal: categories('personal'), site: categories('site') }
}

/** Converts a table of the specification to values by name. */
export function namedOf<T>(table: Table<T>): Record<ScoreGatewayLimit, T>
export function namedOf<T>(table: SomeOf<T>): { [name in ScoreGatewayLimit]?: T }
export function namedOf<T>(table: SomeOf<T>): { [name in ScoreGatewayLimit]?: T } {
  const values = [...PLACES.values()].flatMap(({ name, layer, category, window }) => {
    const value = table[layer]?.[category]?.[window]
    return value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(values)
}

/** Converts a path in the library's settings to one in ours: `limits.site-read-1h` is `base.site.read.1h`. */
export function pathOf(path: string): string {
  const [head, ...names] = path.split('.')
  if (head === 'shared') return names.join('.') || 'site'
  if (head !== 'limits' && head !== 'custom') return path
  const place = findPlace(names[0] ?? '')
  const inTable = place === undefined ? names : [place.layer, place.category, place.window]
  return [head === 'limits' ? 'base' : head, ...inTable].join('.')
}

/** The policy as data, as `parsePolicy()` and other tools read it. */
export function policyDefinition(): object {
  const limits = policy.limits.map(({ name, limit }) => {
    const { layer, category, window } = placeOf(name)
    const whose = layer === 'site' ? { shared: layer } : { by: layer }
    return [name, { ...whose, limit, per: window, for: category }]
  })
  const titles = policy.layers.map(({ name, title }) => [name, title])
  return {
    unit: 'tokens',
    limits: Object.fromEntries(limits),
    titles: Object.fromEntries(titles),
    operations: policy.operations,
  }
}
