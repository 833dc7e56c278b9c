import type { Detail } from '../http/http-error.ts'
import type { PlayRecord } from '../scores/import-best.ts'

export type SourceName = 'lx' | 'fish'

/** What opens a player's scores to us; not to be shown. */
export interface SourceCredential {
  /** `personal`: a token that the player looked up; `oauth`: an access token that the source gave an application. */
  readonly kind: 'personal' | 'oauth'
  readonly text: string
}

/** The header field that a credential is sent in. */
export function credentialField({ kind, text }: SourceCredential, personal: string): Record<string, string> {
  return kind === 'oauth' ? { Authorization: `Bearer ${text}` } : { [personal]: text }
}

/** What a source holds of a player. */
export interface FetchedScores {
  /** Records the source sent; those that are no plays are in {@link faults}. */
  readonly fetched: number
  readonly plays: readonly PlayRecord[]
  /** One fault a record that cannot be used: where in the source's answer, and why, without its text. */
  readonly faults: readonly Detail[]
  /** Absent where the source does not tell. */
  readonly nickname?: string | undefined
  readonly rating?: number | undefined
}

/** A public service that keeps players' scores. */
export interface ScoreSource {
  readonly name: SourceName
  /**
   * Reads all scores of the player whose credential this is.
   * @throws {HttpError} `source_credential_rejected`, `source_privacy`, `source_unreachable`, `source_bad_response`,
   *   `source_error`, `source_rate_limited`, `source_timeout`; the reason of `signal` when that is aborted
   */
  fetchScores(credential: SourceCredential, signal?: AbortSignal): Promise<FetchedScores>
}
