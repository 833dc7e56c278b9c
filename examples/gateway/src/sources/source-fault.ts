import { type ErrorCode, HttpError, type HttpErrorOptions } from '../http/http-error.ts'
import type { SourceName } from './score-source.ts'

const TITLES: Readonly<Record<SourceName, string>> = { lx: 'LXNS', fish: 'Diving-Fish' }

const TEXTS = {
  source_credential_rejected: 'did not accept the credential',
  source_privacy: "does not show this player's scores: the profile is private, or the source's own sign-in has expired",
  source_unreachable: 'cannot be reached right now',
  source_bad_response: 'sent an answer that cannot be used',
  source_error: 'failed on its side',
  source_rate_limited: 'takes no more requests for now',
  source_timeout: 'did not answer in time',
} as const satisfies Partial<Record<ErrorCode, string>>

export type SourceFaultCode = keyof typeof TEXTS

/** Faults without a response from the source. */
const FORWARDING: ReadonlySet<SourceFaultCode> = new Set(['source_unreachable', 'source_timeout'])

export interface SourceFaultOptions extends Pick<HttpErrorOptions, 'upstreamStatus' | 'retryAfterSeconds'> {
  /** For the log. Never the source's text, which may repeat the credential. */
  readonly reason?: string | undefined
}

/** The error of a failed call to a source. Its text is ours, never the source's. */
export function sourceFault(
  source: SourceName,
  code: SourceFaultCode,
  { reason, upstreamStatus, retryAfterSeconds }: SourceFaultOptions = {},
): HttpError {
  return new HttpError(code, `${TITLES[source]} ${TEXTS[code]}.`, {
    source,
    upstreamStatus,
    retryAfterSeconds,
    isForwardingFailed: FORWARDING.has(code),
    ...(reason === undefined ? {} : { cause: new Error(reason) }),
  })
}

/**
 * Whether the source answered about the player. Such a request stays charged; otherwise guessing credentials would be
 * free.
 */
export function isAboutPlayer(error: unknown): boolean {
  return error instanceof HttpError && (error.code === 'source_credential_rejected' || error.code === 'source_privacy')
}
