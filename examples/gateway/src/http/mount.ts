import { type IRouter, type Request, type RequestHandler, type Response, Router } from 'express'
import type * as z from 'zod'
import type { Charge } from '../db/with-player.ts'
import { callerOf } from './auth.ts'
import { type Detail, detailsOf, HttpError, invalid } from './http-error.ts'
import { contextOf } from './request-context.ts'
import type { Call, Metered, Reply, Route, UserCall } from './route.ts'

const EVENTS = 'text/event-stream'
/** Compression and a proxy's buffer would hold events back. */
const EVENTS_FIELDS = { 'Cache-Control': 'no-store, no-transform', 'X-Accel-Buffering': 'no' }

export interface MountOptions {
  /** Parses a request's body. */
  readonly parseBody: RequestHandler
  /** Absent: nothing is charged. */
  readonly metered?: Metered | undefined
}

/**
 * Serves routes. Every request passes the same steps in the same order: caller, body, validation, recall, charge, work.
 * A method that the path doesn't have gets a 405 before the first step.
 */
export function mount(routes: readonly Route[], options: MountOptions): IRouter {
  const router = Router({ caseSensitive: true, strict: true })
  for (const [path, group] of byPath(routes)) {
    const methods = group.map(({ method }) => method.toUpperCase())
    const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].sort().join(', ')
    const served = router.route(path)
    for (const route of group) served[route.method](...steps(route, options))
    served.options((_req, res) => {
      res.set('Allow', allow).status(204).end()
    })
    served.all(() => {
      throw new HttpError('method_not_allowed', `This path answers ${allow}.`, { headers: { Allow: allow } })
    })
  }
  router.use(() => {
    throw new HttpError('not_found', 'This path does not exist.')
  })
  return router
}

function steps(route: Route, { parseBody, metered }: MountOptions): RequestHandler[] {
  const { access, body, operation } = route
  const recall = access === 'user' || access === 'admin' ? route.recall : undefined
  return [
    ...(body === undefined ? [] : [parseBody]),
    validation(route),
    ...(recall === undefined ? [] : [recalling(route, recall)]),
    ...(operation === undefined || metered === undefined ? [] : [metered(route)]),
    handling(route),
  ]
}

function validation(route: Route): RequestHandler {
  const { params, query, body } = route
  return async (req, _res, next) => {
    const context = contextOf(req)
    const parsedParams = parsed(params, req.params)
    const parsedQuery = parsed(query, req.query)
    const parsedBody = parsed(body, req.body)
    // The next steps may take long: don't keep the raw body for them.
    req.body = undefined
    const faults = [...parsedParams.faults, ...parsedQuery.faults, ...parsedBody.faults]
    if (faults.length > 0) throw invalid(faults)
    context.params = parsedParams.data
    context.query = parsedQuery.data
    context.input = route.prepare === undefined ? parsedBody.data : await route.prepare(parsedBody.data)
    next()
  }
}

function parsed(schema: z.ZodType | undefined, value: unknown): { data: unknown; faults: Detail[] } {
  if (schema === undefined) return { data: undefined, faults: [] }
  const result = schema.safeParse(value)
  return result.success
    ? { data: result.data, faults: [] }
    : { data: undefined, faults: result.error.issues.flatMap(detailsOf) }
}

function recalling(route: Route, recall: (call: UserCall<unknown>) => Promise<Reply<unknown> | undefined>) {
  const access = route.access === 'admin' ? 'admin' : 'user'
  return async (req: Request, res: Response, next: () => void): Promise<void> => {
    const reply = await recall({ ...callOf(req), user: callerOf(req, access) })
    if (reply === undefined) next()
    else send(route, res, reply)
  }
}

/** Runs a route's handler, and sends the response. */
function handling(route: Route): RequestHandler {
  return async (req, res) => {
    // A stream of events may last long, and a HEAD request wants none of them.
    if (req.method === 'HEAD' && route.answerType === EVENTS) return send(route, res, {})
    const call = callOf(req)
    const reply = await (route.access === 'public' || route.access === 'holder'
      ? route.handle(call)
      : route.handle({ ...call, user: callerOf(req, route.access) }))
    send(route, res, reply)
  }
}

function callOf(req: Request): Call<unknown> {
  const { input, query, params } = contextOf(req)
  // A request that was charged before its work has no `charge`.
  const charge: Charge = async (transaction) => {
    if (req.charge !== undefined) await req.charge(transaction)
    return req.quota?.decision.cost ?? 0
  }
  return { req, input, query, params, charge }
}

function send({ answerType }: Route, res: Response, reply: Reply<unknown>): void {
  const { status = 200, headers = {}, body, stream } = reply
  contextOf(res.req).isBusinessFail = isBusinessFail(body)
  res.status(status).set(headers)
  if (answerType === EVENTS) res.type(EVENTS).set(EVENTS_FIELDS)
  if (stream !== undefined) stream(res)
  else if (body === undefined) res.end()
  else if (answerType === undefined) res.json(body)
  else res.type(answerType).send(body)
}

/** Whether an envelope reports a failure, regardless of its status. */
function isBusinessFail(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'returnCode' in body && body.returnCode !== 1
}

function byPath(routes: readonly Route[]): Map<string, Route[]> {
  const groups = new Map<string, Route[]>()
  for (const each of routes) groups.set(each.path, [...(groups.get(each.path) ?? []), each])
  return groups
}
