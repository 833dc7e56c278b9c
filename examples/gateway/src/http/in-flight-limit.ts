import { randomUUID } from 'node:crypto'
import { ipSubject } from '@scoregw/quota/http'
import type { Request, RequestHandler } from 'express'
import type { ErrorBody } from './error-handler.ts'
import { HttpError } from './http-error.ts'

const RETRY_SECONDS = 1

/**
 * Refuses a caller's requests above a number in flight, before anything in them is read: others must not wait for them.
 * A caller is a credential, or an address without one. Mount it first, so that a refusal costs next to nothing.
 */
export function limitInFlight(most: number, bodyOf: ErrorBody): RequestHandler {
  const inFlight = new Map<string, number>()
  const msg = `More than ${most} of your requests are in flight. Try again.`
  const error = new HttpError('overloaded', msg, { retryAfterSeconds: RETRY_SECONDS })
  return (req, res, next) => {
    const caller = callerOf(req)
    const before = inFlight.get(caller) ?? 0
    if (before >= most) {
      const id = randomUUID()
      const headers = { ...error.headers, 'Content-Type': 'application/json; charset=utf-8', 'X-Request-Id': id }
      res.writeHead(error.status, headers).end(JSON.stringify(bodyOf(error, id)))
      return
    }
    inFlight.set(caller, before + 1)
    res.once('close', () => {
      const left = (inFlight.get(caller) ?? 0) - 1
      if (left > 0) inFlight.set(caller, left)
      else inFlight.delete(caller)
    })
    next()
  }
}

/** The address is the client's, as `TRUST_PROXY` has it; of IPv6 its /56. */
function callerOf({ headers, ip = '' }: Request): string {
  const credential = headers.authorization ?? headers['bot-token'] ?? headers['x-api-key']
  return credential?.toString() ?? ipSubject(ip) ?? ip
}
