import { createHash } from 'node:crypto'
import type { Request } from 'express'
import { HttpError } from './http-error.ts'

/** Identifies one state of a document. */
export interface Version {
  /** Counts the changes; 0 if nothing is stored. It restarts when data was lost or restored. */
  readonly version: number
  /** Random text of the last change; empty if nothing is stored. */
  readonly revision: string
}

/** A document's version and revision as an entity tag. */
export function etagOf({ version, revision }: Version): string {
  return revision === '' ? `"${version}"` : `"${version}-${revision}"`
}

/** A tag of an `If-Match` field. A version alone is any document of that version. */
interface ExpectedVersion {
  readonly version: number
  readonly revision: string | undefined
}

/** A parsed `If-Match` field: any version, or one of several. */
export type Expected = 'any' | readonly ExpectedVersion[]

/**
 * Parses an `If-Match` field: `*`, or entity tags. Weak tags match nothing (RFC 9110, 13.1.1).
 * Hand-written: Express' `fresh` compares tags of reads only, and doesn't know a version without its revision.
 *
 * @throws {HttpError} `bad_request` for a field of another form
 */
export function parseIfMatch(field: string): Expected {
  if (field.trim() === '*') return 'any'
  const tags = field.split(',').map((tag) => tag.trim())
  if (!tags.every((tag) => /^(?:W\/)?"[\x21\x23-\x7e]*"$|^\d+$/.test(tag))) {
    throw new HttpError('bad_request', 'If-Match: send the ETag of the document you read, for example "7-x1Yz".')
  }
  return tags.flatMap((tag) => {
    const [, version, revision] = /^"?(\d{1,15})(?:-([\w-]+))?"?$/.exec(tag) ?? []
    return version === undefined ? [] : [{ version: Number(version), revision }]
  })
}

/** @throws {HttpError} `precondition_required` if the field is missing */
export function requireIfMatch(field: string | undefined): Expected {
  if (field !== undefined) return parseIfMatch(field)
  throw new HttpError('precondition_required', 'Send If-Match with the ETag of the document you read.')
}

/**
 * The revision that must be stored for a write; `undefined` for any.
 *
 * @throws {HttpError} `precondition_failed` when another revision is stored
 */
export function expectedRevision(expected: Expected, stored: Version): string | undefined {
  if (expected === 'any') return undefined
  const isExpected = expected.some(
    ({ version, revision = stored.revision }) => version === stored.version && revision === stored.revision,
  )
  if (isExpected) return stored.revision
  throw lostRace(stored)
}

/** 412: another write changed the document. */
export function lostRace(stored?: Version): HttpError {
  const now = stored === undefined ? '' : ` The document is at version ${stored.version}.`
  const headers = stored === undefined ? {} : { ETag: etagOf(stored) }
  return new HttpError('precondition_failed', `The document has changed. Read it again.${now}`, {
    headers,
  })
}

/** An entity tag made from the content, for documents without versions. */
export function contentEtag(document: object): string {
  const digest = createHash('sha256').update(JSON.stringify(document)).digest('base64url')
  return `"${digest.slice(0, 22)}"`
}

/** Throws unless the stored document is the one that the caller read. `undefined`: nothing is stored. */
export type Precondition = (etag: string | undefined) => void

const TAG = /^(?:W\/)?"[\x21\x23-\x7e]*"$/

/**
 * The precondition in `If-Match` and `If-None-Match`; without these fields every state passes.
 *
 * @throws {HttpError} `bad_request` for a field of another form
 */
export function preconditionOf(req: Request): Precondition {
  const [match, noneMatch] = [req.get('If-Match'), req.get('If-None-Match')]
  const tags = match?.split(',').map((tag) => tag.trim()) ?? []
  if (match !== undefined && match.trim() !== '*' && !tags.every((tag) => TAG.test(tag))) {
    throw new HttpError('bad_request', 'If-Match: send the ETag of what you read.')
  }
  if (noneMatch !== undefined && noneMatch.trim() !== '*') {
    throw new HttpError('bad_request', 'If-None-Match: only * is supported, to create what does not exist yet.')
  }
  return (etag) => {
    if (noneMatch !== undefined && etag !== undefined) throw changed('There is one already.', etag)
    if (match === undefined) return
    const isThere = etag !== undefined && (match.trim() === '*' || tags.includes(etag))
    if (!isThere) throw changed('It was changed meanwhile: read it again.', etag)
  }
}

function changed(msg: string, etag: string | undefined): HttpError {
  return new HttpError('precondition_failed', msg, etag === undefined ? {} : { headers: { ETag: etag } })
}
