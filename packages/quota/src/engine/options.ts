import * as z from 'zod'
import { faultyDocument } from '../errors/quota-error.ts'
import { parseOptions } from '../policy/options.ts'
import type { Policy } from '../policy/policy.ts'
import { policyFaults } from '../policy/schema.ts'
import type { FactorStore } from '../store/factor-store.ts'
import type { QuotaStore } from '../store/quota-store.ts'
import type { SettingsStore } from '../store/settings-store.ts'
import { type Clock, type Stopwatch, systemStopwatch } from '../time/clock.ts'

/**
 * What happens to requests of a category when the store does not answer.
 *
 * - `closed`: the call throws `quota_unavailable`.
 * - `{ local: { expectedProcesses } }`: this process spends its share of what the store last said was left of each
 *   window, `floor(remainder / expectedProcesses)` once for each opening of a window; a request beyond that, or in a
 *   window that was not seen open, throws `quota_unavailable`. With n processes cut off at most the limit plus their
 *   shares is admitted. What was spent is posted to the store when it answers again.
 * - `open`: the request is admitted uncounted.
 *
 * Admitted without the store, a decision has `source: 'fallback'`.
 */
export type FailurePolicy = 'closed' | 'open' | { readonly local: { readonly expectedProcesses: number } }

/** What {@link createQuota} takes. */
export interface QuotaOptions<Operation extends string = string> {
  /** Windows, categories, layers, operations and base limits; `defaultPolicy()` is a start. */
  readonly policy: Policy<Operation>
  /**
   * Where the counters live.
   * @default `memoryStore()` with the engine's clock
   */
  readonly store?: QuotaStore | undefined
  /**
   * Where the settings live.
   * @default `memorySettings()`
   */
  readonly settingsStore?: SettingsStore | undefined
  /**
   * Where the factor of mode `adaptive` lives; an `adaptiveTicker` moves it. Until it was read, it is 1.
   * @default none: the mode is refused
   */
  readonly adaptive?: { readonly factor: FactorStore } | undefined
  /**
   * What happens when the store does not answer, by category.
   * @default `closed` for every category
   */
  readonly failurePolicy?: Readonly<Record<string, FailurePolicy>> | undefined
  /**
   * How long a reservation's id is kept after its last use, in milliseconds; must exceed the longest work.
   * @default 600_000 (10 minutes)
   */
  readonly idTtlMs?: number | undefined
  /**
   * Where the time comes from for what no store is asked; counters go by their store's clock.
   * @default the machine's clock
   */
  readonly clock?: Clock | undefined
  /**
   * Makes the nonce that tells the holders of one reservation id apart.
   * @default `crypto.randomUUID`
   */
  readonly createNonce?: (() => string) | undefined
  /**
   * Measures how long decisions take, for the event `decided`.
   * @default `performance.now`
   */
  readonly stopwatch?: Stopwatch | undefined
}

function having<T>(methods: readonly string[], what: string): z.ZodCustom<T, T> {
  const has = (value: unknown): boolean =>
    typeof value === 'object' &&
    value !== null &&
    methods.every((method) => typeof (value as Record<string, unknown>)[method] === 'function')
  return z.custom<T>(has, {
    error: `expected ${what}: an object with ${methods.map((name) => `${name}()`).join(', ')}`,
  })
}

function func<T>(): z.ZodCustom<T, T> {
  return z.custom<T>((value) => typeof value === 'function', { error: 'expected a function' })
}

/** Options after their check, defaults filled in. */
export type ParsedOptions = Omit<QuotaOptions, 'failurePolicy' | 'idTtlMs' | 'createNonce' | 'stopwatch'> & {
  readonly failurePolicy: Readonly<Record<string, FailurePolicy>>
  readonly idTtlMs: number
  readonly createNonce: () => string
  readonly stopwatch: Stopwatch
}

const schema: z.ZodType<Omit<ParsedOptions, 'policy'> & { readonly policy?: unknown }> = z.strictObject({
  policy: z.unknown(),
  store: having<QuotaStore>(['attach', 'take', 'read', 'settle', 'reset'], 'a quota store').optional(),
  settingsStore: having<SettingsStore>(
    ['read', 'write', 'readSubject', 'writeSubject', 'watch'],
    'a settings store',
  ).optional(),
  adaptive: z
    .strictObject({ factor: having<FactorStore>(['read', 'compareAndSet', 'watch'], 'a factor store') })
    .optional(),
  failurePolicy: z
    .record(
      z.string(),
      z.union(
        [
          z.enum(['closed', 'open']),
          z.strictObject({ local: z.strictObject({ expectedProcesses: z.int().min(1).max(100_000) }) }),
        ],
        { error: 'expected closed, open, or { local: { expectedProcesses } } with 1 to 100000 processes' },
      ),
    )
    .default({}),
  idTtlMs: z.int().min(1_000).max(86_400_000).default(600_000),
  clock: having<Clock>(['now'], 'a clock').optional(),
  createNonce: func<() => string>().default(() => () => crypto.randomUUID()),
  stopwatch: func<Stopwatch>().default(() => systemStopwatch),
})

/** @throws {QuotaError} `invalid_options`, `invalid_policy`, naming every fault */
export function parseQuotaOptions(options: QuotaOptions): ParsedOptions {
  const parsed = parseOptions('createQuota()', schema, options)
  const faults = policyFaults(parsed.policy)
  if (faults.length > 0) throw faultyDocument('invalid_policy', 'policy', faults)
  const policy = structuredClone(parsed.policy) as Policy
  const strangers = Object.keys(parsed.failurePolicy).filter((category) => !policy.categories.includes(category))
  if (strangers.length > 0) {
    const message = `not a category; the policy has ${policy.categories.join(', ')}`
    const faultsOfStrangers = strangers.map((category) => ({ path: `failurePolicy.${category}`, message }))
    throw faultyDocument('invalid_options', 'options of createQuota()', faultsOfStrangers)
  }
  return { ...parsed, policy }
}
