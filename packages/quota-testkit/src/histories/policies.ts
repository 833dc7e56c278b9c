import type { Limit, LimitTable, Policy, Subject } from '@scoregw/quota'

/** Policies that random histories are played under, and the subjects that appear in them. */
export interface Scene {
  readonly name: string
  /** What both processes begin with. */
  readonly policy: Policy
  /** What becomes of the policy while its counters live on. */
  readonly edits: readonly Policy[]
  readonly subjects: readonly Subject[]
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

/** Limits that a handful of requests fill, longer windows a little larger. */
function tight(policy: Pick<Policy, 'windows' | 'categories' | 'layers'>): LimitTable {
  const limitOf = (layer: number, window: number): Limit => (window === 3 ? 'unlimited' : 8 + 6 * layer + 5 * window)
  return Object.fromEntries(
    policy.layers.map(({ name, shared }) => [
      name,
      Object.fromEntries(
        policy.categories.map((category) => [
          category,
          Object.fromEntries(policy.windows.map(({ label }, window) => [label, limitOf(shared ? 1 : 0, window)])),
        ]),
      ),
    ]),
  )
}

type Shape = Pick<Policy, 'windows' | 'layers'> & { readonly categories?: readonly string[] }

function policyOf({ categories = ['read', 'write'], ...shape }: Shape): Policy {
  const full = { ...shape, categories }
  const operations = Object.entries(OPERATIONS).filter(([, { category }]) => categories.includes(category))
  return { ...full, operations: Object.fromEntries(operations), base: tight(full) }
}

function scene(name: string, shape: Shape, edits: readonly Partial<Shape>[], subjects: readonly Subject[]): Scene {
  const edited = edits.map((edit) => policyOf({ ...shape, ...edit }))
  return { name, policy: policyOf(shape), edits: edited, subjects }
}

const SECOND = { label: '1s', lengthMs: 1_000 }
const MINUTE = { label: '1m', lengthMs: 60_000 }
const HOUR = { label: '1h', lengthMs: 3_600_000 }
const FIVE_HOURS = { label: '5h', lengthMs: 18_000_000 }
const DAY = { label: '1d', lengthMs: 86_400_000 }
const YEAR = { label: '366d', lengthMs: 366 * 86_400_000 }

/** The default shape, the least, and many windows and layers. */
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
]

/** A subject as a policy asks for it: one string where one layer has keys of its own, else a key for each of them. */
export function subjectIn({ layers }: Policy, subject: Subject): Subject {
  const own = layers.filter(({ shared }) => !shared).map(({ name }) => name)
  if (typeof subject === 'string' && own.length === 1) return subject
  const keys = own.map((name) => [name, typeof subject === 'string' ? subject : (subject[name] ?? '')])
  return Object.fromEntries(keys) as Subject
}

/** The member at an index that may be too large: the list goes round. */
export function pick<T>(list: readonly T[], index: number): T {
  const member = list[index % list.length]
  if (member === undefined) throw new RangeError('an empty list')
  return member
}
