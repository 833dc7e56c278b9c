import {
  aClock,
  aFunction,
  type Check,
  group,
  having,
  objectWhere,
  optional,
  tableOf,
  where,
  wholeNumber,
  withDefault,
} from '../options/checks.ts'
import { faultsOf, fits, noSuchName, within } from '../options/faults.ts'
import { aLogger, type QuotaLogger } from '../options/logger.ts'
import { optionsParser, refusedOptions } from '../options/options-parser.ts'
import type { Policy } from '../policy/policy.ts'
import { DEFAULT_THRESHOLDS, thresholdsCheck } from '../policy/rules.ts'
import type { Threshold } from '../policy/settings.ts'
import { type Counting, unitNames } from '../policy/units.ts'
import type { FactorStore } from '../store/factor-store.ts'
import type { QuotaStore } from '../store/quota-store.ts'
import type { SettingsStore } from '../store/settings-store.ts'
import { type Clock, type Stopwatch, systemStopwatch } from '../time/clock.ts'
import type { Calendar } from '../windows/kinds/calendar.ts'

/**
 * What happens to requests while the store is unavailable. Decisions without the store have `source:
 * 'fallback'`.
 *
 * - `closed`: the call throws `quota_unavailable`.
 * - `{ local: { expectedProcesses } }`: this process may spend its share of what the store last reported as remaining,
 *   `floor(remaining / expectedProcesses)`, once per opening of a window. Beyond that it throws `quota_unavailable`,
 *   and also for windows that it hasn't seen open. With n processes cut off, at most the limit plus their shares is
 *   admitted. When the store is back, it is charged for what was spent.
 * - `open`: the request is admitted and not counted.
 */
export type FailurePolicy = 'closed' | 'open' | { readonly local: { readonly expectedProcesses: number } }

/** The options of {@link createQuota}. */
export interface QuotaOptions<Operation extends string = string, C extends Counting = Counting> {
  /** The rules: `definePolicy()`, or write its members here. */
  readonly policy: Policy<Operation, C>
  /**
   * Stores the counters.
   *
   * @default `memoryStore()` with the engine's clock
   */
  readonly store?: QuotaStore | undefined
  /**
   * Stores the settings.
   *
   * @default `memorySettings()`
   */
  readonly settingsStore?: SettingsStore | undefined
  /**
   * The store of the adaptive factor, which an `adaptiveTicker` moves. The factor counts as 1 until it has been read.
   *
   * @default none: mode `adaptive` is rejected
   */
  readonly adaptive?: { readonly factor: FactorStore } | undefined
  /**
   * What happens while the store is unavailable, by operation or category.
   *
   * @default `closed`
   */
  readonly failurePolicy?: Readonly<Record<string, FailurePolicy>> | undefined
  /**
   * The deadline of a call in milliseconds. After it, the failure policy decides. A store with its own deadline, such
   * as Redis, uses that.
   *
   * @default the store's own, else 1000
   */
  readonly deadlineMs?: number | undefined
  /**
   * How long a reservation's id is kept after its last use, in milliseconds. It must be longer than the longest work.
   *
   * @default 600_000 (10 minutes)
   */
  readonly idTtlMs?: number | undefined
  /**
   * The lifetime of holds whose requests don't set one, in milliseconds. Used for operations that need a slot.
   *
   * @default 60_000
   */
  readonly holdTtlMs?: number | undefined
  /**
   * The longest `ttlMs` of a hold, in milliseconds.
   *
   * @default 86_400_000 (24 hours)
   */
  readonly maxTtlMs?: number | undefined
  /**
   * The most open holds per subject.
   *
   * @default 1_000
   */
  readonly maxHolds?: number | undefined
  /**
   * Computes the periods of calendar windows: `luxonCalendar()` of `@scoregw/quota/calendar`.
   *
   * @default none: a policy with such windows is `calendar_missing`
   */
  readonly calendar?: Calendar | undefined
  /**
   * When limits count as near, for the event `nearLimit`: from a share of the limit (above 0, up to 1), or when at most
   * this much is left. With `unit`, only for limits of that unit. At most 8. Settings can replace them.
   *
   * @default [{ share: 0.8 }]
   */
  readonly thresholds?: readonly Threshold<C>[] | undefined
  /**
   * The engine's clock. A store in this process without its own clock uses it too. Counters on a server use the
   * server's clock.
   *
   * @default the store's clock, else the machine's
   */
  readonly clock?: Clock | undefined
  /**
   * Makes the nonces that identify the holders of reservation ids. Each must be new and impossible to guess.
   *
   * @default `crypto.randomUUID` for holds; for other reservations, a number after a random prefix
   */
  readonly createNonce?: (() => string) | undefined
  /**
   * Receives errors and warnings for operators; `false`: no logs. Errors: why the store is unavailable and what callers
   * get, at most once per minute and cause. They are not logged while `degraded` has a listener. Warnings: the store is
   * back; unknown plans, unless `unknownPlan` has a listener; a price above a limit, once.
   *
   * @default the console
   */
  readonly logger?: QuotaLogger | false | undefined
  /**
   * The stopwatch for the event `decided`.
   *
   * @default `performance.now`
   */
  readonly stopwatch?: Stopwatch | undefined
}

/** Checked options, with defaults. */
export type ParsedQuotaOptions = Omit<
  QuotaOptions,
  'failurePolicy' | 'idTtlMs' | 'stopwatch' | 'logger' | 'holdTtlMs' | 'maxTtlMs' | 'maxHolds' | 'thresholds'
> & {
  readonly failurePolicy: Readonly<Record<string, FailurePolicy>>
  readonly idTtlMs: number
  readonly holdTtlMs: number
  readonly maxTtlMs: number
  readonly maxHolds: number
  readonly thresholds: readonly Threshold[]
  readonly stopwatch: Stopwatch
  readonly logger: QuotaLogger
}

/** The longest that `maxTtlMs` can allow, in milliseconds: 31 days. */
const MAX_TTL_MS = 31 * 86_400_000

function failurePolicyCheck(): Check<FailurePolicy> {
  const what = '"closed", "open", or { local: { expectedProcesses } } with 1 to 100000'
  const local = group({ local: group({ expectedProcesses: wholeNumber(1, 100_000) }) })
  return where<FailurePolicy>((value) => value === 'closed' || value === 'open' || fits(local, value), what)
}

const OF_POLICY = 'it is a member of the policy: write all of them here, with `limits`, or pass one as `policy`'

const parse = /* @__PURE__ */ optionsParser<ParsedQuotaOptions>(
  'createQuota()',
  () => ({
    policy: objectWhere<Policy>(
      (value) => ['limits', 'layers', 'operations'].every((name) => Object.hasOwn(value, name)),
      'a policy from definePolicy(), or `limits` by name',
    ),
    failurePolicy: withDefault(
      tableOf(failurePolicyCheck(), 'an object by operation or category, { read: "open" }'),
      {},
    ),
    store: optional(
      objectWhere<QuotaStore>(isStore, 'a quota store, for example memoryStore() or redisStore({ client })'),
    ),
    settingsStore: optional(
      having<SettingsStore>(['read', 'write', 'readSubject', 'writeSubject', 'watch'], 'a settings store'),
    ),
    adaptive: optional(group({ factor: having<FactorStore>(['read', 'compareAndSet', 'watch'], 'a factor store') })),
    deadlineMs: optional(wholeNumber(10, 60_000, 'milliseconds')),
    idTtlMs: withDefault(wholeNumber(1_000, 86_400_000, 'milliseconds'), 600_000),
    holdTtlMs: withDefault(wholeNumber(1, MAX_TTL_MS, 'milliseconds'), 60_000),
    maxTtlMs: withDefault(wholeNumber(1_000, MAX_TTL_MS, 'milliseconds'), 86_400_000),
    maxHolds: withDefault(wholeNumber(1, 100_000), 1_000),
    thresholds: withDefault(thresholdsCheck(), DEFAULT_THRESHOLDS),
    calendar: optional(having<Calendar>(['periods', 'isTimeZone'], 'a calendar, for example luxonCalendar()')),
    clock: optional(aClock()),
    createNonce: optional(aFunction<() => string>()),
    stopwatch: withDefault(aFunction<Stopwatch>(), systemStopwatch),
    logger: aLogger(),
  }),
  { words: { operations: OF_POLICY, plans: OF_POLICY, unit: OF_POLICY, titles: OF_POLICY, answers: OF_POLICY } },
)

function isStore(value: object): boolean {
  const { sync, open } = value as { sync?: unknown; open?: unknown }
  return typeof sync === 'boolean' && typeof open === 'function'
}

/** @throws {QuotaError} `invalid_options`, `invalid_policy`, naming every fault */
export function parseQuotaOptions(options: QuotaOptions): ParsedQuotaOptions {
  const parsed = parse(options)
  const { policy } = parsed
  if (policy.answers !== undefined && typeof policy.answers !== 'function') {
    const message = 'expected a function, for example neutralAnswers()'
    throw refusedOptions('createQuota()', [{ path: 'policy.answers', message }])
  }
  const ofThresholds = faultsOf(thresholdsCheck(unitNames(policy)), parsed.thresholds)
  if (ofThresholds.length > 0) throw refusedOptions('createQuota()', within('thresholds', ofThresholds))
  const { operations } = policy
  const names = [
    ...new Set([...Object.keys(operations), ...Object.values(operations).flatMap(({ category }) => category ?? [])]),
  ]
  const unknown = Object.keys(parsed.failurePolicy).filter((name) => !names.includes(name))
  if (unknown.length > 0) {
    const faults = unknown.map((name) => ({
      path: `failurePolicy.${name}`,
      message: `not an operation or category: ${noSuchName(name, names, 'the policy has')}`,
    }))
    throw refusedOptions('createQuota()', faults)
  }
  return { ...parsed, policy }
}
