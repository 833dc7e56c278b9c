import type { RequestListener } from 'node:http'
import { QUOTA_HEADER_NAMES } from '@scoregw/quota/http'
import compression from 'compression'
import cors from 'cors'
import express, { type Request, type RequestHandler, type Response, Router } from 'express'
import helmet from 'helmet'
import type { Logger } from '../log/logger.ts'
import { type ErrorBody, errorHandlers, gatewayErrorBody } from './error-handler.ts'
import { HttpError } from './http-error.ts'
import { limitInFlight } from './in-flight-limit.ts'
import { BODY_LIMITS, type BodyLimits, jsonBody } from './json-body.ts'
import { mount } from './mount.ts'
import { contextOf, requestId } from './request-context.ts'
import type { Metered, Route } from './route.ts'

/** How many requests of one caller may be in flight. */
const MAX_IN_FLIGHT = 32

/** The parts of a service. */
interface ServiceOptions extends SecurityOptions {
  readonly routes: readonly Route[]
  readonly logger: Logger
  readonly trustProxy: false | number | string[]
  /** Origins whose pages may call the service. */
  corsOrigins(): readonly string[]
  /** Refuses unidentified callers on every path that isn't public. */
  readonly authentication: RequestHandler
  /** Absent: nothing is charged. */
  readonly metered?: Metered | undefined
  /** Handlers that see every request before it is checked. */
  readonly observe?: readonly RequestHandler[] | undefined
  /** Pages and other public files. Requests for anything else go on to the routes. */
  readonly pages?: readonly RequestHandler[] | undefined
  /** @default those of small bodies */
  readonly bodyLimits?: BodyLimits | undefined
  /** How many requests of one caller may be in flight. @default 32 */
  readonly maxInFlight?: number | undefined
  /** @default the gateway's */
  readonly errorBody?: ErrorBody | undefined
  isClosing(): boolean
}

/** A service without a server: routes behind the steps that every request passes. */
export function createService(options: ServiceOptions): RequestListener {
  const { routes, logger, authentication, metered, observe = [], pages = [] } = options
  const { errorBody: bodyOf = gatewayErrorBody, isClosing } = options
  const { bodyLimits = BODY_LIMITS, maxInFlight = MAX_IN_FLIGHT } = options
  const publicPaths = new Set(routes.filter(({ access }) => access === 'public').map(({ path }) => path))

  const app = express()
  app.set('trust proxy', options.trustProxy).set('etag', false).set('query parser', 'simple').disable('x-powered-by')
  app.use(requestId())
  for (const each of observe) app.use(each)
  app.use(requestLog(logger))
  app.use(securityHeaders(options))
  app.use(crossOrigin(options.corsOrigins))
  app.use(refusedWhenClosing(isClosing))
  // Pages are compressed already: a repeated request must not compress them again.
  for (const each of pages) app.use(each)
  // Before the steps that watch heads and bodies, so that they see what the routes wrote.
  app.use(compression())
  app.use(guard(publicPaths, authentication))
  app.use(mount(routes, { parseBody: jsonBody(bodyLimits), metered }))
  app.use(errorHandlers({ logger, bodyOf }))
  return limitInFlight(app, maxInFlight, bodyOf)
}

/** The checks that a request to a path that isn't public passes before its path is looked up. */
function guard(publicPaths: ReadonlySet<string>, authentication: RequestHandler): RequestHandler {
  const isGuarded: RequestHandler = (req, res, next) => {
    if (publicPaths.has(req.path)) return next('router')
    res.set('Cache-Control', 'no-store')
    next()
  }
  return Router().use(isGuarded, authentication)
}

/** When another process should be available, in seconds. */
const RETRY_SECONDS = 5

/** Refuses requests while the gateway is stopping. They arrive on connections that were open already. */
function refusedWhenClosing(isClosing: () => boolean): RequestHandler {
  return (_req, res, next) => {
    if (!isClosing()) {
      next()
      return
    }
    res.set('Connection', 'close')
    throw new HttpError('shutting_down', 'The gateway is stopping. Try again.', { retryAfterSeconds: RETRY_SECONDS })
  }
}

interface SecurityOptions {
  /** The address clients use, if it is known. */
  readonly publicBaseUrl: string | undefined
}

/** Header fields that keep browsers from treating a response as something else. */
function securityHeaders({ publicBaseUrl }: SecurityOptions): RequestHandler {
  return helmet({
    // Responses are data: they load, run and frame nothing.
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    strictTransportSecurity: publicBaseUrl?.startsWith('https:') === true,
  })
}

/**
 * Logs each request when its response is sent. Headers, queries and bodies are left out, as they may hold credentials.
 */
function requestLog(logger: Logger): RequestHandler {
  return (req, res, next) => {
    const startedNs = process.hrtime.bigint()
    // The path as it was sent: routers remove parts of `req.path`.
    const { path } = req
    res.once('close', () => {
      const durationMs = Math.round(Number(process.hrtime.bigint() - startedNs) / 1e3) / 1e3
      logger[levelOf(req, res)]({ ...factsOf(req, res), path, durationMs }, 'request')
    })
    next()
  }
}

function factsOf(req: Request, res: Response): Record<string, unknown> {
  const { statusCode: status, writableFinished } = res
  const { id: requestId, user, holder } = contextOf(req)
  return {
    requestId,
    method: req.method,
    status,
    ip: req.ip,
    ...(user === undefined ? {} : { userId: user.id }),
    ...(holder === undefined ? {} : { holderId: holder.id }),
    ...(writableFinished ? {} : { hungUp: true }),
  }
}

/** Health probes come every few seconds, so they are logged at `debug` only. */
function levelOf({ path }: Request, { statusCode }: Response): 'debug' | 'info' {
  return (path === '/healthz' || path === '/readyz') && statusCode < 400 ? 'debug' : 'info'
}

/** Methods that other origins' pages may use, besides those that any page may. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE']
const REQUEST_HEADERS = [
  'Authorization',
  'Bot-Token',
  'X-API-Key',
  'Content-Type',
  'If-Match',
  'If-None-Match',
  'Idempotency-Key',
  'X-Request-Id',
]
/** Header fields of a response that they may read, besides those that any page may. */
const ANSWER_HEADERS = [...QUOTA_HEADER_NAMES, 'ETag', 'X-Request-Id', 'Idempotency-Replayed']
/** How long a browser may cache a preflight, in seconds. */
const MAX_AGE_SECONDS = 600

/**
 * Lets pages of the given origins call the service, without cookies. Other origins get no CORS headers. The origins are
 * read for each request.
 */
function crossOrigin(origins: () => readonly string[]): RequestHandler {
  return Router()
    .use((_req, res, next) => {
      if (origins().length > 0) res.vary('Origin')
      next()
    })
    .use(
      cors({
        origin: (given, callback) => callback(null, given !== undefined && origins().includes(given)),
        methods: METHODS,
        allowedHeaders: REQUEST_HEADERS,
        exposedHeaders: ANSWER_HEADERS,
        maxAge: MAX_AGE_SECONDS,
      }),
    )
}
