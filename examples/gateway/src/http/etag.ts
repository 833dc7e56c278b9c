import { createHash } from 'node:crypto'
import type { Request } from 'express'
import { HttpError } from './http-error.ts'

/** An entity tag made from the content, for documents without versions. */
export function contentEtag(document: object): string {
  const digest = createHash('sha256').update(JSON.stringify(document)).digest('base64url')
  return `"${digest.slice(0, 22)}"`
}

/**
 * Throws unless the stored document is one that the caller wants to change.
 *
 * @param etag `undefined`: nothing is stored
 * @param shorter another tag of the document
 * @returns whether the caller named its state, so that no other change may come between
 */
export type Precondition = (etag: string | undefined, shorter?: string) => boolean

const TAG = /^(?:W\/)?"[\x21\x23-\x7e]*"$/

/**
 * The precondition in `If-Match` and `If-None-Match`; without these fields every state passes. Weak tags match nothing
 * (RFC 9110, 13.1.1). Hand-written: Express' `fresh` compares tags of reads only.
 *
 * @throws {HttpError} `bad_request` for a field of another form; `precondition_required`
 */
export function preconditionOf(req: Request, isRequired = false): Precondition {
  const [match, noneMatch] = [req.get('If-Match')?.trim(), req.get('If-None-Match')?.trim()]
  if (isRequired && match === undefined) {
    throw new HttpError('precondition_required', 'Send If-Match with the ETag of the document you read.')
  }
  const tags = match === undefined || match === '*' ? [] : match.split(',').map((tag) => tag.trim())
  if (!tags.every((tag) => TAG.test(tag))) {
    throw new HttpError('bad_request', 'If-Match: send the ETag of the document you read.')
  }
  if (noneMatch !== undefined && noneMatch !== '*') {
    throw new HttpError('bad_request', 'If-None-Match: only * is supported, to create what does not exist yet.')
  }
  return (etag, shorter = etag) => {
    if (noneMatch !== undefined && etag !== undefined) throw changed(etag, 'There is one already.')
    if (match === undefined) return false
    const isThere = etag !== undefined && (match === '*' || tags.some((tag) => tag === etag || tag === shorter))
    if (!isThere) throw changed(etag)
    return match !== '*'
  }
}

/** 412: another write changed the document. */
export function changed(etag?: string, msg = 'It was changed meanwhile: read it again.'): HttpError {
  return new HttpError('precondition_failed', msg, etag === undefined ? {} : { headers: { ETag: etag } })
}
