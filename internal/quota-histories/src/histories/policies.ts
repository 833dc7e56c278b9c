import type { Limit, LimitTable, Policy, Subject } from '@scoregw/quota'
import type { BucketWindow, CalendarWindow } from '@scoregw/quota/store'
import type { StoreAbility } from '@scoregw/quota-testkit'

/** Policies for random histories, and the subjects in them. */
export interface Scene {
  readonly name: string
  /** The policy that both processes begin with. */
  readonly policy: Policy
  /** The changes of the policy while its counters continue. */
  readonly edits: readonly Policy[]
  readonly subjects: readonly Subject[]
  /** The abilities that a store needs; other stores skip the scene. */
  readonly needs: readonly StoreAbility[]
}

const PERSONAL = { name: 'personal', scope: 'Personal', shared: false }
const TEAM = { name: 'team', scope: 'Team', shared: false }
const SITE = { name: 'site', scope: 'Site', shared: true }
const ALL = { name: 'all', scope: 'All', shared: true }

const OPERATIONS = {
  look: { category: 'read', cost: 1 },
  load: { category: 'read', cost: 4 },
  save: { category: 'write', cost: 3 },
  ping: { category: 'write', cost: 0 },
  rule: { category: 'admin', cost: 2 },
}

/** Operations that take slots, and what their commits may overrun. */
const HELD_OPERATIONS = {
  stream: { category: 'write', cost: 3, overrun: 'charge', maxOverrun: 4 },
  render: { category: 'read', cost: 2, overrun: 'charge', maxOverrun: 6 },
} as const
const FITTING = { shape: { category: 'read', cost: 4, overrun: 'fit', maxOverrun: 5 } } as const

/** A limit of concurrent writes: low in per-subject layers, and in shared layers on request. */
const RUNNING = { label: 'running', operations: ['stream'] }
type SlotsOf = 'own' | 'all' | undefined

/** The plans of all histories. Labels and categories that a policy lacks are left out. */
const PLAN_LIMITS: Readonly<Record<string, readonly [category: string, label: string, limit: Limit][]>> = {
  small: [
    ['read', '1h', 3],
    ['read', 'hour', 4],
    ['write', 'running', 1],
  ],
  large: [
    ['read', '1h', 25],
    ['write', '1h', 'unlimited'],
    ['write', 'running', 3],
  ],
}

/** Limits that a few requests fill, slightly larger for longer windows. */
function tight(policy: Pick<Policy, 'windows' | 'categories' | 'layers'>, slots: SlotsOf): LimitTable {
  const limitOf = (layer: number, window: number): Limit => (window === 3 ? 'unlimited' : 8 + 6 * layer + 5 * window)
  return Object.fromEntries(
    policy.layers.map(({ name, shared }) => [
      name,
      Object.fromEntries(
        policy.categories.map((category) => [
          category,
          Object.fromEntries([
            ...policy.windows.map(({ label }, window) => [label, limitOf(shared ? 1 : 0, window)]),
            ...(category === 'write' && (slots === 'all' || (slots === 'own' && !shared))
              ? [['running', shared ? 3 : 2]]
              : []),
          ]),
        ]),
      ),
    ]),
  )
}

interface Shape extends Pick<Policy, 'windows' | 'layers'> {
  readonly categories?: readonly string[]
  /** Whether there are holds, where slots are limited, and whether an overrun may have to fit. */
  readonly held?: boolean
  readonly slots?: SlotsOf
  readonly fits?: boolean
}

function policyOf({
  categories = ['read', 'write'],
  windows,
  layers,
  held = false,
  slots,
  fits = false,
}: Shape): Policy {
  const shape = { windows, layers, categories }
  const all = { ...OPERATIONS, ...(held ? HELD_OPERATIONS : {}), ...(fits ? FITTING : {}) }
  const operations = Object.entries(all).filter(([, { category }]) => categories.includes(category))
  const base = tight(shape, slots)
  const policy = { ...shape, operations: Object.fromEntries(operations), base }
  if (!held) return policy
  const plans = Object.fromEntries(Object.entries(PLAN_LIMITS).map(([name, limits]) => [name, planOf(policy, limits)]))
  return Object.hasOwn(policy.operations, 'stream') && slots !== undefined
    ? { ...policy, plans, concurrency: RUNNING }
    : { ...policy, plans }
}

function planOf({ base }: Pick<Policy, 'base'>, limits: readonly [category: string, label: string, limit: Limit][]) {
  const known = limits.filter(([category, label]) => base.personal?.[category]?.[label] !== undefined)
  const ofCategory = (name: string) =>
    Object.fromEntries(known.flatMap(([category, label, limit]) => (category === name ? [[label, limit]] : [])))
  return { personal: Object.fromEntries(known.map(([category]) => [category, ofCategory(category)])) }
}

function scene(
  name: string,
  shape: Shape,
  edits: readonly Partial<Shape>[],
  subjects: readonly Subject[],
  needs: readonly StoreAbility[] = [],
): Scene {
  const edited = edits.map((edit) => policyOf({ ...shape, ...edit }))
  return { name, policy: policyOf(shape), edits: edited, subjects, needs }
}

const SECOND = { label: '1s', lengthMs: 1_000 }
const MINUTE = { label: '1m', lengthMs: 60_000 }
const HOUR = { label: '1h', lengthMs: 3_600_000 }
const FIVE_HOURS = { label: '5h', lengthMs: 18_000_000 }
const DAY = { label: '1d', lengthMs: 86_400_000 }
const YEAR = { label: '366d', lengthMs: 366 * 86_400_000 }

const EACH_HOUR: CalendarWindow = { label: 'hour', every: 'hour', timeZone: 'UTC' }
const WEEK: CalendarWindow = { label: 'week', every: 'week', timeZone: 'UTC', weekStartsOn: 7 }
const MONTH: CalendarWindow = { label: 'month', every: 'month', timeZone: 'UTC', anchor: { day: 31, time: '06:30' } }
const BILLING: CalendarWindow = { label: 'billing', every: 'month', timeZone: 'UTC', anchor: 'subject' }

/** Buckets with the limits of windows. */
const FEW: BucketWindow = { label: '1m', lengthMs: 60_000, burst: 4 }
const SHARE: BucketWindow = { label: '7s', lengthMs: 7_000, burst: { share: 0.6 } }

/** The default shape, the smallest, many windows and layers, and limits of every kind. */
export const SCENES: readonly Scene[] = [
  scene(
    'personal and site, 1h 5h 1d',
    { windows: [HOUR, FIVE_HOURS, DAY], layers: [PERSONAL, SITE] },
    [
      { windows: [MINUTE, HOUR, FIVE_HOURS, DAY] },
      { windows: [DAY, HOUR] },
      { windows: [{ ...HOUR, lengthMs: 7_200_000 }, FIVE_HOURS, { ...DAY, label: '24h' }] },
      { windows: [FIVE_HOURS, YEAR], layers: [SITE, PERSONAL] },
      { layers: [PERSONAL, TEAM, SITE] },
      { layers: [PERSONAL] },
      { layers: [ALL, { ...SITE, scope: 'Everybody' }, PERSONAL] },
      { categories: ['admin', 'write', 'read'] },
      { categories: ['write'] },
    ],
    ['a', 'b', '__proto__'],
  ),
  scene(
    'personal, 1 second',
    { windows: [SECOND], layers: [PERSONAL] },
    [{ windows: [MINUTE, SECOND] }, { windows: [DAY] }, { layers: [PERSONAL, SITE] }],
    ['a', 'b'],
  ),
  scene(
    'personal, team and site, 1 second to 366 days',
    { windows: [SECOND, { label: '7s', lengthMs: 7_000 }, MINUTE, HOUR, YEAR], layers: [PERSONAL, TEAM, SITE] },
    [
      { windows: [HOUR, SECOND, YEAR] },
      { windows: [{ label: '7s', lengthMs: 8_000 }, MINUTE, DAY] },
      { layers: [SITE, PERSONAL] },
      { layers: [PERSONAL, SITE, TEAM], categories: ['write', 'read'] },
      { layers: [TEAM, PERSONAL] },
    ],
    [
      { personal: 'a', team: 'x' },
      { personal: 'b', team: 'x' },
      { personal: 'a', team: 'y' },
    ],
  ),
  scene(
    'hours, weeks and months of the calendar, work that is held and slots of ones own',
    { windows: [EACH_HOUR, HOUR, MONTH], layers: [PERSONAL, SITE], held: true, slots: 'own' },
    [
      { windows: [HOUR, WEEK, MONTH] },
      { windows: [HOUR], slots: undefined },
      { windows: [EACH_HOUR, { ...MONTH, anchor: { day: 1 } }] },
      { layers: [SITE, PERSONAL] },
      { layers: [PERSONAL], categories: ['write', 'read'] },
    ],
    ['a', 'b'],
    ['calendar', 'holds', 'concurrency'],
  ),
  scene(
    'months that begin where each subject says, and work that is held',
    { windows: [HOUR, BILLING], layers: [PERSONAL, SITE], held: true },
    [
      { windows: [BILLING] },
      { windows: [EACH_HOUR, BILLING, WEEK] },
      { layers: [SITE, PERSONAL] },
      { layers: [PERSONAL], categories: ['write', 'read'] },
    ],
    ['a', 'b'],
    ['calendar', 'holds'],
  ),
  scene(
    'buckets and a window, and work that is held',
    { windows: [SHARE, FEW, HOUR], layers: [PERSONAL, SITE], held: true, fits: true },
    [
      { windows: [FEW, HOUR] },
      {
        windows: [
          { ...FEW, burst: { share: 1 } },
          { ...SHARE, burst: 2 },
        ],
      },
      { windows: [HOUR, MINUTE] },
      { windows: [SHARE], layers: [SITE, PERSONAL] },
      { layers: [PERSONAL], categories: ['write', 'read'] },
    ],
    ['a', 'b'],
    ['bucket', 'holds', 'fit'],
  ),
  scene(
    'slots that everybody shares, and overruns that have to fit',
    { windows: [MINUTE, EACH_HOUR, DAY], layers: [PERSONAL, SITE], held: true, slots: 'all', fits: true },
    [
      { windows: [MINUTE, DAY] },
      { slots: 'own' },
      { layers: [PERSONAL, ALL, SITE] },
      { fits: false, slots: undefined },
    ],
    ['a', 'b', 'c'],
    ['calendar', 'holds', 'concurrency', 'shared-concurrency', 'fit'],
  ),
]

/** A subject as a policy requires it: a string for a single per-subject layer, otherwise a key for each. */
export function subjectIn({ layers }: Policy, subject: Subject): Subject {
  const own = layers.filter(({ shared }) => !shared).map(({ name }) => name)
  if (typeof subject === 'string' && own.length === 1) return subject
  const keys = own.map((name) => [name, typeof subject === 'string' ? subject : (subject[name] ?? '')])
  return Object.fromEntries(keys) as Subject
}

/** The member at an index, which wraps around. */
export function pick<T>(list: readonly T[], index: number): T {
  const member = list[index % list.length]
  if (member === undefined) throw new RangeError('an empty list')
  return member
}
