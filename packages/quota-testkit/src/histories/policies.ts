import type { Limit, LimitTable, Policy, Subject } from '@scoregw/quota'

/** A policy that random histories are played under, and the subjects that appear in them. */
export interface Scene {
  readonly name: string
  readonly policy: Policy
  readonly subjects: readonly Subject[]
}

const PERSONAL = { name: 'personal', scope: 'Personal', shared: false }
const TEAM = { name: 'team', scope: 'Team', shared: false }
const SITE = { name: 'site', scope: 'Site', shared: true }

const OPERATIONS = {
  look: { category: 'read', cost: 1 },
  load: { category: 'read', cost: 4 },
  save: { category: 'write', cost: 3 },
  ping: { category: 'write', cost: 0 },
}

/** Limits that a handful of requests fill, longer windows a little larger. */
function tight(policy: Pick<Policy, 'windows' | 'categories' | 'layers'>): LimitTable {
  const limitOf = (layer: number, window: number): Limit => (window === 3 ? 'unlimited' : 8 + 6 * layer + 5 * window)
  return Object.fromEntries(
    policy.layers.map(({ name }, layer) => [
      name,
      Object.fromEntries(
        policy.categories.map((category) => [
          category,
          Object.fromEntries(policy.windows.map(({ label }, window) => [label, limitOf(layer, window)])),
        ]),
      ),
    ]),
  )
}

function scene(name: string, shape: Pick<Policy, 'windows' | 'layers'>, subjects: readonly Subject[]): Scene {
  const full = { ...shape, categories: ['read', 'write'] }
  return { name, policy: { ...full, operations: OPERATIONS, base: tight(full) }, subjects }
}

/** The default shape, the least, and many windows and layers. */
export const SCENES: readonly Scene[] = [
  scene(
    'personal and site, 1h 5h 1d',
    {
      windows: [
        { label: '1h', lengthMs: 3_600_000 },
        { label: '5h', lengthMs: 18_000_000 },
        { label: '1d', lengthMs: 86_400_000 },
      ],
      layers: [PERSONAL, SITE],
    },
    ['a', 'b', '__proto__'],
  ),
  scene('personal, 1 second', { windows: [{ label: '1s', lengthMs: 1_000 }], layers: [PERSONAL] }, ['a', 'b']),
  scene(
    'personal, team and site, 1 second to 366 days',
    {
      windows: [
        { label: '1s', lengthMs: 1_000 },
        { label: '7s', lengthMs: 7_000 },
        { label: '1m', lengthMs: 60_000 },
        { label: '1h', lengthMs: 3_600_000 },
        { label: '366d', lengthMs: 366 * 86_400_000 },
      ],
      layers: [PERSONAL, TEAM, SITE],
    },
    [
      { personal: 'a', team: 'x' },
      { personal: 'b', team: 'x' },
      { personal: 'a', team: 'y' },
    ],
  ),
]

/** The member at an index that may be too large: the list goes round. */
export function pick<T>(list: readonly T[], index: number): T {
  const member = list[index % list.length]
  if (member === undefined) throw new RangeError('an empty list')
  return member
}
