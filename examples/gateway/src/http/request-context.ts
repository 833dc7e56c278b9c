import { randomUUID } from 'node:crypto'
import { ipSubject } from '@scoregw/quota/http'
import type { Request, RequestHandler } from 'express'
import type { ErrorCode } from './http-error.ts'

/** A person with an account. */
export interface User {
  readonly id: string
  readonly name: string
  readonly role: 'player' | 'admin'
}

/** A user as the database has it. */
export interface StoredUser extends User {
  /** Whether every credential of the user is refused. */
  readonly disabled: boolean
}

/** Who holds a credential of a service that has no users. */
export interface Holder {
  readonly id: string
  readonly name: string
}

/** What the steps of one request tell each other. */
interface RequestContext {
  /** Names this request in answers and logs. */
  readonly id: string
  /** The caller; `undefined` until identified, and on public paths. */
  user: StoredUser | undefined
  holder: Holder | undefined
  /** Whose the credential is by now, for answers that last: it may be revoked meanwhile. */
  identifyAgain: () => Promise<User | undefined>
  /** What a route made of the body, the query and the path. */
  input: unknown
  query: unknown
  params: unknown
  /** Whether a call to another server failed: such a request counts as HTTP status 0. */
  isForwardingFailed: boolean
  /** What the answer says in `error`; `undefined` for a success. */
  errorCode: ErrorCode | undefined
  /** Whether the answer is a success by its status, but a failure by its `returnCode`. */
  isBusinessFail: boolean
  /** Gives back what was taken for the work: called before the answer, when the work is refused or fails. */
  abandon: (() => Promise<void>) | undefined
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
    abandon: undefined,
  })
}

export function contextOf(req: Request): RequestContext {
  const context = contexts.get(req)
  if (context === undefined) throw new Error('this request was never begun: requestId() comes first')
  return context
}

/** Who sends a request, as a key: whose credential it has, else the network that it comes from. */
export function callerKey(req: Request): string {
  const { user, holder } = contextOf(req)
  if (user !== undefined) return `user:${user.id}`
  if (holder !== undefined) return `holder:${holder.id}`
  return ipSubject(req.ip ?? '') ?? 'ip:'
}

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
