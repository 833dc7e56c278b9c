import * as v from 'valibot'

/** Lengths that a window of the playground may have, by their label. */
export const LENGTHS_MS: Readonly<Record<string, number>> = {
  '1m': 60_000,
  '15m': 900_000,
  '1h': 3_600_000,
  '5h': 18_000_000,
  '1d': 86_400_000,
  '7d': 604_800_000,
}

/** Requests an hour that a slider offers, from its left end to its right one. */
export const RATES: readonly number[] = [0, 1, 2, 4, 6, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 360, 600]

/** How long one second of the person who looks is, in milliseconds of the playground. */
export const SPEEDS: readonly (readonly [number, string])[] = [
  [1_000, '1 second'],
  [10_000, '10 seconds'],
  [60_000, '1 minute'],
  [600_000, '10 minutes'],
  [3_600_000, '1 hour'],
]

/** Shares of a limit that a bucket can save up; 0: a window, which gives everything back at its end. */
export const BURSTS: readonly number[] = [0, 0.1, 0.2, 0.5, 1]

export const CATEGORIES = ['read', 'write'] as const
export type Category = (typeof CATEGORIES)[number]

/** What a window may count. */
export const UNITS = ['tokens', 'requests', 'cents'] as const
export type Unit = (typeof UNITS)[number]

export const MOST = {
  windows: 3,
  operations: 4,
  streams: 4,
  tokens: 1_000_000_000,
  cost: 1_000_000,
  seed: 999_999,
} as const

const limit = v.nullable(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MOST.tokens)))
const limits = v.strictObject({
  read: v.pipe(v.array(limit), v.maxLength(MOST.windows)),
  write: v.pipe(v.array(limit), v.maxLength(MOST.windows)),
})
const price = v.pipe(
  v.number('a price is a whole number'),
  v.integer('a price is a whole number'),
  v.minValue(0, 'a price is 0 or more'),
  v.maxValue(MOST.cost, `a price is at most ${MOST.cost}`),
)
const unique = (values: string[]): boolean => new Set(values).size === values.length

/** What the playground plays, and an address carries: strict, so that no address from elsewhere brings anything else. */
export const scenarioSchema = v.pipe(
  v.strictObject({
    /** Labels of {@link LENGTHS_MS}. */
    windows: v.pipe(
      v.array(v.picklist(Object.keys(LENGTHS_MS), 'a window has one of the lengths offered')),
      v.minLength(1),
      v.maxLength(MOST.windows),
      v.check(unique, 'two windows have the same length'),
    ),
    /** What each window counts. Older addresses have none: tokens. */
    units: v.optional(v.pipe(v.array(v.picklist(UNITS)), v.maxLength(MOST.windows)), []),
    /** The burst of each. Older addresses have none: windows. */
    bursts: v.optional(v.pipe(v.array(v.picklist(BURSTS)), v.maxLength(MOST.windows)), []),
    /** Limits by category, one a window; `null`: unlimited. */
    user: limits,
    /** Of each team, and of all subjects together; `null`: there is no such layer. Older addresses have no team. */
    team: v.optional(v.nullable(limits), null),
    site: v.nullable(limits),
    operations: v.pipe(
      v.array(
        v.strictObject({
          name: v.pipe(
            v.string(),
            v.regex(/^(?!__proto__$)[A-Za-z0-9_.:-]{1,32}$/, 'a name is 1 to 32 of A-Z a-z 0-9 _ . : -'),
          ),
          category: v.picklist(CATEGORIES),
          /** In tokens. */
          cost: price,
          cents: v.optional(price, 0),
        }),
      ),
      v.minLength(1),
      v.maxLength(MOST.operations),
      v.check((all) => unique(all.map(({ name }) => name)), 'two operations have the same name'),
      v.check(
        (all) => all.every(({ name, category }) => name === category || !CATEGORIES.some((each) => each === name)),
        'an operation that is named like a category is in it',
      ),
    ),
    /** Who requests what, how often. */
    streams: v.pipe(
      v.array(
        v.strictObject({
          subject: v.pipe(v.string(), v.regex(/^[a-z]{1,12}$/)),
          /** Index into `operations`. */
          operation: v.pipe(v.number(), v.integer(), v.minValue(0)),
          perHour: v.picklist(RATES),
        }),
      ),
      v.minLength(1),
      v.maxLength(MOST.streams),
      v.check((all) => unique(all.map(({ subject }) => subject)), 'two streams have the same subject'),
    ),
    speedMs: v.picklist(SPEEDS.map(([ms]) => ms)),
    /** What the random times of requests follow from; 0: each stream asks at even distances. */
    seed: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MOST.seed)), 0),
  }),
  v.check(
    ({ operations, streams }) => streams.every(({ operation }) => operation < operations.length),
    'a stream asks for an operation that is there',
  ),
  v.check(
    ({ windows, user, team, site }) =>
      [user, team ?? user, site ?? user].every((table) =>
        CATEGORIES.every((each) => table[each].length === windows.length),
      ),
    'there is one limit for each window',
  ),
  v.transform((scenario) => ({
    ...scenario,
    units: scenario.windows.map((_, at) => scenario.units[at] ?? 'tokens'),
    bursts: scenario.windows.map((_, at) => scenario.bursts[at] ?? 0),
  })),
)

export type Scenario = v.InferOutput<typeof scenarioSchema>
export type Operation = Scenario['operations'][number]
export type Limits = Scenario['user']
export type Stream = Scenario['streams'][number]

/** What a scenario lacks, in words; `undefined` when it can be played. */
export function faultOf(scenario: unknown): string | undefined {
  const checked = v.safeParse(scenarioSchema, scenario)
  return checked.success ? undefined : checked.issues[0].message
}

export const SUBJECTS = ['ann', 'bob', 'cleo', 'dan'] as const

/** The categories that have operations. Limits of others count nothing. */
export function usedCategories({ operations }: Scenario): Category[] {
  return CATEGORIES.filter((each) => operations.some(({ category }) => category === each))
}

/** The units that the windows of a scenario count. */
export function countedIn({ units }: Scenario): Unit[] {
  return UNITS.filter((unit) => units.includes(unit))
}

/** What an operation costs in each of them. */
export function costsOf(scenario: Scenario, { cost, cents }: Operation): Partial<Record<Unit, number>> {
  const all = { tokens: cost, requests: 1, cents }
  return Object.fromEntries(countedIn(scenario).map((unit) => [unit, all[unit]]))
}

/** Whether an operation costs nothing of what the windows count. */
export function isFree(scenario: Scenario, operation: Operation): boolean {
  return Object.values(costsOf(scenario, operation)).every((amount) => amount === 0)
}

/** The name of a limit: whose it is, what it counts, and for how long. */
export function limitName(whose: string, category: Category, per: string): string {
  return `${whose}-${category}-${per}`
}

/** The team that a person is in. */
export function teamOf(name: string): string {
  return name === 'ann' || name === 'bob' ? 'red' : 'blue'
}

/** The default policy, an upload that is dear, and two people who want more than they may have. */
export function defaultScenario(): Scenario {
  return {
    windows: ['1h', '5h', '1d'],
    units: ['tokens', 'tokens', 'requests'],
    bursts: [0, 0, 0],
    user: { read: [120, 400, 1_200], write: [60, 200, 600] },
    team: { read: [300, 1_000, 3_000], write: [150, 500, 1_500] },
    site: { read: [3_000, 10_000, 36_000], write: [1_500, 5_000, 18_000] },
    operations: [
      { name: 'search', category: 'read', cost: 4, cents: 0 },
      { name: 'upload', category: 'write', cost: 15, cents: 0 },
    ],
    streams: [
      { subject: 'ann', operation: 1, perHour: 10 },
      { subject: 'bob', operation: 0, perHour: 45 },
    ],
    speedMs: 60_000,
    seed: 0,
  }
}
