import { QuotaError } from '../../errors/quota-error.ts'
import { kindOf } from '../../errors/shown.ts'
import { isObject } from '../../options/checks.ts'
import type { LimitNumber, LimitNumbers } from '../../policy/policy.ts'
import { isLimit } from '../../policy/values.ts'
import type { Subject } from '../../store/subjects.ts'

/** The contents of a hold's token. */
export interface HoldName {
  readonly subject: Subject
  readonly operation: string
  readonly plan?: string | undefined
  readonly numbers?: LimitNumbers | undefined
  readonly id: string
  readonly nonce: string
  readonly fingerprint: string
  readonly slot: boolean
  /** The lifetime when it was reserved, in milliseconds. */
  readonly ttlMs: number
}

/** The prefix of tokens, which includes the version. */
const MARK = 'hold2.'
/** The longest token accepted, in characters: two texts of 200 bytes per layer, names and numbers. */
const MAX_TOKEN = 16_384

/** Encodes a hold as text of `A-Z a-z 0-9 - _ .`. */
export function holdToken(name: HoldName): string {
  const { subject, operation, plan, numbers, id, nonce, fingerprint, slot, ttlMs } = name
  const fields = [subject, operation, plan ?? null, numbers ?? null, id, nonce, fingerprint, slot, ttlMs]
  return MARK + base64url(JSON.stringify(fields))
}

/** @throws {QuotaError} `invalid_token` unless {@link holdToken} made it */
export function holdOfToken(token: unknown): HoldName {
  const name = typeof token === 'string' && token.startsWith(MARK) ? parsed(token.slice(MARK.length)) : undefined
  if (name !== undefined) return name
  const got = typeof token === 'string' ? 'another text' : kindOf(token)
  throw new QuotaError(
    'invalid_token',
    `token: expected the token of a hold, got ${got}: pass reservation.token unchanged`,
  )
}

function parsed(text: string): HoldName | undefined {
  if (text.length > MAX_TOKEN) return undefined
  let fields: unknown
  try {
    fields = JSON.parse(ofBase64url(text))
  } catch {
    return undefined
  }
  if (!Array.isArray(fields) || fields.length !== 9) return undefined
  const [subject, operation, plan, numbers, id, nonce, fingerprint, slot, ttlMs] = fields as readonly unknown[]
  const texts = [operation, id, nonce, fingerprint]
  const isWhole =
    (typeof subject === 'string' || (typeof subject === 'object' && subject !== null)) &&
    texts.every((each) => typeof each === 'string') &&
    (plan === null || typeof plan === 'string') &&
    (numbers === null || (isObject(numbers) && Object.values(numbers).every(isNumber))) &&
    typeof slot === 'boolean' &&
    Number.isSafeInteger(ttlMs)
  if (!isWhole) return undefined
  return {
    ...({ subject, operation, id, nonce, fingerprint, slot, ttlMs } as HoldName),
    plan: plan ?? undefined,
    numbers: (numbers ?? undefined) as LimitNumbers | undefined,
  }
}

/** Whether a value can be the number of a limit, maybe with a burst. */
function isNumber(value: unknown): value is LimitNumber {
  return isLimit(value) || (isObject(value) && isLimit(value.limit) && Number.isSafeInteger(value.burst))
}

/** Returns a reference to an open hold for administrators. It contains only the parts of a token that aren't secret. */
export function holdRef(id: string): string {
  return base64url(id)
}

/** Encodes UTF-16 code units, so that any text survives, even lone surrogates. */
function base64url(text: string): string {
  let bytes = ''
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    bytes += String.fromCharCode(unit >> 8, unit & 255)
  }
  return btoa(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

function ofBase64url(text: string): string {
  const bytes = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  let units = ''
  for (let i = 0; i + 1 < bytes.length; i += 2)
    units += String.fromCharCode((bytes.charCodeAt(i) << 8) | bytes.charCodeAt(i + 1))
  return units
}

/** Prefix of the fingerprint of a hold without a caller's id. */
const HOLD_MARK = 'hold '

/** Prefixes of an operation's fingerprints, before the cost: with an id, and for a hold without one. */
export interface Uses {
  readonly id: string
  readonly hold: string
}

/** Records keep these texts, so all reservations of an operation share one object. */
export function usesOf(operation: string): Uses {
  return { id: `${operation}:`, hold: `${HOLD_MARK}${operation}:` }
}

/** Returns the operation in a fingerprint. */
export function operationOf(fingerprint: string): string {
  const use = fingerprint.startsWith(HOLD_MARK) ? fingerprint.slice(HOLD_MARK.length) : fingerprint
  return use.slice(0, use.lastIndexOf(':'))
}
