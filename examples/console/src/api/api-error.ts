import type { components } from 'example-client/gateway-types'

type ErrorBody = components['schemas']['Error']
/** What goes wrong: what the gateway names, or no answer at all. */
export type ErrorCode = ErrorBody['error'] | 'unreachable'

export interface Fault {
  readonly path: string
  readonly msg: string
}

/** An answer that is an error. */
export class ApiError extends Error {
  readonly code: ErrorCode
  /** HTTP status; 0: there was no answer. */
  readonly status: number
  readonly details: readonly Fault[]
  readonly requestId: string | undefined

  constructor(code: ErrorCode, status: number, body?: Partial<ErrorBody>) {
    super(body?.msg ?? code)
    this.code = code
    this.status = status
    this.details = body?.details ?? []
    this.requestId = body?.requestId
  }
}

/** What an answer that is no success says; a proxy on the way may answer in a form of its own. */
export function toApiError(status: number, body: unknown): ApiError {
  const isOurs = typeof body === 'object' && body !== null && 'error' in body
  return isOurs
    ? new ApiError(body.error as ErrorCode, status, body as ErrorBody)
    : new ApiError('internal_error', status)
}
