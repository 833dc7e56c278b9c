import type { Request } from 'express'
import type { ErrorCode } from './http-error.ts'
import type { StoredUser, User } from './user.ts'

/** Who holds a credential of a service that has no users. */
export interface Holder {
  readonly id: string
  readonly name: string
}

/** What the steps of one request tell each other. */
export interface RequestContext {
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

export function beginRequest(req: Request, id: string): void {
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
