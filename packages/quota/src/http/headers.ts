import { retryAfterSeconds } from '../decision/decide.ts'
import {
  type Decision,
  type LimitStatus,
  listedLimits,
  type RefusedDecision,
  type UncountedLimit,
} from '../decision/decision.ts'
import { scarcestLimit } from '../decision/scarcest.ts'
import { type Amount, ofUnit } from '../policy/units.ts'
import { isoText } from '../time/zoned.ts'
import { SLOTS } from '../windows/identity.ts'

/** Names of the header fields of a 429, for CORS configurations that expose them. */
export const QUOTA_HEADER_NAMES = ['Retry-After', 'X-Quota-Reset', 'RateLimit', 'RateLimit-Policy'] as const

/** The draft version of the `RateLimit` fields. Both versions have the same syntax. */
export type StandardHeaders = 'draft-10' | 'draft-11'

/** Which limits the `RateLimit` fields name: the most restrictive one, or each. */
export type FieldsOption = 'one' | 'all'

/** The two fields of draft-ietf-httpapi-ratelimit-headers. */
export interface RateLimitFields {
  /** The value of `RateLimit-Policy`. */
  readonly policy: string
  /** The value of `RateLimit`. */
  readonly limit: string
}

/** Header fields by name. */
export type NamedFields = Readonly<Record<string, string>>

/**
 * Returns `Retry-After` (whole seconds) and `X-Quota-Reset` (ISO 8601 UTC) of a refusal. If waiting doesn't help, there
 * is no `Retry-After`, which would make clients repeat the request in vain.
 *
 * @param isAlways whether to send `Retry-After` all the same
 */
export function refusalHeaders(decision: RefusedDecision, isAlways = false): Record<string, string> {
  const { retryable, resetAt, now } = decision
  return {
    ...(retryable || isAlways ? { 'Retry-After': String(retryAfterSeconds(resetAt, now)) } : {}),
    'X-Quota-Reset': isoText(resetAt),
  }
}

/**
 * Returns the `RateLimit` fields of a decision; `undefined` if it counted no limit.
 *
 * @param more tokens charged since the decision; negative: refunded since
 */
export function rateLimitFields(
  decision: Decision,
  which: FieldsOption = 'one',
  more: Amount = 0,
  texts: LimitTexts = new LimitTexts(),
): RateLimitFields | undefined {
  if (which === 'all') return allFields(decision, more, texts)
  const named = decision.allowed ? scarcestLimit(decision, more) : refusing(decision)
  return named && { policy: texts.of(named).policy, limit: limitItem(named, decision, more, texts) }
}

/** The limit that the refusal reports, if it was counted. */
function refusing({ limits, refusedBy }: RefusedDecision): LimitStatus | undefined {
  const limit = limits[refusedBy.name]
  return limit !== undefined && limit.used !== null ? limit : undefined
}

function allFields(decision: Decision, more: Amount, texts: LimitTexts): RateLimitFields | undefined {
  const counted = listedLimits(decision.limits).filter(isCounted)
  if (counted.length === 0) return undefined
  const named = decision.allowed ? counted : counted.filter((limit) => refuses(decision, limit))
  return {
    policy: counted.map((limit) => texts.of(limit).policy).join(', '),
    limit: named.map((limit) => limitItem(limit, decision, more, texts)).join(', '),
  }
}

/** Whether the limit was counted and may be shown to callers: neither unlimited nor shadowed. */
function isCounted(limit: LimitStatus | UncountedLimit): limit is LimitStatus {
  return limit.limit !== 'unlimited' && limit.used !== null && limit.enforced
}

function refuses({ refusals }: RefusedDecision, { name }: LimitStatus): boolean {
  return refusals.some((refusal) => refusal.name === name)
}

/** Returns the rest of a limit after `more`. Concurrency slots don't change. */
function remainingOf({ kind, unit, limit, burst = limit, used, remaining }: LimitStatus, more: Amount): number {
  const added = ofUnit(more, unit)
  if (added === 0 || kind === 'concurrency') return remaining as number
  return Math.max(0, (burst as number) - Math.max(0, used + added))
}

/** A limit and its texts in the header fields. */
interface NamedLimit extends Pick<LimitStatus, 'limit' | 'burst' | 'lengthMs'> {
  /** The quoted name. It only has letters, digits and `. _ : / -`, so it needs no escapes (RFC 9651). */
  readonly name: string
  readonly policy: string
}

/** Builds the texts of limits. Caches the last limit, because most responses of a meter name the same one. */
export class LimitTexts {
  #last: NamedLimit | undefined

  of({ name: plain, unit, limit, burst, lengthMs }: LimitStatus): NamedLimit {
    const last = this.#last
    const name = `"${plain}"`
    if (last?.name === name && last.limit === limit && last.burst === burst && last.lengthMs === lengthMs) return last
    const lasts = lengthMs === null ? '' : `;w=${Math.ceil(lengthMs / 1000)}`
    const saved = burst === undefined ? '' : `;burst=${burst}`
    const policy = `${name};q=${limit}${unitText(unit)}${lasts}${saved}`
    this.#last = { limit, lengthMs, name, policy, ...(burst !== undefined && { burst }) }
    return this.#last
  }
}

/**
 * The parameter `qu`. Omitted for `requests`, the draft's default. The draft also registers `content-bytes` and
 * `concurrent-requests`. Other units keep their names, so that clients don't take them for requests.
 */
function unitText(unit: string): string {
  if (unit === 'requests') return ''
  return `;qu="${unit === SLOTS ? 'concurrent-requests' : unit}"`
}

/** When a refusing bucket has refilled enough for the request; for other limits, when they reset. */
function refillAt({ refusals }: RefusedDecision, { name, kind, resetAt }: LimitStatus): number | null {
  if (kind !== 'bucket') return resetAt
  const refusal = refusals.find((each) => each.name === name)
  return refusal?.retryable === true ? refusal.resetAt : resetAt
}

function limitItem(limit: LimitStatus, decision: Decision, more: Amount, texts: LimitTexts): string {
  const resetAt = decision.allowed ? limit.resetAt : refillAt(decision, limit)
  const seconds = resetAt === null ? undefined : Math.max(0, Math.ceil((resetAt - decision.now) / 1000))
  // `t` is never later than `Retry-After`. If waiting doesn't help, a later reset is left out.
  const isNamed =
    seconds !== undefined && (decision.allowed || seconds <= retryAfterSeconds(decision.resetAt, decision.now))
  return `${texts.of(limit).name};r=${remainingOf(limit, more)}${isNamed ? `;t=${seconds}` : ''}`
}

/**
 * Returns `RateLimit-Policy` and `RateLimit` of draft-ietf-httpapi-ratelimit-headers, versions 10 and 11.
 *
 * They name the limit that admits the fewest further requests with this cost; in a refusal, the one that it reports. With
 * `fields: 'all'`, `RateLimit-Policy` lists each limit. `RateLimit` also lists each, but in a refusal only those that
 * refuse. Unlimited, shadowed and uncounted limits are left out. If no limit remains, so are both fields.
 *
 * A concurrency limit has neither `w` nor `t`. A bucket has `burst` as a parameter of our own. Its `r` is what remains
 * of the burst, and its `t` is when the bucket is full again.
 */
export function rateLimitHeaders(
  decision: Decision,
  options: { readonly fields?: FieldsOption | undefined } = {},
): Record<string, string> {
  return namedFields(rateLimitFields(decision, options.fields))
}

/** Returns the fields by their header names. */
export function namedFields(fields: RateLimitFields | undefined): Record<string, string> {
  return fields === undefined ? {} : { 'RateLimit-Policy': fields.policy, RateLimit: fields.limit }
}

/**
 * Returns the older fields: `X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset`, in whole seconds
 * since the epoch. They name the limit that admits the fewest further requests, or the one that it reports. A refusal resets
 * when `Retry-After` ends. A window that isn't open has no reset. Neither has a concurrency limit.
 *
 * @param more see {@link rateLimitFields}
 */
export function legacyFields(decision: Decision, more: Amount = 0): NamedFields | undefined {
  const named = decision.allowed ? scarcestLimit(decision, more) : refusing(decision)
  if (named === undefined) return undefined
  const { resetAt } = decision.allowed ? named : decision
  return {
    'X-RateLimit-Limit': String(named.limit),
    'X-RateLimit-Remaining': String(remainingOf(named, more)),
    ...(resetAt !== null && { 'X-RateLimit-Reset': String(Math.ceil(resetAt / 1000)) }),
  }
}

/** Returns all header fields of a decision: those of a refusal, and the limits' fields if you enable them. */
export function quotaHeaders(
  decision: Decision,
  options: {
    readonly standardHeaders?: StandardHeaders | false | undefined
    readonly fields?: FieldsOption | undefined
    /** `X-RateLimit-Limit`, `-Remaining` and `-Reset`. */
    readonly legacyHeaders?: boolean | undefined
    /** Whether to send `Retry-After` even if waiting doesn't help. */
    readonly alwaysRetryAfter?: boolean | undefined
  } = {},
): Record<string, string> {
  const fields = decision.allowed ? {} : refusalHeaders(decision, options.alwaysRetryAfter)
  if (options.standardHeaders) Object.assign(fields, rateLimitHeaders(decision, options))
  return options.legacyHeaders === true ? Object.assign(fields, legacyFields(decision)) : fields
}
