import { createHash } from 'node:crypto'
import type { Request } from 'express'
import { HttpError } from './http-error.ts'

/** An entity tag of what a document holds, for documents that count no versions. */
export function contentEtag(document: object): string {
  const digest = createHash('sha256').update(JSON.stringify(document)).digest('base64url')
  return `"${digest.slice(0, 22)}"`
}

/** Throws if the stored document is not the one that the caller has read. `undefined`: nothing is stored. */
export type Precondition = (etag: string | undefined) => void

const TAG = /^(?:W\/)?"[\x21\x23-\x7e]*"$/

/**
 * What `If-Match` and `If-None-Match` ask for; without them everything is right.
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
