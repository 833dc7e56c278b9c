import { type IRouter, type RequestHandler, Router } from 'express'
import type * as z from 'zod'
import type { OperationName } from '../quota/policy.ts'
import { callerOf } from './auth.ts'
import { type Detail, HttpError, invalid } from './http-error.ts'
import { jsonBody } from './json-body.ts'
import { contextOf } from './request-context.ts'
import type { Reply, Route } from './route.ts'

/** Charges a request for an operation: 429 or on to the next step. */
export type Meter = (operation: OperationName) => RequestHandler

/**
 * Serves routes. Each request goes through the same steps in the same order: caller, body, validation, charge, work; a
 * method that a path does not have is 405 before any of it.
 */
export function mount(routes: readonly Route[], meter: Meter): IRouter {
  const router = Router({ caseSensitive: true, strict: true })
  for (const [path, group] of byPath(routes)) {
    const methods = group.map(({ method }) => method.toUpperCase())
    const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].sort().join(', ')
    const served = router.route(path)
    for (const route of group) served[route.method](...steps(route, meter))
    served.options((_req, res) => {
      res.set('Allow', allow).status(204).end()
    })
    served.all(() => {
      throw new HttpError('method_not_allowed', `This path answers ${allow}.`, { headers: { Allow: allow } })
    })
  }
  router.use(() => {
    throw new HttpError('not_found', 'There is nothing at this path.')
  })
  return router
}

function steps(route: Route, meter: Meter): RequestHandler[] {
  const { access, body, operation } = route
  return [
    ...(access === 'public' ? [] : [caller(access)]),
    ...(body === undefined ? [] : [jsonBody, validation(route, body)]),
    ...(operation === undefined ? [] : [meter(operation)]),
    work(route),
  ]
}

function caller(access: 'user' | 'admin'): RequestHandler {
  return (req, _res, next) => {
    callerOf(req, access)
    next()
  }
}

function validation(route: Route, schema: z.ZodType): RequestHandler {
  return async (req, _res, next) => {
    const result = schema.safeParse(req.body)
    if (!result.success) throw invalid(result.error.issues.flatMap(detailsOf))
    contextOf(req).input = route.prepare === undefined ? result.data : await route.prepare(result.data)
    next()
  }
}

function work(route: Route): RequestHandler {
  return async (req, res) => {
    const { input } = contextOf(req)
    const reply = await (route.access === 'public'
      ? route.handle({ req, input })
      : route.handle({ req, input, user: callerOf(req, route.access) }))
    const { status = 200, headers = {}, body }: Reply<unknown> = reply
    res.status(status).set(headers)
    if (body === undefined) res.end()
    else res.json(body)
  }
}

/** One detail an issue; unknown keys one by one. */
function detailsOf(issue: z.core.$ZodIssue): Detail[] {
  const path = issue.path.map(String).join('.')
  if (issue.code !== 'unrecognized_keys') return [{ path, msg: issue.message }]
  return issue.keys.map((key) => ({ path: path === '' ? key : `${path}.${key}`, msg: 'unknown key' }))
}

function byPath(routes: readonly Route[]): Map<string, Route[]> {
  const groups = new Map<string, Route[]>()
  for (const each of routes) groups.set(each.path, [...(groups.get(each.path) ?? []), each])
  return groups
}
