import { randomUUID } from 'node:crypto'
import type { RequestHandler } from 'express'
import { beginRequest } from './request-context.ts'

/** A client's own id is taken over only in this form, so that it can stand in a log or a header as it is. */
const ACCEPTABLE = /^[A-Za-z0-9._-]{1,64}$/

/** Gives every request an id: the one in `X-Request-Id`, or a new one. The answer carries it in the same field. */
export function requestId(): RequestHandler {
  return (req, res, next) => {
    const given = req.get('X-Request-Id')
    const id = given !== undefined && ACCEPTABLE.test(given) ? given : randomUUID()
    beginRequest(req, id)
    res.set('X-Request-Id', id)
    next()
  }
}
