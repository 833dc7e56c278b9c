import type { Request, RequestHandler } from 'express'
import type { User } from '../users/user.ts'
import { HttpError } from './http-error.ts'
import { contextOf } from './request-context.ts'
import type { Access } from './route.ts'

/** Tells whose a bearer credential is; `undefined`: nobody's. */
export type Authenticate = (credential: string) => Promise<User | undefined>

/** Longest `Authorization` field that is looked at. */
const MAX_CREDENTIAL_LENGTH = 8_192

/**
 * Lets nobody past who may not know what is there: paths that are not public need a credential, whether they exist or
 * not, and those under `/admin` the administrator's role.
 */
export function authenticated(authenticate: Authenticate, publicPaths: ReadonlySet<string>): RequestHandler {
  return async (req, res, next) => {
    if (publicPaths.has(req.path)) return next()
    res.set('Cache-Control', 'no-store')
    const credential = bearerOf(req)
    const user = credential === undefined ? undefined : await authenticate(credential)
    if (user === undefined) throw unauthorized(credential === undefined)
    contextOf(req).user = user
    if (isAdminPath(req.path)) requireRole(user, 'admin')
    next()
  }
}

/** The caller of a route, once more held against what the route asks for. */
export function callerOf(req: Request, access: Exclude<Access, 'public'>): User {
  const { user } = contextOf(req)
  if (user === undefined) throw unauthorized(true)
  requireRole(user, access)
  return user
}

function requireRole({ role }: User, access: Access): void {
  if (access !== 'admin' || role === 'admin') return
  throw new HttpError('forbidden', "This needs the administrator's role.")
}

function isAdminPath(path: string): boolean {
  return /^\/+admin(?:\/|$)/i.test(path)
}

function bearerOf(req: Request): string | undefined {
  const field = req.get('Authorization')
  if (field === undefined || field.length > MAX_CREDENTIAL_LENGTH) return undefined
  return /^Bearer +(\S+)$/i.exec(field)?.[1]
}

function unauthorized(isMissing: boolean): HttpError {
  const challenge = isMissing ? 'Bearer' : 'Bearer error="invalid_token"'
  const msg = isMissing ? 'Send Authorization: Bearer <token>.' : 'The credential is not valid.'
  return new HttpError('unauthorized', msg, { headers: { 'WWW-Authenticate': challenge } })
}
