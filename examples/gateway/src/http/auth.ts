import type { Request, RequestHandler } from 'express'
import { HttpError } from './http-error.ts'
import { contextOf, type Holder, type StoredUser, type User } from './request-context.ts'

/** Finds who sent a credential; `undefined` if it isn't valid. */
export type Identify<Caller> = (credential: string) => Promise<Caller | undefined>

/** The longest credential that is checked, in characters. */
const MAX_CREDENTIAL_LENGTH = 8_192

/**
 * Refuses callers without a valid bearer credential, also on paths that don't exist: unauthenticated callers can't find
 * out which do. Paths under `/admin` need the administrator's role. Disabled users reach public paths only.
 */
export function usersOnly(find: Identify<StoredUser>): RequestHandler {
  return async (req, _res, next) => {
    const context = contextOf(req)
    const credential = bearerOf(req)
    if (credential === undefined) throw noBearer(true)
    const user = await find(credential)
    if (user === undefined) throw noBearer(false)
    context.user = user
    context.identifyAgain = async () => {
      const now = await find(credential)
      return now?.disabled ? undefined : now
    }
    if (user.disabled) throw new HttpError('user_disabled', 'This account is disabled. Contact an administrator.')
    if (isAdminPath(req.path)) requireRole(user, 'admin')
    next()
  }
}

/** The same for a service whose credentials come in their own header field, for example `Bot-Token`. */
export function holdersOnly(field: string, find: Identify<Holder>): RequestHandler {
  return async (req, _res, next) => {
    const sent = onlyField(req, field)
    const credential = sent === '' || (sent?.length ?? 0) > MAX_CREDENTIAL_LENGTH ? undefined : sent
    const holder = credential === undefined ? undefined : await find(credential)
    if (holder === undefined) throw noField(field, credential === undefined)
    contextOf(req).holder = holder
    next()
  }
}

/** The caller of a route, checked again for the access that the route requires. */
export function callerOf(req: Request, access: 'user' | 'admin'): User {
  const { user } = contextOf(req)
  if (user === undefined) throw noBearer(true)
  requireRole(user, access)
  return user
}

function requireRole({ role }: User, access: 'user' | 'admin'): void {
  if (access !== 'admin' || role === 'admin') return
  throw new HttpError('forbidden', "This needs the administrator's role.")
}

function isAdminPath(path: string): boolean {
  return /^\/+admin(?:\/|$)/i.test(path)
}

/**
 * A header field that may appear once. With two it is unclear which of them a proxy has checked.
 *
 * @throws {HttpError} `bad_request` for two
 */
function onlyField(req: Request, name: string): string | undefined {
  const fields = req.headersDistinct[name.toLowerCase()] ?? []
  if (fields.length > 1) throw new HttpError('bad_request', `Send ${name} once.`)
  return fields[0]
}

function bearerOf(req: Request): string | undefined {
  const field = onlyField(req, 'Authorization')
  if (field === undefined || field.length > MAX_CREDENTIAL_LENGTH) return undefined
  return /^Bearer +(\S+)$/i.exec(field)?.[1]
}

/** The answer to a request without a valid credential. */
export function noBearer(isMissing: boolean): HttpError {
  const challenge = isMissing ? 'Bearer' : 'Bearer error="invalid_token"'
  const msg = isMissing ? 'Send Authorization: Bearer <token>.' : 'The credential is not valid.'
  return new HttpError('unauthorized', msg, { headers: { 'WWW-Authenticate': challenge } })
}

function noField(field: string, isMissing: boolean): HttpError {
  const msg = isMissing ? `Send the credential in ${field}.` : 'The credential is not valid.'
  return new HttpError('unauthorized', msg, { headers: { 'WWW-Authenticate': field } })
}
