import { cut, plain } from './shown.ts'

/** Every code a {@link QuotaError} can carry; each has a paragraph in the errors page of the documentation. */
export type QuotaErrorCode =
  | 'invalid_options'
  | 'invalid_policy'
  | 'calendar_missing'
  | 'store_unsupported'
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
  | 'sync_unavailable'
  | 'store_mismatch'
  | 'shared_counter'
  | 'store_full'
  | 'store_error'
  | 'damaged_row'
  | 'unsafe_eviction'
  | 'quota_unavailable'
  | 'quota_closed'

/** One thing that is wrong with a document: where it is and what is allowed there. */
export interface Fault {
  /** Dotted path from the document's root, for example `base.personal.read.1h`; empty for the root. */
  readonly path: string
  /** The fault, and which values are allowed. */
  readonly message: string
}

/** Where each code is explained. */
const DOCS_BASE = 'https://github.com/scoregw/quota/blob/main/docs/reference/errors.md'

/** Longest message of an error, in characters. */
const MAX_MESSAGE = 500
/** Most faults that an error carries; their number is in the message. */
const MAX_FAULTS = 100
/** Most faults that a message spells out. */
const SPELLED_OUT = 5
/** Longest path, and longest text, of one fault. */
const MAX_PATH = 200
const MAX_TEXT = 360

/** Every build and every copy of the package has the same symbol. */
const BRAND = /* @__PURE__ */ Symbol.for('@scoregw/quota/QuotaError')

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
 * `code` is stable and meant for programs, `message` for people (one line, 500 characters at the most), `docs` is the
 * page that explains the code. `instanceof` also knows the errors of another copy of the package, and of its other
 * build.
 */
export class QuotaError extends Error {
  override readonly name: string = 'QuotaError'
  readonly code: QuotaErrorCode
  /** The faults found, when a document was refused, the first 100; else empty. */
  readonly faults: readonly Fault[]
  /** Address of the page that explains `code`. */
  readonly docs: string

  constructor(code: QuotaErrorCode, message: string, details: QuotaErrorDetails = {}) {
    super(cut(message, MAX_MESSAGE), details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.faults = details.faults ?? []
    this.docs = `${DOCS_BASE}#${code}`
    Object.defineProperty(this, BRAND, { value: true })
  }

  // Not a field: compiled as an assignment it would meet a property of all functions that is read-only.
  static override get [Symbol.hasInstance](): (value: unknown) => boolean {
    return isInstance
  }
}

/** Of the class itself by the brand; subclasses are recognized by their prototypes, as any class is. */
function isInstance(this: unknown, value: unknown): boolean {
  if (this !== QuotaError) return Function.prototype[Symbol.hasInstance].call(this as typeof QuotaError, value)
  return typeof value === 'object' && value !== null && (value as { readonly [BRAND]?: unknown })[BRAND] === true
}

/**
 * A {@link QuotaError} for a document with faults. Its message names the first five, or as many as it has room for, and
 * says how many more there are; `faults` has them one by one.
 *
 * @param what the refused value, for example `options of createQuota()`
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
