import type { Request } from 'express'
import type { User } from '../users/user.ts'

/** What the steps of one request tell each other. */
export interface RequestContext {
  /** Names this request in answers and logs. */
  readonly id: string
  /** Who calls; `undefined` until that is known, and where nobody asks. */
  user: User | undefined
  /** What a route made of the body. */
  input: unknown
}

const contexts = new WeakMap<Request, RequestContext>()

export function beginRequest(req: Request, id: string): void {
  contexts.set(req, { id, user: undefined, input: undefined })
}

export function contextOf(req: Request): RequestContext {
  const context = contexts.get(req)
  if (context === undefined) throw new Error('this request was never begun: requestId() comes first')
  return context
}
