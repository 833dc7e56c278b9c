import { HttpError } from './http-error.ts'

/** A document's version as an entity tag. */
export function etagOf(version: number): string {
  return `"${version}"`
}

/** What an `If-Match` field asks for: any version, or one of some. */
export type Expected = 'any' | readonly number[]

/**
 * Reads an `If-Match` field: `*`, or entity tags. Weak ones match nothing (RFC 9110, 13.1.1).
 * @throws {HttpError} `bad_request` for a field of another form
 */
export function parseIfMatch(field: string): Expected {
  if (field.trim() === '*') return 'any'
  const tags = field.split(',').map((tag) => tag.trim())
  if (!tags.every((tag) => /^(?:W\/)?"[\x21\x23-\x7e]*"$|^\d+$/.test(tag))) {
    throw new HttpError('bad_request', 'If-Match: send the ETag of the document you read, for example "7".')
  }
  return tags.flatMap((tag) => {
    const version = /^"?(\d{1,15})"?$/.exec(tag)?.[1]
    return version === undefined ? [] : [Number(version)]
  })
}

/** @throws {HttpError} `precondition_required` without the field */
export function requireIfMatch(field: string | undefined): Expected {
  if (field !== undefined) return parseIfMatch(field)
  throw new HttpError('precondition_required', 'Send If-Match with the ETag of the document you read.')
}

/**
 * The version that a write has to find, `undefined` for any.
 * @throws {HttpError} `precondition_failed` when the stored version is none of the expected ones
 */
export function expectedVersion(expected: Expected, stored: number): number | undefined {
  if (expected === 'any') return undefined
  if (expected.includes(stored)) return stored
  throw lostRace(stored)
}

/** 412: somebody else changed the document. */
export function lostRace(stored?: number): HttpError {
  const now = stored === undefined ? '' : ` The document is at version ${stored}.`
  const headers = stored === undefined ? {} : { ETag: etagOf(stored) }
  return new HttpError('precondition_failed', `The document was changed meanwhile: read it again.${now}`, { headers })
}
