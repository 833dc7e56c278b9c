import type { Decision, RefusedDecision, UncountedWindow, WindowStatus } from '../decision/decision.ts'
import { isoText } from '../time/beijing.ts'
import { type DraftFields, preparedFields, remainingOf } from './draft-texts.ts'

/** Names of the header fields a 429 carries, for CORS configurations that expose them. */
export const QUOTA_HEADER_NAMES = ['Retry-After', 'X-Quota-Reset', 'RateLimit', 'RateLimit-Policy'] as const

/** `Retry-After` (whole seconds) and `X-Quota-Reset` (ISO 8601 UTC) of a refusal. */
export function refusalHeaders(decision: RefusedDecision): Record<string, string> {
  return { 'Retry-After': String(decision.retryAfterSeconds), 'X-Quota-Reset': isoText(decision.resetAt) }
}

/**
 * The draft's fields of a decision; `undefined` where no window is told.
 *
 * @param more tokens that were charged since, in every window; negative: that went back
 */
export function draftFields(decision: Decision, more = 0): DraftFields | undefined {
  const prepared = preparedFields(decision, more)
  if (prepared !== undefined) return prepared ?? undefined
  const { allowed } = decision
  const told: WindowStatus[] = []
  let text = ''
  for (const window of decision.windows as readonly (WindowStatus | UncountedWindow)[]) {
    if (window.limit === 'unlimited' || window.used === null || !window.enforced) continue
    told.push(window)
    if (!allowed && !refuses(decision, window)) continue
    const item = limitItem(window, decision, window.kind === 'concurrency' ? 0 : more)
    text = text === '' ? item : `${text}, ${item}`
  }
  return told.length === 0 ? undefined : { policy: told.map(policyItem).join(', '), limit: text }
}

/**
 * `RateLimit-Policy` and `RateLimit` of draft-ietf-httpapi-ratelimit-headers-10. A refusal's `RateLimit` lists the
 * windows that refuse and no others. Limits that are unlimited, shadowed or that nobody counted are left out, and so are
 * both fields when none is left. A limit of concurrency has neither a length nor an end.
 */
export function rateLimitHeaders(decision: Decision): Record<string, string> {
  return headersOf(draftFields(decision))
}

/** The draft's fields by their names. */
export function headersOf(fields: DraftFields | undefined): Record<string, string> {
  return fields === undefined ? {} : { 'RateLimit-Policy': fields.policy, RateLimit: fields.limit }
}

/** All header fields of a decision: those of a refusal, and on request the draft's on every answer. */
export function quotaHeaders(
  decision: Decision,
  options: { readonly standardHeaders?: 'draft-10' | false | undefined } = {},
): Record<string, string> {
  return {
    ...(decision.allowed ? {} : refusalHeaders(decision)),
    ...(options.standardHeaders === 'draft-10' ? rateLimitHeaders(decision) : {}),
  }
}

function refuses({ violations }: RefusedDecision, { layer, window }: WindowStatus): boolean {
  return violations.some((violation) => violation.layer === layer && violation.window === window)
}

/** Names of layers and windows are `A-Z a-z 0-9 _ -`, so that the string needs no escapes (RFC 9651). */
function policyItem({ layer, window, limit, lengthMs }: WindowStatus): string {
  const lasts = lengthMs === null ? '' : `;w=${Math.ceil(lengthMs / 1000)}`
  return `"${layer}-${window}";q=${limit}${lasts}`
}

function limitItem(window: WindowStatus, decision: Decision, more: number): string {
  const seconds = window.resetAt === null ? undefined : Math.max(0, Math.ceil((window.resetAt - decision.now) / 1000))
  // `Retry-After` is never earlier than a `t` beside it: where waiting helps nobody, a later end is left out.
  const told = seconds !== undefined && (decision.allowed || seconds <= decision.retryAfterSeconds)
  const remaining = more === 0 ? window.remaining : remainingOf(window.limit as number, window.used + more)
  return `"${window.layer}-${window.window}";r=${remaining}${told ? `;t=${seconds}` : ''}`
}
