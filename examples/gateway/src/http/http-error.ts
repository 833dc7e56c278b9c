import * as z from 'zod'

/** Every error code of the services: its status, and what it means. */
const ERRORS = {
  bad_request: [400, 'The request is malformed, for example invalid JSON.'],
  unauthorized: [401, 'The credential is missing or invalid.'],
  forbidden: [403, 'The caller may not do this.'],
  user_disabled: [403, 'The account is disabled. Its credentials are valid, and will work again when it is enabled.'],
  insufficient_balance: [403, 'The ticket balance is too small.'],
  not_found: [404, 'This path does not exist.'],
  score_not_found: [404, 'These charts have no scores.'],
  method_not_allowed: [405, "The path doesn't support this method."],
  conflict: [409, 'The request conflicts with stored data, or with another request in progress.'],
  sync_in_progress: [409, "Another import of this player's scores is in progress."],
  chunk_conflict: [409, 'The chunk differs from an earlier one with its index, or does not fit its snapshot.'],
  snapshot_open: [409, 'Another snapshot of the player is open.'],
  snapshot_incomplete: [409, 'The final chunk arrived before others: `missing` lists them.'],
  snapshot_expired: [409, 'The snapshot has expired. Send it again with a new id.'],
  session_expired: [409, 'The upload session has expired. Nothing was stored or charged.'],
  precondition_failed: [412, 'The document has changed. Read it again.'],
  payload_too_large: [413, 'The body is too large.'],
  unsupported_media_type: [415, "The body's type is not `application/json`."],
  validation_failed: [422, 'The content is invalid. `details` lists all faults.'],
  idempotency_key_reused: [422, 'The key was used for a different request.'],
  unknown_chart: [422, 'A chart is unknown.'],
  dx_score_too_high: [422, "A DX score is higher than the chart's maximum."],
  source_credential_rejected: [422, "The score service rejected the player's credential."],
  source_privacy: [422, "The player's privacy settings hide the scores."],
  snapshot_empty: [422, 'The whole snapshot has no valid record. Nothing was deleted.'],
  checksum_mismatch: [422, 'The records do not match the checksum.'],
  precondition_required: [428, '`If-Match` is missing.'],
  quota_exceeded: [429, 'A window has too few tokens left. Nothing was charged.'],
  internal_error: [500, 'Something went wrong on our side.'],
  source_unreachable: [502, 'The score service cannot be reached.'],
  source_bad_response: [502, 'The response of the score service is invalid.'],
  source_error: [502, 'The score service failed.'],
  source_rate_limited: [502, 'The score service is rate limiting.'],
  quota_unavailable: [503, 'A required store is unavailable. Nothing was charged.'],
  overloaded: [503, 'Too many requests of the caller are in flight. Nothing was charged.'],
  player_busy: [503, 'Another write of the player is in progress. Send the same request again.'],
  shutting_down: [503, 'The service is stopping. Another process may be available soon.'],
  source_timeout: [504, 'The score service did not answer in time.'],
} as const

export type ErrorCode = keyof typeof ERRORS

export const ERROR_CODES = Object.keys(ERRORS) as ErrorCode[]

export function statusOf(code: ErrorCode): number {
  return ERRORS[code][0]
}

/** What an error means, for the reference. */
export function meaningOf(code: ErrorCode): string {
  return ERRORS[code][1]
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
    return statusOf(this.code)
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

/** An object without other members. A fault lists all members that there are. */
export function strictObject<T extends z.ZodRawShape>(shape: T): z.ZodObject<T, z.core.$strict> {
  const members = Object.keys(shape).join(', ')
  return z.strictObject(shape, {
    error: ({ code }) => (code === 'unrecognized_keys' ? `unknown key; expected ${members}` : undefined),
  })
}

/** How many unknown keys of one object are named. */
const MAX_UNKNOWN = 5

/** One detail per issue. Unknown keys are listed one by one, up to a limit. */
export function detailsOf(issue: z.core.$ZodIssue): Detail[] {
  const path = issue.path.map(String).join('.')
  if (issue.code !== 'unrecognized_keys') return [{ path, msg: issue.message }]
  const { keys, message: msg } = issue
  const named = keys.slice(0, MAX_UNKNOWN).map((key) => ({ path: path === '' ? key : `${path}.${key}`, msg }))
  return keys.length <= MAX_UNKNOWN
    ? named
    : [...named, { path, msg: `${keys.length - MAX_UNKNOWN} more unknown keys` }]
}
