import { isUtf8 } from 'node:buffer'
import express, { type ErrorRequestHandler, type Request, type RequestHandler, Router } from 'express'
import { HttpError } from './http-error.ts'

/** How large a body may be. */
export interface BodyLimits {
  /** After decompression. */
  readonly bytes: number
  /** Commas and opening brackets: they cost the parser most of its time. */
  readonly values: number
  /** Whether it may be compressed with gzip. */
  readonly gzip: boolean
}

/** Far more than any route needs. A body near these limits is parsed in a few milliseconds. */
export const BODY_LIMITS: BodyLimits = { bytes: 65_536, values: 5_000, gzip: false }

const NOT_UTF8 = 'The body is not valid UTF-8.'

/** Reads a JSON body. A request without a body gets `{}`. Answers 413, 415 or 400. */
export function jsonBody(limits: BodyLimits): RequestHandler {
  const { bytes, gzip } = limits
  const parse = express.json({ limit: bytes, inflate: gzip, verify: measuring(limits), type: () => true })
  const none: RequestHandler = (req, _res, next) => {
    req.body ??= {}
    next()
  }
  return Router().use(checkHead(limits), parse, none, asHttpError(limits))
}

/** Checks what the head says about the body. */
function checkHead({ bytes, gzip }: BodyLimits): RequestHandler {
  return (req, _res, next) => {
    const length = Number(req.get('Content-Length') ?? 0)
    if (length > bytes) throw tooLarge(bytes)
    // Without a body, its type doesn't matter.
    if (length > 0 || req.get('Transfer-Encoding') !== undefined) checkType(req, gzip)
    next()
  }
}

function checkType(req: Request, gzip: boolean): void {
  if (req.is(['application/json', 'application/*+json']) === false) {
    throw new HttpError('unsupported_media_type', 'Send the body as application/json.')
  }
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(req.get('Content-Type') ?? '') ?? []
  if (!/^utf-?8$/i.test(charset)) throw new HttpError('unsupported_media_type', 'Send the body as UTF-8.')
  const encoding = (req.get('Content-Encoding') ?? 'identity').trim().toLowerCase()
  if (encoding === 'identity' || (gzip && encoding === 'gzip')) return
  const forms = gzip ? 'plain or packed with gzip' : 'as it is, without Content-Encoding'
  throw new HttpError('unsupported_media_type', `Send the body ${forms}.`)
}

const [COMMA, LIST, OBJECT] = Buffer.from(',[{')

/** Measures a body before it is parsed. What it throws must be a plain Error, because Express adds to it. */
function measuring({ values }: BodyLimits) {
  return (_req: unknown, _res: unknown, body: Buffer): void => {
    if (hasMoreThan(values, body)) throw new Error(`The body has more than ${values} members and elements.`)
    if (!isUtf8(body)) throw new Error(NOT_UTF8)
  }
}

/** Whether a body has more values than that. It looks no further than the first above it. */
function hasMoreThan(values: number, body: Buffer): boolean {
  let left = values
  let index = 0
  // By index: the iterator of a buffer takes ten times as long.
  while (index < body.length && left >= 0) {
    const byte = body[index++]
    if (byte === COMMA || byte === LIST || byte === OBJECT) left--
  }
  return left < 0
}

const SHORT = 'The body is shorter than announced.'
/** What is wrong with a body, by the type that Express gives the error. */
const FAULTS: Readonly<Record<string, string>> = {
  'request.aborted': SHORT,
  'request.size.invalid': SHORT,
  'entity.parse.failed': 'The body is not valid JSON: send an object.',
}

/** The answer never has a part of the body. */
function asHttpError({ bytes }: BodyLimits): ErrorRequestHandler {
  return (error: Error & { readonly type?: string; readonly status?: number }, _req, _res, next) => {
    const { type = '', status, message } = error
    if (type === 'entity.too.large') next(tooLarge(bytes))
    else if (type === 'entity.verify.failed') {
      next(new HttpError(message === NOT_UTF8 ? 'bad_request' : 'payload_too_large', message))
    } else if (error instanceof HttpError || status !== 400) next(error)
    else next(new HttpError('bad_request', FAULTS[type] ?? 'The body is not valid gzip.'))
  }
}

function tooLarge(bytes: number): HttpError {
  return new HttpError('payload_too_large', `The body is larger than ${bytes} bytes.`)
}
