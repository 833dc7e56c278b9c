import compression from 'compression'
import express, { type Express, type Request, type RequestHandler, type Response, Router } from 'express'
import helmet from 'helmet'
import type { Logger } from '../log/logger.ts'
import type { Authentication } from './auth.ts'
import { ByteBudget } from './body/byte-budget.ts'
import { BODY_LIMITS, type BodyLimits } from './body/limits.ts'
import { crossOrigin } from './cross-origin.ts'
import { type ErrorBody, errorHandlers, gatewayErrorBody } from './error-handler.ts'
import type { FailureLimit } from './failure-limit.ts'
import { HttpError } from './http-error.ts'
import { jsonBody } from './json-body.ts'
import { mount } from './mount.ts'
import { Refusals } from './refusals.ts'
import { contextOf, requestId } from './request-context.ts'
import type { ChargeStep, Route } from './route.ts'

const BODY_BUDGET = [32 * 1_048_576, 8 * 1_048_576] as const

/** What a service of the gateway is made of. */
interface ServiceOptions extends SecurityOptions {
  readonly routes: readonly Route[]
  readonly logger: Logger
  readonly trustProxy: false | number | string[]
  /** Origins whose pages may call the service. */
  corsOrigins(): readonly string[]
  /** Refuses unidentified callers on all paths that are not public. */
  readonly authentication: Authentication
  /** Limits the failed requests of each caller. */
  readonly failures: FailureLimit
  /** Absent: nothing is charged. */
  readonly charge?: ChargeStep | undefined
  /** See every request before it is checked. */
  readonly observe?: readonly RequestHandler[] | undefined
  /** Pages and other files, open to everybody; what they do not have goes on to the routes. */
  readonly pages?: RequestHandler | undefined
  /** @default those of small bodies */
  readonly bodyLimits?: BodyLimits | undefined
  /** Most bytes of bodies in flight: of all callers, and of one. @default 32 MiB, 8 MiB */
  readonly bodyBudget?: readonly [all: number, ofOne: number] | undefined
  /** @default the gateway's */
  readonly errorBody?: ErrorBody | undefined
  isClosing(): boolean
}

/** A service without a server: routes behind the steps that every request goes through. */
export function createService(options: ServiceOptions): Express {
  const { routes, logger, authentication, failures, charge, observe = [], pages } = options
  const { errorBody: bodyOf = gatewayErrorBody, isClosing } = options
  const { bodyLimits = BODY_LIMITS, bodyBudget = BODY_BUDGET } = options
  const publicPaths = new Set(routes.filter(({ access }) => access === 'public').map(({ path }) => path))
  const paths = new Set(routes.map(({ path }) => path))
  const isGuarded = ({ method, path }: Request): boolean => {
    if (isClosing() || method === 'OPTIONS' || publicPaths.has(path)) return false
    // Pages are there for these two.
    return (method !== 'GET' && method !== 'HEAD') || paths.has(path)
  }
  const refusals = new Refusals({ failures, logger, bodyOf, isGuarded })

  const app = express()
  app.set('trust proxy', options.trustProxy).set('etag', false).set('query parser', 'simple').disable('x-powered-by')
  app.use(requestId())
  for (const each of observe) app.use(each)
  app.use(refusals.repeat)
  app.use(requestLog(logger))
  app.use(securityHeaders(options))
  app.use(crossOrigin(options.corsOrigins))
  app.use(refusedWhenClosing(isClosing))
  // These are compressed already: a repeated request must not cost that again.
  if (pages !== undefined) app.use(pages)
  // Before whatever watches heads and bodies, so that they see them as the routes made them.
  app.use(compression())
  app.use(guard(publicPaths, authentication, failures))
  app.use(mount(routes, { parseBody: jsonBody(bodyLimits, new ByteBudget(...bodyBudget)), charge }))
  app.use(errorHandlers({ logger, failures, bodyOf, onRefused: (...answered) => refusals.keep(...answered) }))
  return app
}

/** What a request to a path that isn't public has to pass before its path is looked up. */
function guard(
  publicPaths: ReadonlySet<string>,
  { identify, admit }: Authentication,
  failures: FailureLimit,
): RequestHandler {
  const isGuarded: RequestHandler = (req, res, next) => {
    if (publicPaths.has(req.path)) return next('router')
    res.set('Cache-Control', 'no-store')
    next()
  }
  return Router().use(isGuarded, identify, failures.charge, admit)
}

/** Seconds after which another process should be there. */
const RETRY_SECONDS = 5

/** Turns requests away once the gateway is stopping: they came on connections that were open already. */
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

/** Header fields that keep browsers from doing with an answer what it is not made for. */
function securityHeaders({ publicBaseUrl }: SecurityOptions): RequestHandler {
  return helmet({
    // Answers are data: nothing is loaded, run or framed.
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    strictTransportSecurity: publicBaseUrl?.startsWith('https:') === true,
  })
}

/** Logs each request when its answer is sent: never a header, a query or a body, since they may hold credentials. */
function requestLog(logger: Logger): RequestHandler {
  return (req, res, next) => {
    const startedNs = process.hrtime.bigint()
    // The path as it came: a router takes parts of `req.path` away.
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

/** Health probes come every few seconds: they are logged at `debug` only. */
function levelOf({ path }: Request, { statusCode }: Response): 'debug' | 'info' {
  return (path === '/healthz' || path === '/readyz') && statusCode < 400 ? 'debug' : 'info'
}
