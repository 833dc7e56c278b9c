import type { Decision, RefusedDecision, UncountedWindow, WindowStatus } from '../decision/decision.ts'
import { scarcestWindow } from '../decision/scarcest.ts'
import { type Amount, ofUnit } from '../policy/units.ts'
import { isoText } from '../time/zoned.ts'
import { SLOTS } from '../windows/units.ts'

/** Names of the header fields a 429 carries, for CORS configurations that expose them. */
export const QUOTA_HEADER_NAMES = ['Retry-After', 'X-Quota-Reset', 'RateLimit', 'RateLimit-Policy'] as const

/** The draft of the `RateLimit` fields; both names stand for the same syntax. */
export type StandardHeaders = 'draft-10' | 'draft-11'

/** Which limits the `RateLimit` fields name: the one that matters most, or each. */
export type FieldsOption = 'one' | 'all'

/** The two fields of draft-ietf-httpapi-ratelimit-headers. */
export interface RateLimitFields {
  /** `RateLimit-Policy`. */
  readonly policy: string
  /** `RateLimit`. */
  readonly limit: string
}

/** Fields by their names. */
export type NamedFields = Readonly<Record<string, string>>

/** `Retry-After` (whole seconds) and `X-Quota-Reset` (ISO 8601 UTC) of a refusal. */
export function refusalHeaders(decision: RefusedDecision): Record<string, string> {
  return { 'Retry-After': String(decision.retryAfterSeconds), 'X-Quota-Reset': isoText(decision.resetAt) }
}

/**
 * The `RateLimit` fields of a decision; `undefined` where no limit was counted.
 *
 * @param more what was charged since; negative: that went back
 */
export function rateLimitFields(
  decision: Decision,
  which: FieldsOption = 'one',
  more: Amount = 0,
  texts: LimitTexts = new LimitTexts(),
): RateLimitFields | undefined {
  if (which === 'all') return allFields(decision, more, texts)
  const window = decision.allowed ? scarcestWindow(decision, more) : bindingWindow(decision)
  return window && { policy: texts.of(window).policy, limit: limitItem(window, decision, more, texts) }
}

function bindingWindow({ windows, binding }: RefusedDecision): WindowStatus | undefined {
  return windows.find(({ layer, window }) => layer === binding.layer && window === binding.window)
}

function allFields(decision: Decision, more: Amount, texts: LimitTexts): RateLimitFields | undefined {
  const windows: readonly (WindowStatus | UncountedWindow)[] = decision.windows
  const counted = windows.filter(isCounted)
  if (counted.length === 0) return undefined
  const named = decision.allowed ? counted : counted.filter((window) => refuses(decision, window))
  return {
    policy: counted.map((window) => texts.of(window).policy).join(', '),
    limit: named.map((window) => limitItem(window, decision, more, texts)).join(', '),
  }
}

/** Whether a limit is one that callers may know of, and was counted. */
function isCounted(window: WindowStatus | UncountedWindow): window is WindowStatus {
  return window.limit !== 'unlimited' && window.used !== null && window.enforced
}

function refuses({ violations }: RefusedDecision, { layer, window }: WindowStatus): boolean {
  return violations.some((violation) => violation.layer === layer && violation.window === window)
}

/** What a window has left once more is charged; slots are left as they are. */
function remainingOf({ kind, unit, limit, burst = limit, used, remaining }: WindowStatus, more: Amount): number {
  const added = ofUnit(more, unit)
  if (added === 0 || kind === 'concurrency') return remaining as number
  return Math.max(0, (burst as number) - Math.max(0, used + added))
}

/** A limit, and its texts. */
interface NamedLimit {
  readonly layer: string
  readonly window: string
  readonly unit: string | undefined
  readonly limit: number | 'unlimited'
  readonly burst: number | 'unlimited' | undefined
  readonly lengthMs: number | null
  /** The name, quoted: of `A-Z a-z 0-9 _ -`, so that it needs no escapes (RFC 9651). */
  readonly name: string
  readonly policy: string
}

/** Makes the texts of limits. Keeps those of the last one, which most responses of a meter name again. */
export class LimitTexts {
  #last: NamedLimit | undefined

  of({ layer, window, unit, limit, burst, lengthMs }: WindowStatus): NamedLimit {
    const last = this.#last
    const isSame = last?.window === window && last.layer === layer && last.unit === unit
    if (isSame && last.limit === limit && last.burst === burst && last.lengthMs === lengthMs) return last
    const name = `"${layer}-${window}"`
    const lasts = lengthMs === null ? '' : `;w=${Math.ceil(lengthMs / 1000)}`
    const saved = burst === undefined ? '' : `;burst=${burst}`
    const policy = `${name};q=${limit}${unitText(unit)}${lasts}${saved}`
    this.#last = { layer, window, unit, limit, burst, lengthMs, name, policy }
    return this.#last
  }
}

/**
 * The unit of a limit, where it is not `requests`, which goes without saying. The registry of the draft has
 * `content-bytes` and `concurrent-requests` beside it; other units keep their names, so that none is taken for requests.
 */
function unitText(unit: string | undefined): string {
  if (unit === undefined || unit === 'requests') return ''
  return `;qu="${unit === SLOTS ? 'concurrent-requests' : unit}"`
}

function limitItem(window: WindowStatus, decision: Decision, more: Amount, texts: LimitTexts): string {
  const seconds = window.resetAt === null ? undefined : Math.max(0, Math.ceil((window.resetAt - decision.now) / 1000))
  // `Retry-After` is never earlier than a `t` beside it: where waiting does not help, a later end is left out.
  const isNamed = seconds !== undefined && (decision.allowed || seconds <= decision.retryAfterSeconds)
  return `${texts.of(window).name};r=${remainingOf(window, more)}${isNamed ? `;t=${seconds}` : ''}`
}

/**
 * `RateLimit-Policy` and `RateLimit` of draft-ietf-httpapi-ratelimit-headers, versions 10 and 11.
 *
 * They name the limit that lets the fewest more requests of this cost through, or the one that refuses. With `fields: 'all'`
 * `RateLimit-Policy` lists each limit, and `RateLimit` each, of a refusal those that refuse. Limits that are unlimited,
 * shadowed or that nobody counted are left out, and so are both fields when none is left. A limit of concurrency has
 * neither a length nor an end. A bucket has its `burst` as a parameter of ours. Its `r` is what is left of that.
 * Its `t` is when all has come back.
 */
export function rateLimitHeaders(
  decision: Decision,
  options: { readonly fields?: FieldsOption | undefined } = {},
): Record<string, string> {
  return namedFields(rateLimitFields(decision, options.fields))
}

/** The fields by their names. */
export function namedFields(fields: RateLimitFields | undefined): Record<string, string> {
  return fields === undefined ? {} : { 'RateLimit-Policy': fields.policy, RateLimit: fields.limit }
}

/**
 * The older fields: `X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset`, in whole seconds since the epoch.
 * They name one limit: the one that lets the fewest more requests through, or the one that refuses. A refusal's reset is
 * that of `Retry-After`. A window that isn't open has no reset, and nor has a limit of concurrency.
 *
 * @param more as of {@link rateLimitFields}
 */
export function legacyFields(decision: Decision, more: Amount = 0): NamedFields | undefined {
  const window = decision.allowed ? scarcestWindow(decision, more) : bindingWindow(decision)
  if (window === undefined) return undefined
  const { resetAt } = decision.allowed ? window : decision
  return {
    'X-RateLimit-Limit': String(window.limit),
    'X-RateLimit-Remaining': String(remainingOf(window, more)),
    ...(resetAt !== null && { 'X-RateLimit-Reset': String(Math.ceil(resetAt / 1000)) }),
  }
}

/** All header fields of a decision: those of a refusal, and on request the limits' fields on every answer. */
export function quotaHeaders(
  decision: Decision,
  options: {
    readonly standardHeaders?: StandardHeaders | false | undefined
    readonly fields?: FieldsOption | undefined
    /** `X-RateLimit-Limit`, `-Remaining` and `-Reset`. */
    readonly legacyHeaders?: boolean | undefined
  } = {},
): Record<string, string> {
  const fields = decision.allowed ? {} : refusalHeaders(decision)
  if (options.standardHeaders) Object.assign(fields, rateLimitHeaders(decision, options))
  return options.legacyHeaders === true ? Object.assign(fields, legacyFields(decision)) : fields
}
