import { type Limit, type Policy, parsePolicy } from '@scoregw/quota'
import { MAX_LIMIT } from '@scoregw/quota/internal'

/** Operations with different prices. */
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

/** Three limits of each layer that never refuse. */
export function policyOf(shape: Shape = {}): Policy {
  const { layers = TWO_LAYERS, hasCalendar, hasConcurrency, hasPlans, personal = MAX_LIMIT } = shape
  const times = Object.entries({
    '1h': { per: '1h' },
    '5h': { per: '5h' },
    '1d': hasCalendar ? { every: 'day', timeZone: 'UTC' } : { per: '1d' },
  })
  const limits = layers.flatMap(({ name, shared }) =>
    times.map(([label, time]) => [
      `${name}-${label}`,
      { ...(shared ? { shared: name } : { by: name }), limit: MAX_LIMIT, ...time },
    ]),
  )
  const byName: Record<string, object> = Object.fromEntries(limits)
  byName[HOURLY] = { ...byName[HOURLY], limit: personal }
  const operations = Object.entries({ ...PRICES, ...(hasConcurrency && { [EXPORT]: 15 }) })
  return parsePolicy({
    unit: 'tokens',
    limits: { ...byName, ...(hasConcurrency && { running: { by: 'personal', concurrency: 5, for: EXPORT } }) },
    operations: Object.fromEntries(operations.map(([name, cost]) => [name, { cost }])),
    ...(hasPlans && { plans: { gold: { [HOURLY]: MAX_LIMIT - 1 }, silver: { [HOURLY]: MAX_LIMIT - 2 } } }),
  })
}

const HOURLY = 'personal-1h'
