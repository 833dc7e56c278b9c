import type { Decision, RefusedDecision, UncountedWindow, WindowStatus } from '../decision/decision.ts'
import { isoText } from '../time/beijing.ts'

/** Names of the header fields a 429 carries, for CORS configurations that expose them. */
export const QUOTA_HEADER_NAMES = ['Retry-After', 'X-Quota-Reset', 'RateLimit', 'RateLimit-Policy'] as const

/** `Retry-After` (whole seconds) and `X-Quota-Reset` (ISO 8601 UTC) of a refusal. */
export function refusalHeaders(decision: RefusedDecision): Record<string, string> {
  return { 'Retry-After': String(decision.retryAfterSeconds), 'X-Quota-Reset': isoText(decision.resetAt) }
}

/** Names of the draft's fields. */
export type DraftName = 'RateLimit-Policy' | 'RateLimit'

/** The two fields of draft-ietf-httpapi-ratelimit-headers-10. */
export interface DraftFields {
  /** `RateLimit-Policy`. */
  readonly policy: string
  /** `RateLimit`. */
  readonly limit: string
}

/** The draft's fields of a decision; `undefined` where no window is told. */
export function draftFields(decision: Decision): DraftFields | undefined {
  const { allowed } = decision
  const told: WindowStatus[] = []
  let text = ''
  // One walk, and no list of texts: this is done for every response.
  for (const window of decision.windows as readonly (WindowStatus | UncountedWindow)[]) {
    if (window.limit === 'unlimited' || window.used === null || !window.enforced) continue
    told.push(window)
    if (!allowed && !refuses(decision, window)) continue
    const item = limitItem(window, decision)
    text = text === '' ? item : `${text}, ${item}`
  }
  return told.length === 0 ? undefined : { policy: policyField(told), limit: text }
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

/** The field last written, and for which windows: most decisions of a process share their quotas. */
let written: { readonly windows: readonly WindowStatus[]; readonly text: string } = { windows: [], text: '' }

function policyField(windows: readonly WindowStatus[]): string {
  if (!isSamePolicy(windows, written.windows)) written = { windows, text: windows.map(policyItem).join(', ') }
  return written.text
}

function isSamePolicy(windows: readonly WindowStatus[], others: readonly WindowStatus[]): boolean {
  if (windows.length !== others.length) return false
  for (let index = 0; index < windows.length; index++) {
    if (!isSameItem(windows[index]!, others[index]!)) return false
  }
  return true
}

function isSameItem(a: WindowStatus, b: WindowStatus): boolean {
  return a.limit === b.limit && a.lengthMs === b.lengthMs && a.window === b.window && a.layer === b.layer
}

/** Names of layers and windows are `A-Z a-z 0-9 _ -`, so that the string needs no escapes (RFC 9651). */
function policyItem({ layer, window, limit, lengthMs }: WindowStatus): string {
  const lasts = lengthMs === null ? '' : `;w=${Math.ceil(lengthMs / 1000)}`
  return `"${layer}-${window}";q=${limit}${lasts}`
}

function limitItem(window: WindowStatus, decision: Decision): string {
  const seconds = window.resetAt === null ? undefined : Math.max(0, Math.ceil((window.resetAt - decision.now) / 1000))
  // `Retry-After` is never earlier than a `t` beside it: where waiting helps nobody, a later end is left out.
  const told = seconds !== undefined && (decision.allowed || seconds <= decision.retryAfterSeconds)
  return `"${window.layer}-${window.window}";r=${window.remaining}${told ? `;t=${seconds}` : ''}`
}
