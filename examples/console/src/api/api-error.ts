import type { components } from 'example-client/gateway-types'

type ErrorBody = components['schemas']['Error']
/** The gateway's error codes, or `unreachable` if there was no response. */
export type ErrorCode = ErrorBody['error'] | 'unreachable'

export interface Fault {
  readonly path: string
  readonly msg: string
}

export class ApiError extends Error {
  readonly code: ErrorCode
  /** The HTTP status. 0 if there was no response. */
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

/** Makes an error of a failed response. A proxy's response may have a different form. */
export function toApiError(status: number, body: unknown): ApiError {
  const isOurs = typeof body === 'object' && body !== null && 'error' in body
  return isOurs
    ? new ApiError(body.error as ErrorCode, status, body as ErrorBody)
    : new ApiError('internal_error', status)
}
