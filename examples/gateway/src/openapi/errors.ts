import * as z from 'zod'
import { ERROR_CODES, type ErrorCode, statusOf } from '../http/http-error.ts'
import type { Route } from '../http/route.ts'

/** The body of every error except `quota_exceeded`. */
export const errorSchema: z.ZodType = z
  .object({
    error: z.enum(ERROR_CODES).describe('What went wrong, for programs.'),
    msg: z.string().describe('What went wrong, for people.'),
    requestId: z.string().describe("The request's id in our log."),
    details: z
      .array(z.object({ path: z.string(), msg: z.string() }))
      .optional()
      .describe('All faults of the request, by dotted path, for example `musicList.0.level`.'),
    source: z.enum(['lx', 'fish']).optional().describe('The score service.'),
    upstreamStatus: z.int().optional().describe('Its HTTP status.'),
    retryAfterSeconds: z.int().optional().describe('Whole seconds to wait before retrying.'),
  })
  .meta({ id: 'Error', description: 'What went wrong.' })

const MEANINGS: Readonly<Record<ErrorCode, string>> = {
  bad_request: 'The request is malformed, for example invalid JSON.',
  unauthorized: 'The credential is missing or invalid.',
  forbidden: 'The caller may not do this.',
  user_disabled: 'The account is disabled. Its credentials are valid, and will work again when it is enabled.',
  insufficient_balance: 'The ticket balance is too small.',
  not_found: 'This path does not exist.',
  score_not_found: 'These charts have no scores.',
  method_not_allowed: "The path doesn't support this method.",
  conflict: 'The request conflicts with stored data, or with another request in progress.',
  sync_in_progress: "Another import of this player's scores is in progress.",
  chunk_conflict: 'The chunk differs from an earlier one with its index, or does not fit its snapshot.',
  snapshot_open: 'Another snapshot of the player is open.',
  snapshot_incomplete: 'The final chunk arrived before others: `missing` lists them.',
  snapshot_expired: 'The snapshot has expired. Send it again with a new id.',
  session_expired: 'The upload session has expired. Nothing was stored or charged.',
  precondition_failed: 'The document has changed. Read it again.',
  payload_too_large: 'The body is too large.',
  unsupported_media_type: "The body's type is not `application/json`.",
  validation_failed: 'The content is invalid. `details` lists all faults.',
  idempotency_key_reused: 'The key was used for a different request.',
  unknown_chart: 'A chart is unknown.',
  dx_score_too_high: "A DX score is higher than the chart's maximum.",
  source_credential_rejected: "The score service rejected the player's credential.",
  source_privacy: "The player's privacy settings hide the scores.",
  snapshot_empty: 'The whole snapshot has no valid record. Nothing was deleted.',
  checksum_mismatch: 'The records do not match the checksum.',
  player_busy: 'Another write of the player is in progress. Send the same request again.',
  quota_exceeded: 'A window has too few tokens left. Nothing was charged.',
  precondition_required: '`If-Match` is missing.',
  internal_error: 'Something went wrong on our side.',
  source_unreachable: 'The score service cannot be reached.',
  source_bad_response: 'The response of the score service is invalid.',
  source_error: 'The score service failed.',
  source_rate_limited: 'The score service is rate limiting.',
  quota_unavailable: 'A required store is unavailable. Nothing was charged.',
  overloaded: 'Too many requests of the caller are in flight. Nothing was charged.',
  shutting_down: 'The service is stopping. Another process may be available soon.',
  source_timeout: 'The score service did not answer in time.',
}

export function meaningOf(code: ErrorCode): string {
  return MEANINGS[code]
}

/** Returns the errors that a route can respond with, by status. */
export function errorsOf(route: Route): Map<number, readonly ErrorCode[]> {
  const { access, body, params, query, docs, operation, requestHeaders = [] } = route
  const codes = new Set<ErrorCode>([
    // A request with two credentials is rejected.
    ...when(access !== 'public', 'bad_request', 'unauthorized'),
    ...when(access === 'admin', 'forbidden'),
    ...when(access === 'admin' || access === 'user', 'user_disabled'),
    // The percent-encoding of a path can be invalid.
    ...when(params !== undefined, 'bad_request', 'not_found', 'validation_failed'),
    ...when(query !== undefined, 'validation_failed'),
    ...when(body !== undefined, 'bad_request', 'payload_too_large', 'unsupported_media_type', 'validation_failed'),
    ...when(requestHeaders.includes('If-Match'), 'bad_request', 'precondition_failed'),
    ...when(requestHeaders.includes('Idempotency-Key'), 'bad_request', 'conflict', 'idempotency_key_reused'),
    ...when(operation !== undefined, 'quota_exceeded'),
    // The store of credentials, or the keys for JWTs, can be unavailable.
    ...when(access !== 'public', 'quota_unavailable'),
    ...(docs.errors ?? []),
    'internal_error',
    'overloaded',
    'shutting_down',
  ])
  const byStatus = new Map<number, readonly ErrorCode[]>()
  const ordered = ERROR_CODES.filter((code) => codes.has(code))
  for (const code of ordered) byStatus.set(statusOf(code), [...(byStatus.get(statusOf(code)) ?? []), code])
  return byStatus
}

function when(condition: boolean, ...codes: ErrorCode[]): ErrorCode[] {
  return condition ? codes : []
}
