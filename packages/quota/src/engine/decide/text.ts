import { QuotaError, type QuotaErrorCode } from '../../errors/quota-error.ts'
import { kindOf, shown } from '../../errors/shown.ts'
import { noSuchName } from '../../options/names.ts'
import type { LayerDefinition } from '../../policy/policy.ts'
import type { Subject } from '../../store/schema.ts'

/** Longest subject key or id, in bytes of UTF-8. */
const MAX_BYTES = 256
/** A UTF-16 unit makes three bytes at the most, so that short texts need no counting. */
const SURELY_SHORT = Math.floor(MAX_BYTES / 3)

/** @throws {QuotaError} unless the text is a string of 1 to 256 bytes */
export function checkText(text: unknown, code: QuotaErrorCode, what: string): asserts text is string {
  if (typeof text === 'string' && text.length > 0 && (text.length <= SURELY_SHORT || fitsBytes(text))) return
  const got = typeof text === 'string' ? `${text.length} characters` : kindOf(text) + asText(text)
  throw new QuotaError(code, `${what}: expected text of 1 to ${MAX_BYTES} bytes (UTF-8), got ${got}`)
}

/** How a key of a database becomes text. */
function asText(value: unknown): string {
  return typeof value === 'number' || typeof value === 'bigint' ? `: use String(${shown(value)})` : ''
}

function fitsBytes(text: string): boolean {
  return text.length <= MAX_BYTES && new TextEncoder().encode(text).length <= MAX_BYTES
}

/** Names of the layers in which each subject has windows of its own. */
export function ownLayerNames(layers: readonly LayerDefinition[]): readonly string[] {
  return layers.filter((layer) => !layer.shared).map(({ name }) => name)
}

/**
 * @param names see {@link ownLayerNames}
 * @throws {QuotaError} `invalid_subject` unless the subject is one string (in a policy with one layer that is not
 * shared), or an object with one string for each such layer
 */
export function checkSubject(subject: unknown, names: readonly string[]): asserts subject is Subject {
  // Most subjects are a short string, and every request passes here.
  const isShort = typeof subject === 'string' && subject.length > 0 && subject.length <= SURELY_SHORT
  if (!isShort || names.length !== 1) checkAnySubject(subject, names)
}

function checkAnySubject(subject: unknown, names: readonly string[]): void {
  if (typeof subject === 'object' && subject !== null && typeof (subject as { then?: unknown }).then !== 'function') {
    checkKeys(subject as Record<string, unknown>, names)
    return
  }
  checkText(subject, 'invalid_subject', 'subject')
  if (names.length === 1) return
  const message = `subject: expected an object with one key for each of ${names.join(', ')}, got a string`
  throw new QuotaError('invalid_subject', message)
}

function checkKeys(keys: Readonly<Record<string, unknown>>, names: readonly string[]): void {
  const stranger = Object.keys(keys).find((key) => !names.includes(key))
  if (stranger !== undefined) {
    const message = `subject: unknown key ${noSuchName(stranger, names, 'one key for each of')}`
    throw new QuotaError('invalid_subject', message)
  }
  for (const name of names)
    checkText(Object.hasOwn(keys, name) ? keys[name] : undefined, 'invalid_subject', `subject.${name}`)
}
