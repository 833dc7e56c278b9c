import { type Detail, type ErrorCode, HttpError, type HttpErrorOptions } from '../http/http-error.ts'
import type { PlayRecord } from '../scores/score.ts'

export type SourceName = 'lx' | 'fish'

/** A credential for a player's scores. Never show it. */
export interface SourceCredential {
  /**
   * `personal`: a token that the player copied from the source; `oauth`: an access token that the source gave to an
   * application.
   */
  readonly kind: 'personal' | 'oauth'
  readonly text: string
}

/** The header field that a credential is sent in. */
export function credentialField({ kind, text }: SourceCredential, personal: string): Record<string, string> {
  return kind === 'oauth' ? { Authorization: `Bearer ${text}` } : { [personal]: text }
}

/** A player's data at a source. */
export interface FetchedScores {
  /** The number of records that the source sent. Those that aren't plays are in {@link faults}. */
  readonly fetched: number
  readonly plays: readonly PlayRecord[]
  /** One fault per record that cannot be used: its place in the source's response and the reason, without its text. */
  readonly faults: readonly Detail[]
  /** Absent if the source doesn't report it. */
  readonly nickname?: string | undefined
  readonly rating?: number | undefined
}

/** A public service that keeps players' scores. */
export interface ScoreSource {
  /**
   * Reads all scores of the player with this credential.
   *
   * @throws {HttpError} `source_credential_rejected`, `source_privacy`, `source_unreachable`, `source_bad_response`,
   * `source_error`, `source_rate_limited`, `source_timeout`; the reason of `signal` when that is aborted
   */
  fetchScores(credential: SourceCredential, signal?: AbortSignal): Promise<FetchedScores>
}

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
