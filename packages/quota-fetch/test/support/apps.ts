import { type FetchHandler, type QuotaAnswer, quotaFetch, quotaOf } from '@scoregw/quota-fetch'
import { quotaMiddleware } from '@scoregw/quota-fetch/hono'
import {
  CONTROL_PATH,
  type HeaderOf,
  type HttpApp,
  type HttpRouteSettings,
  playAsResponse,
} from '@scoregw/quota-testkit/http'
import { type Context, Hono, type MiddlewareHandler } from 'hono'

/** What serves an app: a handler of requests, of the address of who sends them, and of what else the platform gives. */
export type ServedFetch = (request: Request, address?: string, bindings?: object) => Response | Promise<Response>

function headerOf(request: Request): HeaderOf {
  return (name) => request.headers.get(name) ?? undefined
}

function goneOf({ signal }: Request): () => Promise<void> {
  return () =>
    new Promise((resolve) => {
      if (signal.aborted) resolve()
      else signal.addEventListener('abort', () => resolve(), { once: true })
    })
}

function pathOf(request: Request): string {
  return new URL(request.url).pathname
}

async function controlled(app: HttpApp, request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url)
  return Response.json(await app.control(pathname + search))
}

/** The suite's app with plain handlers. */
export function fetchApp(app: HttpApp): ServedFetch {
  const common = {
    subject: (request: Request, _address?: string) => app.subject(headerOf(request)),
    skip: (request: Request) => app.skip(headerOf(request)),
    address: (_request: Request, address?: string) => address,
    ...app.ownAnswers(
      (play) =>
        ({ status, headers }: QuotaAnswer) =>
          play(() => new Response(`own ${status}`, { status, headers })),
    ),
  }
  const first = quotaFetch({ ...app.options, ...common })
  const second = app.needsSecond ? quotaFetch({ ...app.second, ...common }) : undefined
  const settingsOf = ({ cost, plan, ...settings }: HttpRouteSettings = {}) => ({
    ...settings,
    plan: (request: Request) => app.plan(headerOf(request), plan),
    limits: (request: Request) => app.limits(headerOf(request)),
    cost: (request: Request) => app.cost(headerOf(request), cost),
  })
  const handlers = new Map<string, FetchHandler<Request, [address?: string]>>()
  for (const route of app.scenario.routes) {
    let handler: FetchHandler<Request, [address?: string]> = (request) => {
      const header = headerOf(request)
      const call = { header, quota: quotaOf(request), gone: goneOf(request) }
      return playAsResponse(app, app.replyOf(route, header), call)
    }
    if (route.second !== undefined && second !== undefined) {
      handler = second.operation(route.second.operation, settingsOf(route.second.settings))(handler)
    }
    if (route.operation !== undefined) handler = first.operation(route.operation, settingsOf(route.settings))(handler)
    handlers.set(route.path, handler)
  }
  return async (request, address) => {
    if (pathOf(request).startsWith(CONTROL_PATH)) return controlled(app, request)
    const handler = handlers.get(pathOf(request))
    if (handler === undefined) return new Response(null, { status: 404 })
    try {
      return await handler(request, address)
    } catch {
      // The platform would answer the error, and some of them would print it.
      return new Response('failed', { status: 500 })
    }
  }
}

/** The suite's app on Hono. */
export function honoApp(app: HttpApp, addressOf: (c: Context) => string | undefined): ServedFetch {
  const common = {
    subject: (c: Context) => app.subject((name) => c.req.header(name)),
    skip: (c: Context) => app.skip((name) => c.req.header(name)),
    address: addressOf,
    ...app.ownAnswers(
      (play) =>
        (_c: Context, { status, headers }: QuotaAnswer) =>
          play(() => new Response(`own ${status}`, { status, headers })),
    ),
  }
  const first = quotaMiddleware({ ...app.options, ...common })
  const second = app.needsSecond ? quotaMiddleware({ ...app.second, ...common, variable: 'second' }) : undefined
  const settingsOf = ({ cost, plan, ...settings }: HttpRouteSettings = {}) => ({
    ...settings,
    plan: (c: Context) => app.plan((name) => c.req.header(name), plan),
    limits: (c: Context) => app.limits((name) => c.req.header(name)),
    cost: (c: Context) => app.cost((name) => c.req.header(name), cost),
  })
  const hono = new Hono()
  hono.onError((error, c) => (error.message === 'too slow' ? c.text('too slow', 503) : c.text('failed', 500)))
  if (app.scenario.timesOut) {
    hono.use(async (_c, next) => {
      const timedOut = app.timedOut().then(() => Promise.reject(new Error('too slow')))
      await Promise.race([next(), timedOut])
    })
  }
  for (const route of app.scenario.routes) {
    const chain: MiddlewareHandler[] = []
    if (route.operation !== undefined) chain.push(first.operation(route.operation, settingsOf(route.settings)))
    if (route.second !== undefined && second !== undefined) {
      chain.push(second.operation(route.second.operation, settingsOf(route.second.settings)))
    }
    for (const middleware of chain) hono.use(route.path, middleware)
    hono.all(route.path, (c) => {
      const header = (name: string) => c.req.header(name)
      const call = { header, quota: c.get('quota'), gone: goneOf(c.req.raw) }
      return playAsResponse(app, app.replyOf(route, header), call)
    })
  }
  return (request, address, bindings) => hono.fetch(request, { ...bindings, address })
}
