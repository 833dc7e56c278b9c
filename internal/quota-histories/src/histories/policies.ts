import { type Policy, parsePolicy, type Subject } from '@scoregw/quota'
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

/** Layers that all subjects share. In others, each has its own limits. */
const SHARED = ['site', 'all']

/** 1 and 4 for reads, 3 for writes, nothing for `ping`, 2 for what few policies count. */
const OPERATIONS = {
  look: { category: 'read', cost: 1 },
  load: { category: 'read', cost: 4 },
  save: { category: 'write', cost: 3 },
  ping: { category: 'write', cost: 0, free: true },
  rule: { category: 'admin', cost: 2 },
}

/** Operations that take slots, and what their commits may overrun. */
const HELD_OPERATIONS = {
  stream: { category: 'write', cost: 3, overrun: 'charge', maxOverrun: 4 },
  render: { category: 'read', cost: 2, overrun: 'charge', maxOverrun: 6 },
}
const FITTING = { shape: { category: 'read', cost: 4, overrun: 'fit', maxOverrun: 5 } }

type SlotsOf = 'own' | 'all' | undefined
/** Which operations the limits of a group count; `undefined`: all. */
type Groups = Readonly<Record<string, string | readonly string[] | undefined>>

/** Limits of each layer, group and time, named `layer-group-time`. */
interface Shape {
  /** By name, the members of a limit about its time. */
  readonly times: Readonly<Record<string, object>>
  readonly layers: readonly string[]
  readonly groups?: Groups
  readonly titles?: Readonly<Record<string, string>>
  /** Groups whose limits were renamed: to `layer/group/time`. */
  readonly renamed?: readonly string[]
  /** Whether there are holds, where slots are limited, and whether an overrun may have to fit. */
  readonly held?: boolean
  readonly slots?: SlotsOf
  readonly fits?: boolean
}

const READ_AND_WRITE: Groups = { read: 'read', write: 'write' }
/** Every operation is counted, and writes once more. */
const ALL_AND_WRITE: Groups = { all: undefined, write: 'write' }

function policyOf(shape: Shape): Policy {
  const { times, layers, groups = READ_AND_WRITE, titles, renamed = [], held = false, slots, fits = false } = shape
  const whose = (layer: string): object => (SHARED.includes(layer) ? { shared: layer } : { by: layer })
  const windows = layers.flatMap((layer) =>
    Object.entries(groups).flatMap(([group, counted]) =>
      Object.entries(times).map(([time, members], at): [string, object] => {
        const limit = { ...whose(layer), limit: tight(layer, at), for: counted, ...members }
        const name = `${layer}-${group}-${time}`
        return renamed.includes(group) ? [`${layer}/${group}/${time}`, { ...limit, formerly: name }] : [name, limit]
      }),
    ),
  )
  const limited = slots === 'all' ? layers : layers.filter((layer) => slots === 'own' && !SHARED.includes(layer))
  const running = limited.map((layer): [string, object] => [
    `${layer}-running`,
    { ...whose(layer), concurrency: SHARED.includes(layer) ? 3 : 2, for: 'stream' },
  ])
  const limits = Object.fromEntries([...windows, ...running])
  const all = { ...OPERATIONS, ...(held && HELD_OPERATIONS), ...(fits && FITTING) }
  const counted = Object.values(groups).flatMap((group) => group ?? Object.values(all).map(({ category }) => category))
  const operations = Object.entries(all).map(([name, operation]) => {
    const isCounted = counted.includes(operation.category) || counted.includes(name)
    return [name, isCounted ? operation : { ...operation, free: true }]
  })
  const plans = held ? { plans: plansOf(Object.keys(limits)) } : {}
  return parsePolicy({ unit: 'tokens', limits, operations: Object.fromEntries(operations), titles, ...plans })
}

/** Limits that a few requests fill, slightly larger for longer windows. */
function tight(layer: string, time: number): number | 'unlimited' {
  return time === 3 ? 'unlimited' : 8 + 5 * time + (SHARED.includes(layer) ? 6 : 0)
}

/** The plans of all histories. Limits that a policy lacks are left out. */
function plansOf(names: readonly string[]): object {
  const plans = {
    small: { 'personal-read-1h': 3, 'personal-read-hour': 4, 'personal-running': 1 },
    large: { 'personal-read-1h': 25, 'personal-write-1h': 'unlimited', 'personal-running': 3 },
  }
  const among = (plan: object): object =>
    Object.fromEntries(Object.entries(plan).filter(([name]) => names.includes(name)))
  return { small: among(plans.small), large: among(plans.large) }
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

/** Rolling windows by their lengths. */
function per(...lengths: readonly string[]): Shape['times'] {
  return Object.fromEntries(lengths.map((length) => [length, { per: length }]))
}

const HOURLY = { hour: { every: 'hour', timeZone: 'UTC' } }
const WEEKLY = { week: { every: 'week', timeZone: 'UTC', weekStartsOn: 7 } }
const MONTHLY = { month: { every: 'month', timeZone: 'UTC', anchor: { day: 31, time: '06:30' } } }
const BILLING = { billing: { every: 'month', timeZone: 'UTC', anchor: 'subject' } }

/** Buckets with the limits of windows. */
const FEW = { '1m': { per: '1m', burst: 4 } }
const SHARE = { '7s': { per: '7s', burst: { share: 0.6 } } }

const tokens = { of: 'tokens', per: '50s' } as const
const money = { of: 'money', per: '80s' } as const

/** The limits of a policy with several units. */
function unitLimits(times: { readonly requests: string; readonly tokens: string }, team = 'team') {
  return {
    requests: { by: 'user', limit: 4, per: times.requests },
    tokens: { by: 'user', ...tokens, limit: 12, per: times.tokens },
    money: { by: 'user', ...money, limit: 30, for: ['complete', 'late'] },
    'team-requests': { by: team, limit: 7, per: times.requests },
    'team-tokens': { by: team, ...tokens, limit: 18, burst: 9 },
    'all-requests': { shared: 'all', limit: 20, per: '20s', for: ['list', 'late'] },
    'all-money': { shared: 'all', ...money, limit: 60 },
  }
}

function unitPolicy(limits: object): Policy {
  return parsePolicy({
    limits,
    operations: {
      complete: { cost: { tokens: 3, money: 2 } },
      list: {},
      late: {
        cost: { tokens: 2, money: 5 },
        overrun: 'charge',
        maxOverrun: { requests: 0, tokens: 3, money: 4 },
      },
    },
    plans: { small: { tokens: 2 }, large: { 'team-tokens': 80 } },
  })
}

/** Policies that count several units. */
export const UNIT_SCENES: readonly Scene[] = [
  {
    name: 'requests, tokens and money of users, teams and all',
    policy: unitPolicy(unitLimits({ requests: '20s', tokens: '50s' })),
    edits: [
      unitPolicy(unitLimits({ requests: '1m', tokens: '50s' })),
      unitPolicy({
        ...unitLimits({ requests: '20s', tokens: '1m' }),
        money: undefined,
        cash: { by: 'user', ...money, limit: 30, formerly: 'money' },
      }),
    ],
    subjects: [
      { user: 'ann', team: 'x' },
      { user: 'bob', team: 'x' },
      { user: 'ann', team: null },
      { user: null, team: 'y' },
    ],
    needs: ['holds', 'bucket'],
  },
]

/** The score gateway's shape, the smallest, many windows and layers, and limits of every kind. */
export const SCENES: readonly Scene[] = [
  ...UNIT_SCENES,
  scene(
    'personal and site, 1h 5h 1d',
    { times: per('1h', '5h', '1d'), layers: ['personal', 'site'] },
    [
      { times: per('1m', '1h', '5h', '1d') },
      { times: per('1d', '1h') },
      { times: { '1h': { per: '2h' }, '5h': { per: '5h' }, '24h': { per: '1d' } } },
      { times: per('5h', '366d'), layers: ['site', 'personal'] },
      { layers: ['personal', 'team', 'site'] },
      { layers: ['personal'] },
      { layers: ['all', 'site', 'personal'], titles: { site: 'Everybody' } },
      { groups: { admin: 'admin', ...READ_AND_WRITE } },
      { groups: { write: 'write' } },
    ],
    ['a', 'b', '__proto__'],
  ),
  scene(
    'limits of all operations beside those of writes, that change what they count and their names',
    { times: per('1m', '1h'), layers: ['personal', 'site'], groups: ALL_AND_WRITE },
    [
      { renamed: ['all'] },
      { renamed: ['write'], groups: { all: ['read', 'admin'], write: ['write', 'look'] } },
      { groups: { all: 'write', write: undefined } },
      { groups: { write: 'save', ...READ_AND_WRITE } },
      { groups: { ...ALL_AND_WRITE, read: 'look' }, layers: ['site', 'personal'] },
    ],
    ['a', 'b'],
  ),
  scene(
    'personal, 1 second',
    { times: per('1s'), layers: ['personal'] },
    [{ times: per('1m', '1s') }, { times: per('1d') }, { layers: ['personal', 'site'] }],
    ['a', 'b'],
  ),
  scene(
    'personal, team and site, 1 second to 366 days, and subjects without a key in one of them',
    { times: per('1s', '7s', '1m', '1h', '366d'), layers: ['personal', 'team', 'site'] },
    [
      { times: per('1h', '1s', '366d') },
      { times: { '7s': { per: '8s' }, ...per('1m', '1d') } },
      { layers: ['site', 'personal'] },
      { layers: ['personal', 'site', 'team'], groups: { write: 'write', read: undefined } },
      { layers: ['team', 'personal'] },
    ],
    [
      { personal: 'a', team: 'x' },
      { personal: 'b', team: null },
      { personal: null, team: 'x' },
      { personal: 'a', team: 'y' },
    ],
  ),
  scene(
    'hours, weeks and months of the calendar, work that is held and slots of ones own',
    { times: { ...HOURLY, ...per('1h'), ...MONTHLY }, layers: ['personal', 'site'], held: true, slots: 'own' },
    [
      { times: { ...per('1h'), ...WEEKLY, ...MONTHLY } },
      { times: per('1h'), slots: undefined },
      { times: { ...HOURLY, month: { every: 'month', timeZone: 'UTC', anchor: { day: 1 } } } },
      { layers: ['site', 'personal'] },
      { layers: ['personal'], groups: { write: 'write', read: 'read' } },
      { groups: { read: undefined, write: ['stream', 'look'] }, renamed: ['read'] },
    ],
    ['a', 'b'],
    ['calendar', 'holds', 'concurrency'],
  ),
  scene(
    'months that begin where each subject says, and work that is held',
    { times: { ...per('1h'), ...BILLING }, layers: ['personal', 'site'], held: true },
    [
      { times: BILLING },
      { times: { ...HOURLY, ...BILLING, ...WEEKLY } },
      { layers: ['site', 'personal'] },
      { layers: ['personal'], groups: { write: 'read', read: 'write' } },
    ],
    ['a', 'b'],
    ['calendar', 'holds'],
  ),
  scene(
    'buckets and a window, and work that is held',
    { times: { ...SHARE, ...FEW, ...per('1h') }, layers: ['personal', 'site'], held: true, fits: true },
    [
      { times: { ...FEW, ...per('1h') } },
      { times: { '1m': { per: '1m', burst: { share: 1 } }, '7s': { per: '7s', burst: 2 } } },
      { times: per('1h', '1m') },
      { times: SHARE, layers: ['site', 'personal'], renamed: ['read'] },
      { layers: ['personal'], groups: { write: 'write', read: undefined } },
    ],
    ['a', 'b'],
    ['bucket', 'holds', 'fit'],
  ),
  scene(
    'slots that everybody shares, overruns that have to fit, and keys that may be absent',
    {
      times: { ...per('1m'), ...HOURLY, ...per('1d') },
      layers: ['personal', 'team', 'site'],
      held: true,
      slots: 'all',
      fits: true,
    },
    [
      { times: per('1m', '1d') },
      { slots: 'own' },
      { layers: ['personal', 'team', 'all', 'site'] },
      { fits: false, slots: undefined },
      { groups: { read: ['shape', 'write'], write: 'render' } },
    ],
    [
      { personal: 'a', team: null },
      { personal: 'b', team: 'x' },
      { personal: null, team: 'x' },
    ],
    ['calendar', 'holds', 'concurrency', 'shared-concurrency', 'fit'],
  ),
]

/** A subject as a policy requires it: a string for a single per-subject layer, otherwise a key for each. */
export function subjectIn({ layers }: Policy, subject: Subject): Subject {
  const own = layers.filter(({ shared }) => !shared).map(({ name }) => name)
  if (typeof subject === 'string' && own.length === 1) return subject
  const keys = own.map((name) => [name, typeof subject === 'string' ? subject : (subject[name] ?? null)] as const)
  const isSome = keys.some(([, key]) => key !== null)
  return Object.fromEntries(isSome ? keys : keys.map(([name]) => [name, 'somebody']))
}

/** The member at an index, which wraps around. */
export function pick<T>(list: readonly T[], index: number): T {
  const member = list[index % list.length]
  if (member === undefined) throw new RangeError('an empty list')
  return member
}
