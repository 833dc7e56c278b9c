import { randomUUID } from 'node:crypto'
import type { Request, RequestHandler } from 'express'
import { type ErrorCode, HttpError } from './http-error.ts'

/** A person with an account. */
export interface User {
  readonly id: string
  readonly name: string
  readonly role: 'player' | 'admin'
}

/** A user as stored in the database. */
export interface StoredUser extends User {
  /** Whether all credentials of the user are rejected. */
  readonly disabled: boolean
}

/** The holder of a credential, in a service without users. */
export interface Holder {
  readonly id: string
  readonly name: string
}

/** State that the steps of one request share. */
interface RequestContext {
  /** Identifies this request in responses and logs. */
  readonly id: string
  /** The caller; `undefined` until identified, and on public paths. */
  user: StoredUser | undefined
  holder: Holder | undefined
  /** Identifies the caller again, for responses that take long: the credential may have been revoked. */
  identifyAgain: () => Promise<User | undefined>
  /** The route's input, made from body, query and path. */
  input: unknown
  query: unknown
  params: unknown
  /** Whether a call to another server failed. Such a request is settled as HTTP status 0. */
  isForwardingFailed: boolean
  /** The response's `error`; `undefined` for a success. */
  errorCode: ErrorCode | undefined
  /** Whether the response is a success by its status but a failure by its `returnCode`. */
  isBusinessFail: boolean
}

const contexts = new WeakMap<Request, RequestContext>()

function beginRequest(req: Request, id: string): void {
  contexts.set(req, {
    id,
    user: undefined,
    holder: undefined,
    identifyAgain: async () => undefined,
    input: undefined,
    query: undefined,
    params: undefined,
    isForwardingFailed: false,
    errorCode: undefined,
    isBusinessFail: false,
  })
}

export function contextOf(req: Request): RequestContext {
  const context = contexts.get(req)
  if (context === undefined) throw new Error('this request was never begun: requestId() comes first')
  return context
}

/** A client's own id is used only in this form, so that logs and headers can contain it unchanged. */
const ACCEPTABLE = /^[A-Za-z0-9._-]{1,64}$/

/** Gives every request an id: the one in `X-Request-Id`, or a new one. The response has it in the same field. */
export function requestId(): RequestHandler {
  return (req, res, next) => {
    const given = req.get('X-Request-Id')
    const id = given !== undefined && ACCEPTABLE.test(given) ? given : randomUUID()
    beginRequest(req, id)
    res.set('X-Request-Id', id)
    // A proxy may have routed by one, and a link be made of the other.
    if ((req.headersDistinct.host?.length ?? 0) > 1) throw new HttpError('bad_request', 'Send Host once.')
    next()
  }
}
