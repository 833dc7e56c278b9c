import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener } from 'node:http'
import { ipSubject } from '@scoregw/quota/http'
import type { Express } from 'express'
import proxyAddress from 'proxy-addr'
import type { ErrorBody } from './error-handler.ts'
import { HttpError } from './http-error.ts'

const RETRY_SECONDS = 1

/**
 * Refuses a caller's requests above a number in flight, before anything in them is read: others must not wait for them.
 * A caller is a credential, or an address without one. It stands before Express, so that a refusal costs next to nothing.
 */
export function limitInFlight(app: Express, most: number, bodyOf: ErrorBody): RequestListener {
  const inFlight = new Map<string, number>()
  const msg = `More than ${most} of your requests are in flight. Try again.`
  const error = new HttpError('overloaded', msg, { retryAfterSeconds: RETRY_SECONDS })
  const isProxy: (address: string, hop: number) => boolean = app.get('trust proxy fn')
  return (req, res) => {
    const caller = credentialOf(req) ?? addressOf(req, isProxy)
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
    app(req, res)
  }
}

function credentialOf({ headers }: IncomingMessage): string | undefined {
  return (headers.authorization ?? headers['bot-token'] ?? headers['x-api-key'])?.toString()
}

/** The client's, as `req.ip` of Express; of IPv6 its /56. */
function addressOf(req: IncomingMessage, isProxy: (address: string, hop: number) => boolean): string {
  const address = proxyAddress(req, isProxy)
  return ipSubject(address) ?? address
}
