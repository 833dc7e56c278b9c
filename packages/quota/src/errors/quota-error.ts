/** Every code a {@link QuotaError} can carry; each has a paragraph in the errors page of the documentation. */
export type QuotaErrorCode =
  | 'invalid_options'
  | 'invalid_policy'
  | 'invalid_settings'
  | 'settings_conflict'
  | 'unknown_operation'
  | 'invalid_cost'
  | 'invalid_subject'
  | 'invalid_id'
  | 'invalid_reset'
  | 'id_conflict'
  | 'commit_above_reservation'
  | 'commit_refused'
  | 'sync_unavailable'
  | 'store_mismatch'
  | 'store_full'
  | 'store_error'
  | 'unsafe_eviction'
  | 'quota_unavailable'
  | 'quota_closed'

/** One thing that is wrong with a document: where it is and what is allowed there. */
export interface Fault {
  /** Dotted path from the document's root, for example `base.personal.read.1h`; empty for the root. */
  readonly path: string
  /** What is wrong and what is allowed. */
  readonly message: string
}

/** Where each code is explained. */
const DOCS_BASE = 'https://github.com/scoregw/quota/blob/main/docs/reference/errors.md'

/** What may accompany a {@link QuotaError}. */
export interface QuotaErrorDetails {
  /** Every fault found, when a document was refused. */
  readonly faults?: readonly Fault[]
  /** The error underneath. */
  readonly cause?: unknown
}

/**
 * The only error this library throws. A refusal is never thrown: it is a decision.
 *
 * `code` is stable and meant for programs, `message` for people, `docs` is the page that explains the code.
 */
export class QuotaError extends Error {
  override readonly name: string = 'QuotaError'
  readonly code: QuotaErrorCode
  /** Every fault found, when a document was refused; else empty. */
  readonly faults: readonly Fault[]
  /** Address of the page that explains `code`. */
  readonly docs: string

  constructor(code: QuotaErrorCode, message: string, details: QuotaErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.faults = details.faults ?? []
    this.docs = `${DOCS_BASE}#${code}`
  }
}

/** A {@link QuotaError} for a document with faults; its message names all of them. */
export function faultyDocument(code: QuotaErrorCode, what: string, faults: readonly Fault[]): QuotaError {
  const lines = faults.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
  return new QuotaError(code, `${what} refused: ${lines.join('; ')}`, { faults })
}
