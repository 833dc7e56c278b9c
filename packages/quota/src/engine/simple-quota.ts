import type { Decision } from '../decision/decision.ts'
import { type Check, type Checks, optional, where, withDefault } from '../options/checks.ts'
import { optionsParser, refusedOptions } from '../options/options-parser.ts'
import type { Policy } from '../policy/policy.ts'
import { burstAbove } from '../policy/schema.ts'
import type { OneUnit, PolicyNames } from '../policy/units.ts'
import { aLimit, isLimit, nameCheck } from '../policy/values.ts'
import type { SyncStore } from '../store/quota-store.ts'
import type { SyncSettingsStore } from '../store/settings-store.ts'
import { type Burst, burstCheck } from '../windows/kinds/bucket.ts'
import { A_LENGTH, type Duration, isWindowLength, labelOf, millisecondsOf } from '../windows/kinds/rolling.ts'
import { quotaOf } from './engine.ts'
import {
  type FailurePolicy,
  failurePolicyCheck,
  type QuotaOptions,
  type SharedOptions,
  sharedChecks,
} from './options.ts'
import type { Quota, QuotaInTransaction, SyncQuota } from './quota.ts'
import type {
  HeldReservation,
  QuotaRequest,
  Reservation,
  ReserveRequest,
  RunResult,
  SyncReservation,
} from './requests.ts'

/** The options of {@link simpleQuota}: one limit, and most options of {@link createQuota}. */
export interface SimpleQuotaOptions extends Omit<QuotaOptions, 'policy' | 'failurePolicy'> {
  /** Requests per subject and window, from 0 to 10^11. If requests set their `cost`, tokens. 0 blocks all requests. */
  readonly limit: number
  /** The length of a window. It opens with the subject's first admitted request. */
  readonly per: Duration
  /**
   * Makes the limit a token bucket, which refills continuously up to this many tokens: 1 to the limit, or a share, `{
   * share: 0.2 }`.
   *
   * @default none: a window, which resets when it ends
   */
  readonly burst?: Burst | undefined
  /**
   * The limiter's name, for example `"login"`. Limiters with different names never share a counter in a store. Header
   * fields and decisions show the name. 1 to 32 of `A-Z a-z 0-9 _ -`.
   *
   * @default 'personal'
   */
  readonly name?: string | undefined
  /**
   * What happens while the store is unavailable.
   *
   * @default 'closed'
   */
  readonly failurePolicy?: FailurePolicy | undefined
}

/** Options of an engine with synchronous stores. */
export interface SyncSimpleQuotaOptions extends SimpleQuotaOptions {
  readonly store?: SyncStore | undefined
  readonly settingsStore?: SyncSettingsStore | undefined
}

interface ParsedSimpleOptions extends SharedOptions {
  readonly limit: number
  readonly per: Duration
  readonly burst?: Burst | undefined
  readonly name?: string | undefined
  readonly failurePolicy: FailurePolicy
}

const OPERATION: SimpleOperation = 'request'

const THE_LIMIT = 'use `limit`'
const THE_WINDOW = 'use `per`, for example "15m"'
const THE_BURST = 'use `burst` for how many can be used together; `limit` come back per `per`, evenly'
const THE_NAME = 'use `name` for the counters; the prefix of all keys is an option of the store'
const WORDS: Readonly<Record<string, string>> = {
  max: THE_LIMIT,
  points: THE_LIMIT,
  limits: THE_LIMIT,
  tokensPerInterval: THE_LIMIT,
  windowMs: THE_WINDOW,
  window: THE_WINDOW,
  timeWindow: THE_WINDOW,
  duration: THE_WINDOW,
  interval: THE_WINDOW,
  capacity: THE_BURST,
  maxTokens: THE_BURST,
  rate: THE_BURST,
  refill: THE_BURST,
  refillRate: THE_BURST,
  policy: 'to use your own policy, call createQuota({ policy })',
  passOnStoreError: 'use `failurePolicy`',
  skipOnError: 'use `failurePolicy`',
  insuranceLimiter: 'use `failurePolicy`',
  windows: 'for several windows, use createQuota({ policy })',
  keyPrefix: THE_NAME,
  prefix: THE_NAME,
  operations: 'for several operations, use createQuota({ policy })',
  base: THE_LIMIT,
}

const parse = /* @__PURE__ */ optionsParser<ParsedSimpleOptions>('simpleQuota()', simpleChecks, { words: WORDS })

function simpleChecks(): Checks<ParsedSimpleOptions> {
  return {
    limit: where<number>((value) => value !== 'unlimited' && isLimit(value), aLimit()),
    per: durationCheck(),
    burst: optional(burstCheck()),
    name: optional(nameCheck()),
    failurePolicy: withDefault(failurePolicyCheck(), 'closed'),
    ...sharedChecks(),
  }
}

function durationCheck(): Check<Duration> {
  return where<Duration>(isWindowLength, `${A_LENGTH} (for months use createQuota(), every: "month")`)
}

/**
 * Makes a quota engine with one limit per subject. Its policy is in `quota.policy`. Extend that for {@link createQuota}
 * when one limit is no longer enough.
 *
 * @throws {QuotaError} `invalid_options` naming every fault; `store_mismatch`
 * @example
 * const quota = simpleQuota({ limit: 100, per: '15m' })
 * const decision = await quota.consume({ subject: 'u42' })
 * if (!decision.allowed) console.log(`wait ${decision.retryAfterSeconds} s`)
 */
export function simpleQuota(options: SyncSimpleQuotaOptions): SyncSimpleQuota
export function simpleQuota(options: SimpleQuotaOptions): SimpleQuota
export function simpleQuota(options: SimpleQuotaOptions): SimpleQuota {
  const { limit, per, burst, name, failurePolicy, ...shared } = parse(options)
  if (limit > 0 && Number(burst) > limit)
    throw refusedOptions('simpleQuota()', [{ path: 'burst', message: burstAbove(limit) }])
  const policy = policyOf(name ?? 'personal', limit, millisecondsOf(per), burst)
  const quota = quotaOf({ ...shared, policy, failurePolicy: { all: failurePolicy } }, name === undefined)
  return Object.assign(quota, { operation: OPERATION }) as SimpleQuota
}

function policyOf(
  name: string,
  limit: number,
  lengthMs: number,
  burst: Burst | undefined,
): Policy<SimpleOperation, OneUnit> {
  const label = labelOf(lengthMs)
  return {
    windows: [burst === undefined ? { label, lengthMs } : { label, lengthMs, burst }],
    categories: ['all'],
    layers: [{ name, scope: name, shared: false }],
    operations: { [OPERATION]: { category: 'all', cost: 1 } },
    base: { [name]: { all: { [label]: limit } } },
  }
}

/** The operation of {@link simpleQuota}. */
type SimpleOperation = 'request'

/** The units and names of {@link simpleQuota}. */
type SimpleCounting = OneUnit<'tokens', SimpleNames>
interface SimpleNames extends PolicyNames {
  readonly subject: string
}

/** A request that may omit the operation, because there is only one. */
type Unnamed<Request extends QuotaRequest<SimpleOperation, SimpleCounting>> = Omit<Request, 'operation'> & {
  readonly operation?: SimpleOperation | undefined
}

// It also accepts requests with any operation, so that it is assignable to any engine with `request`.
type SimpleRequest = Unnamed<QuotaRequest<SimpleOperation, SimpleCounting>> | QuotaRequest<SimpleOperation, OneUnit>
type SimpleReserveRequest =
  | Unnamed<ReserveRequest<SimpleOperation, SimpleCounting>>
  | ReserveRequest<SimpleOperation, OneUnit>

/** An engine with one limit and one operation, `request`, which requests may omit. */
export interface SimpleQuota extends Quota<SimpleOperation, SimpleCounting> {
  /** The operation that middleware charges by default. */
  readonly operation: SimpleOperation
  consume(request: SimpleRequest): Promise<Decision<SimpleCounting>>
  peek(request: SimpleRequest): Promise<Decision<SimpleCounting>>
  reserve(request: SimpleReserveRequest): Promise<Reservation<SimpleCounting>>
  run<T>(
    request: SimpleReserveRequest,
    work: (reservation: HeldReservation<SimpleCounting>) => T | PromiseLike<T>,
  ): Promise<RunResult<T, SimpleCounting>>
  inTransaction(transaction: unknown): QuotaInTransaction<SimpleOperation, SimpleCounting> & {
    consume(request: SimpleRequest): Promise<Decision<SimpleCounting>>
  }
}

/** The same with synchronous stores. */
export interface SyncSimpleQuota extends SimpleQuota, Omit<SyncQuota<SimpleOperation, SimpleCounting>, keyof Quota> {
  readonly sync: true
  consumeSync(request: SimpleRequest): Decision<SimpleCounting>
  peekSync(request: SimpleRequest): Decision<SimpleCounting>
  reserveSync(request: SimpleReserveRequest): SyncReservation<SimpleCounting>
}
