import { definePolicy, type Limit, type Policy } from '@scoregw/quota'
import { MAX_LIMIT } from '@scoregw/quota/store'

const HOUR_MS = 3_600_000

/** Operations of one category with different prices. */
export const PRICES = {
  'music.list': 1,
  'music.get': 2,
  'music.play': 3,
  'music.rate': 5,
  'music.tag': 8,
  'music.move': 13,
  'music.upsert': 15,
  'music.import': 34,
} as const

export type Operation = keyof typeof PRICES

/** Needs a slot if concurrency is limited. */
const EXPORT = 'music.export'

interface Shape {
  /**
   * The per-subject layers first.
   *
   * @default personal and site
   */
  readonly layers?: readonly { readonly name: string; readonly shared?: boolean }[]
  /** Whether the longest window is the calendar's day. */
  readonly hasCalendar?: boolean
  /** Whether a user's concurrent exports are limited. */
  readonly hasConcurrency?: boolean
  /** Whether there are plans that differ from the base. */
  readonly hasPlans?: boolean
  /**
   * Each user's limit per hour.
   *
   * @default a limit that never refuses
   */
  readonly personal?: Limit
}

const TWO_LAYERS = [{ name: 'personal' }, { name: 'site', shared: true }]
export const THREE_LAYERS = [{ name: 'personal' }, { name: 'team' }, { name: 'site', shared: true }]
export const FOUR_LAYERS = [...THREE_LAYERS, { name: 'everything', shared: true }]
export const PLANS = ['gold', 'silver'] as const

/** Three windows in each layer that never refuse. */
export function policyOf(shape: Shape = {}): Policy {
  const { layers = TWO_LAYERS, hasCalendar, hasConcurrency, hasPlans, personal = MAX_LIMIT } = shape
  const day = hasCalendar
    ? ({ label: '1d', every: 'day', timeZone: 'UTC' } as const)
    : ({ label: '1d', lengthMs: 24 * HOUR_MS } as const)
  const windows = [{ label: '1h', lengthMs: HOUR_MS }, { label: '5h', lengthMs: 5 * HOUR_MS }, day]
  const limits = (limit: Limit, slots: boolean | undefined) => {
    const all = { '1h': limit, '5h': MAX_LIMIT, '1d': MAX_LIMIT, ...(slots && { running: 5 }) }
    return { read: all, write: all }
  }
  const categorised = Object.entries(PRICES).map(([name, cost]) => [name, { category: 'write', cost }])
  const plan = (limit: Limit) => ({ personal: { write: { '1h': limit } } })
  return definePolicy({
    windows,
    categories: ['read', 'write'],
    layers,
    operations: { ...Object.fromEntries(categorised), [EXPORT]: { category: 'write', cost: 15 } },
    ...(hasConcurrency && { concurrency: { label: 'running', operations: [EXPORT] } }),
    ...(hasPlans && { plans: { gold: plan(MAX_LIMIT - 1), silver: plan(MAX_LIMIT - 2) } }),
    base: Object.fromEntries(
      layers.map(({ name }, index) => [
        name,
        limits(index === 0 ? personal : MAX_LIMIT, index === 0 ? hasConcurrency : false),
      ]),
    ),
  } as Parameters<typeof definePolicy>[0]) as Policy
}
