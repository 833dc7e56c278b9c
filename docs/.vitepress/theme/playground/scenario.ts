import * as v from 'valibot'

/** Whose a limit is: each user's, each team's, or everybody's together. */
export const WHOSE = ['user', 'team', 'everybody'] as const
/** What kinds of limits there are, as the list of them shows them. */
export const KINDS = ['window', 'bucket', 'calendar', 'at once'] as const
export const UNITS = ['requests', 'tokens', 'usd'] as const
export const PERIODS = ['hour', 'day', 'week', 'month', 'year'] as const
export const CATEGORIES = ['', 'read', 'write'] as const
export const SUBJECTS = ['ann', 'bob', 'cleo', 'dan'] as const

/** Requests per hour that a slider offers, from its left end to its right one. */
export const RATES: readonly number[] = [0, 1, 2, 4, 6, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 360, 600]

/** What a second of the reader is, in milliseconds of the playground. */
export const SPEEDS: readonly (readonly [number, string])[] = [
  [1_000, '1 second'],
  [10_000, '10 seconds'],
  [60_000, '1 minute'],
  [600_000, '10 minutes'],
  [3_600_000, '1 hour'],
]

export const MOST = { limits: 8, operations: 4, streams: 4, seed: 999_999, seconds: 86_400 } as const

/** What a field holds: texts, so that a field keeps what was typed, right or wrong. */
const text = v.pipe(v.string(), v.maxLength(32))

const limitSchema = v.strictObject({
  name: text,
  whose: v.picklist(WHOSE),
  kind: v.picklist(KINDS),
  amount: text,
  /** Not of limits at once. */
  unit: v.picklist(UNITS),
  /** Of windows and buckets, for example `15m`. */
  per: text,
  /** Of buckets. */
  burst: text,
  /** Of calendar limits. */
  every: v.picklist(PERIODS),
  /** An operation, a category, or empty: all. */
  for: text,
})

const operationSchema = v.strictObject({
  name: text,
  category: v.picklist(CATEGORIES),
  /** Prices, in the units that limits count. */
  tokens: text,
  usd: text,
  /** How long it takes: so long it counts in limits at once. */
  seconds: text,
})

const streamSchema = v.strictObject({
  subject: v.picklist(SUBJECTS),
  /** Index into `operations`. */
  operation: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MOST.operations - 1)),
  perHour: v.picklist(RATES),
})

/** What the playground plays, and an address carries: strict, since anybody may have written the address. */
export const scenarioSchema = v.strictObject({
  limits: v.pipe(v.array(limitSchema), v.minLength(1), v.maxLength(MOST.limits)),
  /** None: each request is the same operation. */
  operations: v.pipe(v.array(operationSchema), v.maxLength(MOST.operations)),
  /** Who sends which requests, and how often. */
  streams: v.pipe(v.array(streamSchema), v.minLength(1), v.maxLength(MOST.streams)),
  speedMs: v.picklist(SPEEDS.map(([ms]) => ms)),
  /** What the random times of requests follow from; 0: each stream sends at even intervals. */
  seed: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MOST.seed)),
})

export type Scenario = v.InferOutput<typeof scenarioSchema>
export type Limit = Scenario['limits'][number]
export type Operation = Scenario['operations'][number]
export type Stream = Scenario['streams'][number]

/** The team that a person is in. */
export function teamOf(name: string): string {
  return name === 'ann' || name === 'bob' ? 'red' : 'blue'
}

/** Who pays for what a person requests, in the layers that have limits. */
export function subjectOf({ limits }: Scenario, name: string): string | Record<string, string> {
  const layers = new Set(limits.map(({ whose }) => whose))
  if (!layers.has('team')) return name
  return layers.has('user') ? { user: name, team: teamOf(name) } : teamOf(name)
}

/** The operation of a place; `undefined`: the policy names none. Places come from addresses, too. */
export function operationAt({ operations }: Scenario, index: number): Operation | undefined {
  return operations[index] ?? operations[0]
}

/** How long an operation takes, in milliseconds; 0: it is over immediately. */
export function durationMs(operation: Operation | undefined): number {
  return 1_000 * Number(operation?.seconds || 0)
}

export function copyOf(scenario: Scenario): Scenario {
  return JSON.parse(JSON.stringify(scenario)) as Scenario
}
