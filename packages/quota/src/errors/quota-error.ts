import { cut, plain } from './shown.ts'

/** The codes of {@link QuotaError}. The errors page of the documentation explains each. */
export type QuotaErrorCode =
  | 'invalid_options'
  | 'invalid_policy'
  | 'calendar_missing'
  | 'store_unsupported'
  | 'invalid_settings'
  | 'settings_conflict'
  | 'unknown_operation'
  | 'invalid_request'
  | 'invalid_cost'
  | 'invalid_subject'
  | 'invalid_id'
  | 'invalid_reset'
  | 'id_conflict'
  | 'commit_above_reservation'
  | 'commit_refused'
  | 'invalid_plan'
  | 'invalid_ttl'
  | 'invalid_wait'
  | 'queue_exists'
  | 'too_many_holds'
  | 'reservation_required'
  | 'hold_required'
  | 'reservation_expired'
  | 'reservation_cancelled'
  | 'invalid_token'
  | 'holds_unsupported'
  | 'store_mismatch'
  | 'shared_counter'
  | 'store_full'
  | 'store_error'
  | 'damaged_row'
  | 'other_version'
  | 'unsafe_eviction'
  | 'quota_unavailable'
  | 'quota_closed'
  | 'no_response'

/** A fault of a document: where it is, and what is allowed there. */
export interface Fault {
  /** Dotted path from the document's root, for example `base.personal.read.1h`; empty for the root. */
  readonly path: string
  /** The problem, and the allowed values. */
  readonly message: string
}

/** The page that explains each code. */
const DOCS_BASE = 'https://github.com/scoregw/quota/blob/main/docs/reference/errors.md'

/** The longest message of an error, in characters. */
const MAX_MESSAGE = 500
/** The most faults in an error. The message has their total number. */
const MAX_FAULTS = 100
/** The most faults in a message. */
const SPELLED_OUT = 5
/** The longest path of a fault, and the longest text. */
const MAX_PATH = 200
const MAX_TEXT = 360

/** All builds and copies of the package share this symbol. */
const BRAND = /* @__PURE__ */ Symbol.for('@scoregw/quota/QuotaError')

/** Optional members of a {@link QuotaError}. */
interface QuotaErrorDetails {
  /** The faults of an invalid document. */
  readonly faults?: readonly Fault[]
  /** The underlying error. */
  readonly cause?: unknown
}

/**
 * The only error this library throws. A refusal is never thrown, because it is a decision.
 *
 * `code` is stable and for programs. `message` is for people: one line, at most 500 characters. `docs` is the page that
 * explains the code. `instanceof` also works for errors of other copies and builds of the package.
 */
export class QuotaError extends Error {
  override readonly name: string = 'QuotaError'
  readonly code: QuotaErrorCode
  /** The faults of an invalid document, at most 100; otherwise empty. */
  readonly faults: readonly Fault[]
  /** The address of the page that explains `code`. */
  readonly docs: string

  constructor(code: QuotaErrorCode, message: string, details: QuotaErrorDetails = {}) {
    super(cut(message, MAX_MESSAGE), details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.faults = details.faults ?? []
    this.docs = `${DOCS_BASE}#${code}`
    Object.defineProperty(this, BRAND, { value: true })
  }

  // Not a field: compiled to an assignment, it would fail, because functions inherit this property as read-only.
  static override get [Symbol.hasInstance](): (value: unknown) => boolean {
    return isInstance
  }
}

/** Recognizes errors by their brand, and subclasses by their prototype as usual. */
function isInstance(this: unknown, value: unknown): boolean {
  if (this !== QuotaError) return Function.prototype[Symbol.hasInstance].call(this as typeof QuotaError, value)
  return typeof value === 'object' && value !== null && (value as { readonly [BRAND]?: unknown })[BRAND] === true
}

/**
 * Makes the error of an invalid document. Its message contains up to five faults and the number of the others. `faults`
 * has them one by one.
 *
 * @param what the invalid value, for example `options of createQuota()`
 */
export function faultyDocument(code: QuotaErrorCode, what: string, faults: readonly Fault[]): QuotaError {
  const kept = faults.slice(0, MAX_FAULTS).map(({ path, message }) => ({
    path: plain(path, MAX_PATH),
    message: plain(message, MAX_TEXT),
  }))
  return new QuotaError(code, messageOf(`invalid ${what}: `, kept, faults.length), { faults: kept })
}

function messageOf(head: string, faults: readonly Fault[], total: number): string {
  const lines = faults.slice(0, SPELLED_OUT).map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
  for (let count = lines.length; count > 1; count--) {
    const text = head + lines.slice(0, count).join('; ') + moreThan(count, total)
    if (text.length <= MAX_MESSAGE) return text
  }
  const tail = moreThan(1, total)
  return head + cut(lines[0] ?? '', MAX_MESSAGE - head.length - tail.length) + tail
}

function moreThan(count: number, total: number): string {
  return total > count ? `; and ${total - count} more` : ''
}

/** The page that explains each code. */
const DOCS = 'https://github.com/scoregw/quota/blob/main/docs/reference/warnings.md'

/** A misconfiguration. It is logged, never thrown. */
export class QuotaWarning<Code extends string = string> extends Error {
  override readonly name: string = 'QuotaWarning'
  readonly code: Code
  /** The address of the paragraph that explains `code`. */
  readonly docs: string

  constructor(code: Code, message: string) {
    const docs = `${DOCS}#${code}`
    super(`${code}: ${message} (${docs})`)
    this.code = code
    this.docs = docs
  }
}

/**
 * Makes the error for stored data in another version of its format. Data of every store has a version.
 *
 * @param what was read, for example `the row at quota:…`
 * @param found its version
 * @param known the version that this library reads
 */
export function otherVersion(what: string, found: unknown, known: number): QuotaError {
  const version = typeof found === 'number' ? `version ${found}` : 'no version'
  return new QuotaError(
    'other_version',
    `${what} has ${version} of its format, and this library reads version ${known}`,
  )
}
