/** Every `error` text the gateway answers with, and its status. A 429 is the quota's own answer and not among them. */
const STATUSES = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  score_not_found: 404,
  method_not_allowed: 405,
  precondition_failed: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  validation_failed: 422,
  unknown_chart: 422,
  dx_score_too_high: 422,
  precondition_required: 428,
  internal_error: 500,
  quota_unavailable: 503,
  shutting_down: 503,
} as const

export type ErrorCode = keyof typeof STATUSES

/** One thing that is wrong with a request's body. */
export interface Detail {
  /** Dotted path from the body's root, for example `musicList.0.level`. */
  readonly path: string
  readonly msg: string
}

export interface HttpErrorOptions {
  readonly details?: readonly Detail[] | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Told in the body and in `Retry-After`. */
  readonly retryAfterSeconds?: number | undefined
  readonly cause?: unknown
}

/** An answer that is not a success. `message` is what the client reads, so it never holds a secret. */
export class HttpError extends Error {
  override readonly name: string = 'HttpError'
  readonly code: ErrorCode
  readonly details: readonly Detail[] | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly retryAfterSeconds: number | undefined

  constructor(code: ErrorCode, msg: string, options: HttpErrorOptions = {}) {
    const { details, headers = {}, retryAfterSeconds, cause } = options
    super(msg, cause === undefined ? undefined : { cause })
    this.code = code
    this.details = details
    this.retryAfterSeconds = retryAfterSeconds
    this.headers = retryAfterSeconds === undefined ? headers : { ...headers, 'Retry-After': String(retryAfterSeconds) }
  }

  get status(): number {
    return STATUSES[this.code]
  }
}

/** 422 `validation_failed`, or the given code, naming every fault. */
export function invalid(details: readonly Detail[], code: ErrorCode = 'validation_failed'): HttpError {
  const [first] = details
  const more = details.length > 1 ? ` (and ${details.length - 1} more)` : ''
  const where = first === undefined || first.path === '' ? '' : `${first.path}: `
  return new HttpError(code, `${where}${first?.msg ?? 'the request is not valid'}${more}`, { details })
}
