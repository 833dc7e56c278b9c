import type * as z from 'zod'

/** Every error code of the services, and its status. */
const STATUSES = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  user_disabled: 403,
  insufficient_balance: 403,
  not_found: 404,
  score_not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  sync_in_progress: 409,
  chunk_conflict: 409,
  snapshot_open: 409,
  snapshot_incomplete: 409,
  snapshot_expired: 409,
  session_expired: 409,
  precondition_failed: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  validation_failed: 422,
  idempotency_key_reused: 422,
  unknown_chart: 422,
  dx_score_too_high: 422,
  source_credential_rejected: 422,
  source_privacy: 422,
  snapshot_empty: 422,
  checksum_mismatch: 422,
  precondition_required: 428,
  player_busy: 429,
  quota_exceeded: 429,
  internal_error: 500,
  source_unreachable: 502,
  source_bad_response: 502,
  source_error: 502,
  source_rate_limited: 502,
  quota_unavailable: 503,
  overloaded: 503,
  shutting_down: 503,
  source_timeout: 504,
} as const

export type ErrorCode = keyof typeof STATUSES

export const ERROR_CODES = Object.keys(STATUSES) as ErrorCode[]

export function statusOf(code: ErrorCode): number {
  return STATUSES[code]
}

/** One fault in a request's body. */
export interface Detail {
  /** Dotted path from the body's root, for example `musicList.0.level`. */
  readonly path: string
  readonly msg: string
}

export interface HttpErrorOptions {
  readonly details?: readonly Detail[] | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Sent in the body and in `Retry-After`. */
  readonly retryAfterSeconds?: number | undefined
  /** The server that was called on the caller's behalf, and its answer. */
  readonly source?: 'lx' | 'fish' | undefined
  readonly upstreamStatus?: number | undefined
  /** Whether a call to another server failed. Such a request is settled as HTTP status 0. */
  readonly isForwardingFailed?: boolean | undefined
  readonly cause?: unknown
}

/** An error response. The client reads `message`, so it never contains a secret. */
export class HttpError extends Error {
  override readonly name: string = 'HttpError'
  readonly code: ErrorCode
  readonly details: readonly Detail[] | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly retryAfterSeconds: number | undefined
  readonly source: 'lx' | 'fish' | undefined
  readonly upstreamStatus: number | undefined
  readonly isForwardingFailed: boolean

  constructor(code: ErrorCode, msg: string, options: HttpErrorOptions = {}) {
    const { details, headers = {}, retryAfterSeconds, source, upstreamStatus, cause } = options
    super(msg, cause === undefined ? undefined : { cause })
    this.code = code
    this.details = details
    this.retryAfterSeconds = retryAfterSeconds
    this.source = source
    this.upstreamStatus = upstreamStatus
    this.isForwardingFailed = options.isForwardingFailed === true
    this.headers = retryAfterSeconds === undefined ? headers : { ...headers, 'Retry-After': String(retryAfterSeconds) }
  }

  get status(): number {
    return STATUSES[this.code]
  }
}

/** Limits of a response: how many faults it lists, and how many characters a path or text may have. */
const MAX_DETAILS = 20
const MAX_TEXT = 200

/** 422 `validation_failed`, or the given code, with up to twenty faults. */
export function invalid(all: readonly Detail[], code: ErrorCode = 'validation_failed'): HttpError {
  const details = all.slice(0, MAX_DETAILS).map(({ path, msg }) => ({ path: cut(path), msg: cut(msg) }))
  const [first] = details
  const more = all.length > 1 ? ` (and ${all.length - 1} more)` : ''
  const where = first === undefined || first.path === '' ? '' : `${first.path}: `
  return new HttpError(code, `${where}${first?.msg ?? 'the request is not valid'}${more}`, { details })
}

/** It may contain client input of any length. */
function cut(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1)}…`
}

/** How many unknown keys of one object are named. */
const MAX_UNKNOWN = 5

/** One detail per issue. Unknown keys are listed one by one, up to a limit. */
export function detailsOf(issue: z.core.$ZodIssue): Detail[] {
  const path = issue.path.map(String).join('.')
  if (issue.code !== 'unrecognized_keys') return [{ path, msg: issue.message }]
  const { keys } = issue
  const named = keys
    .slice(0, MAX_UNKNOWN)
    .map((key) => ({ path: path === '' ? key : `${path}.${key}`, msg: 'unknown key' }))
  return keys.length <= MAX_UNKNOWN
    ? named
    : [...named, { path, msg: `${keys.length - MAX_UNKNOWN} more unknown keys` }]
}
