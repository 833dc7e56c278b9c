import { randomInt } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Request, RequestHandler } from 'express'
import type { ByteBudget } from './body/byte-budget.ts'
import type { FoundList } from './body/json-scanner.ts'
import { type BodyLimits, mostBytes } from './body/limits.ts'
import { type MeasuredBody, NotUtf8Error, type ReadFault, readBody } from './body/read-body.ts'
import { HttpError } from './http-error.ts'
import { callerKey } from './request-context.ts'
import { turns } from './turns.ts'

/** When the bodies in flight should be answered, in seconds. */
const RETRY_SECONDS = 1

/**
 * Parses a JSON body after measuring it. A request without a body gets `{}`. Answers 413, 415 or 400, and 503 while too
 * many bytes of other bodies are in flight.
 */
export function jsonBody(limits: BodyLimits, budget: ByteBudget): RequestHandler {
  return async (req, res, next) => {
    if (!hasBody(req)) {
      req.body = {}
      return next()
    }
    const most = mostBytes(limits)
    if (Number(req.get('Content-Length')) > most) throw tooLarge(limits)
    const isPacked = checkType(req, limits)
    const caller = callerKey(req)
    const share = budget.share(caller)
    res.once('close', share.end)
    const measured = await readBody(req, limits, isPacked, share, (work) => turns.run(caller, work))
    if (typeof measured === 'string') {
      share.end()
      throw faultOf(measured, limits)
    }
    try {
      req.body = await parseBody(measured, limits.list?.name, () => turns.wait(caller))
    } catch (error) {
      if (error instanceof NotUtf8Error) throw notUtf8()
      if (error instanceof SyntaxError) throw notJson()
      throw error
    }
    next()
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** @returns whether the body is compressed */
function checkType(req: Request, { gzip }: BodyLimits): boolean {
  if (req.is(['application/json', 'application/*+json']) === false) {
    throw new HttpError('unsupported_media_type', 'Send the body as application/json.')
  }
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(req.get('Content-Type') ?? '') ?? []
  if (!/^utf-?8$/i.test(charset)) throw new HttpError('unsupported_media_type', 'Send the body as UTF-8.')
  const encoding = (req.get('Content-Encoding') ?? 'identity').trim().toLowerCase()
  if (encoding === 'identity') return false
  if (gzip && encoding === 'gzip') return true
  const forms = gzip ? 'plain or packed with gzip' : 'as it is, without Content-Encoding'
  throw new HttpError('unsupported_media_type', `Send the body ${forms}.`)
}

function tooLarge(limits: BodyLimits): HttpError {
  return new HttpError('payload_too_large', `The body is larger than ${mostBytes(limits)} bytes.`)
}

function notJson(): HttpError {
  return new HttpError('bad_request', 'The body is not valid JSON: send an object.')
}

function notUtf8(): HttpError {
  return new HttpError('bad_request', 'The body is not valid UTF-8.')
}

/** Why a body was refused; never a part of the body. */
function faultOf(fault: ReadFault, limits: BodyLimits): HttpError {
  const { depth, elements, stringBytes, bytes, list } = limits
  switch (fault) {
    case 'malformed':
      return notJson()
    case 'scalar':
      return new HttpError('bad_request', "The body isn't a JSON object: send one.")
    case 'depth':
      return new HttpError('bad_request', `The body has more than ${depth} objects and lists inside each other.`)
    case 'elements':
      return new HttpError('payload_too_large', `The body has more than ${elements} members and elements.`)
    case 'entry':
      return new HttpError('payload_too_large', `An entry of ${list?.name} is too large.`)
    case 'string':
      return new HttpError('payload_too_large', `A text in the body is larger than ${stringBytes} bytes.`)
    case 'bytes':
      if (list === undefined) return tooLarge(limits)
      return new HttpError(
        'payload_too_large',
        `The body is larger than ${list.bytes} bytes, or than ${bytes} beside ${list.name}.`,
      )
    case 'packing':
      return new HttpError('bad_request', 'The body is not valid gzip.')
    case 'aborted':
      return new HttpError('bad_request', 'The body is shorter than announced.')
    case 'busy':
      return new HttpError('overloaded', 'Too much is being sent right now. Try again.', {
        retryAfterSeconds: RETRY_SECONDS,
      })
  }
}

const BYTE_ORDER_MARK = '\uFEFF'

/**
 * Parses a body. A list in it is parsed piece by piece, and other callers get a turn between two pieces.
 *
 * @param name of the list
 * @param turn resolves when the others have had their turns
 * @throws {SyntaxError} where `JSON.parse` does
 */
export async function parseBody(
  { bytes, scanner }: MeasuredBody,
  name: string | undefined,
  turn: () => Promise<void>,
): Promise<unknown> {
  if (bytes.length === 0) return {}
  const { list } = scanner
  if (name === undefined || list === undefined || list.cuts.length === 0) return parsed(bytes.text(0, bytes.length))
  // The rest is parsed with a random number in place of the list. If the number is there afterwards, the name means the
  // list, and not a later member of the same name.
  const stand = randomInt(2 ** 47)
  const body = parsed(`${bytes.text(0, list.start)}${stand}${bytes.text(list.end, bytes.length)}`)
  const found = (body as Record<string, unknown>)[name]
  const isList = Array.isArray(found) && found.length === 1 && found[0] === stand
  const entries = await entriesOf(bytes, list, turn)
  return isList ? { ...(body as object), [name]: entries } : body
}

async function entriesOf(
  bytes: MeasuredBody['bytes'],
  { start, end, cuts }: FoundList,
  turn: () => Promise<void>,
): Promise<unknown[]> {
  const entries: unknown[] = []
  let from = start
  for (const to of [...cuts, end]) {
    await turn()
    const piece = JSON.parse(`[${bytes.text(from, to)}]`) as unknown[]
    if (piece.length === 0) throw new SyntaxError('a comma with nothing behind it')
    for (const entry of piece) entries.push(entry)
    from = to + 1
  }
  return entries
}

function parsed(text: string): unknown {
  return JSON.parse(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text)
}
