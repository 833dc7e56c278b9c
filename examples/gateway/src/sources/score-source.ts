import type { Detail } from '../http/http-error.ts'
import type { PlayRecord } from '../scores/import-best.ts'

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
  readonly name: SourceName
  /**
   * Reads all scores of the player with this credential.
   *
   * @throws {HttpError} `source_credential_rejected`, `source_privacy`, `source_unreachable`, `source_bad_response`,
   * `source_error`, `source_rate_limited`, `source_timeout`; the reason of `signal` when that is aborted
   */
  fetchScores(credential: SourceCredential, signal?: AbortSignal): Promise<FetchedScores>
}
