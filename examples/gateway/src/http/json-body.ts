import express, { type RequestHandler } from 'express'
import { HttpError } from './http-error.ts'

/** Largest request body, in bytes, after decompression, where a service does not say another. */
const MAX_BODY_BYTES = 1_048_576

/** Parses a JSON body; a request without one has the body `{}`. Answers 413, 415 and 400. */
export function jsonBody(maxBytes: number = MAX_BODY_BYTES): RequestHandler {
  const parse = express.json({ limit: maxBytes, type: () => true })
  return (req, res, next) => {
    const contentType = req.get('Content-Type')
    if (contentType === undefined && !hasBody(req.headers)) {
      req.body = {}
      next()
      return
    }
    if (Number(req.get('Content-Length')) > maxBytes) {
      next(tooLarge(maxBytes))
      return
    }
    if (req.is(['application/json', 'application/*+json']) === false) {
      next(new HttpError('unsupported_media_type', 'Send the body as application/json.'))
      return
    }
    parse(req, res, (error?: unknown) => {
      req.body ??= {}
      next(error === undefined ? undefined : bodyError(error, maxBytes))
    })
  }
}

function hasBody(headers: {
  'content-length'?: string | undefined
  'transfer-encoding'?: string | undefined
}): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

function tooLarge(maxBytes: number): HttpError {
  return new HttpError('payload_too_large', `The body is larger than ${maxBytes} bytes.`)
}

/** What the parser's errors mean to a client; their own messages may quote the body and are not shown. */
function bodyError(error: unknown, maxBytes: number): unknown {
  const { status, type } = error as { readonly status?: number; readonly type?: string }
  if (status === 413) return tooLarge(maxBytes)
  if (status === 415) return new HttpError('unsupported_media_type', 'Send the body as UTF-8, plain or gzip.')
  if (type === 'request.aborted') return new HttpError('bad_request', 'The body is shorter than announced.')
  if (status === 400) return new HttpError('bad_request', 'The body is not valid JSON: send an object.')
  return error
}
