import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import rateLimitOfFastify from '@fastify/rate-limit'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import { createQuota, type Quota } from '@scoregw/quota'
import { quotaMiddleware } from '@scoregw/quota-express'
import { quotaFastify } from '@scoregw/quota-fastify'
import { quotaMiddleware as quotaOfHono } from '@scoregw/quota-fetch/hono'
import express, { type Request, type RequestHandler } from 'express'
import { rateLimit } from 'express-rate-limit'
import fastify, { type FastifyInstance } from 'fastify'
import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { rateLimiter } from 'hono-rate-limiter'
import { type Operation, policyOf } from '../traffic/policies.ts'

/** The header with the subject. */
export const USER_HEADER = 'x-user'

const HOUR_MS = 3_600_000
/** A limit that is never reached, the same for all. */
export const NO_LIMIT = 10 ** 9

const OPERATION: Operation = 'music.upsert'

/** An app to measure, on its own port of IPv4 and IPv6. */
export type AppStart = () => Promise<Server>

/** The names of a framework's apps. */
export const CONTESTANTS = ['bare', 'quota, draft-10 fields', 'quota, no fields', 'its own limiter, one limit'] as const
export type ContestantName = (typeof CONTESTANTS)[number]

/** The apps by framework, starting with the bare one. Each answers `POST /` with the same few bytes. */
export const FRAMEWORKS: Readonly<Record<string, Readonly<Record<ContestantName, AppStart>>>> = {
  Express: {
    bare: () => expressApp(),
    'quota, draft-10 fields': () => expressApp(quotaMiddleware(options('draft-10')).operation(OPERATION)),
    'quota, no fields': () => expressApp(quotaMiddleware(options(false)).operation(OPERATION)),
    'its own limiter, one limit': () => expressApp(limiterOfExpress(NO_LIMIT, true)),
  },
  Fastify: {
    bare: () => fastifyApp(async () => undefined),
    'quota, draft-10 fields': () => fastifyApp(quotaOfFastify('draft-10')),
    'quota, no fields': () => fastifyApp(quotaOfFastify(false)),
    'its own limiter, one limit': () => fastifyApp(limiterOfFastify(NO_LIMIT, true)),
  },
  Hono: {
    bare: () => honoApp(),
    'quota, draft-10 fields': () => honoApp(quotaOfHono(optionsOfHono('draft-10')).operation(OPERATION)),
    'quota, no fields': () => honoApp(quotaOfHono(optionsOfHono(false)).operation(OPERATION)),
    'its own limiter, one limit': () => honoApp(limiterOfHono(NO_LIMIT, true)),
  },
}

type Fields = 'draft-10' | false

/** Six counters that never refuse. */
function engine(): Quota {
  return createQuota({ policy: policyOf() })
}

function options(standardHeaders: Fields) {
  return { quota: engine(), subject: keyOfExpress, standardHeaders } as const
}

function optionsOfHono(standardHeaders: Fields) {
  return { quota: engine(), subject: keyOfHono, standardHeaders } as const
}

export function expressApp(...middleware: RequestHandler[]): Promise<Server> {
  const app = express().post('/', ...middleware, (_req, res) => {
    res.json({ ok: true })
  })
  return listening(createServer(app as RequestListener))
}

function quotaOfFastify(standardHeaders: Fields): (app: FastifyInstance) => Promise<void> {
  return async (app) => {
    const options = { quota: engine(), subject: keyOfFastify, standardHeaders, operation: () => OPERATION }
    await app.register(quotaFastify, options)
  }
}

export async function fastifyApp(limit: (app: FastifyInstance) => Promise<void>): Promise<Server> {
  const app = fastify()
  await limit(app)
  app.post('/', async () => ({ ok: true }))
  await app.listen({ port: 0, host: '::' })
  return app.server
}

export function honoApp(...middleware: MiddlewareHandler[]): Promise<Server> {
  const app = new Hono()
  for (const each of middleware) app.use('/', each)
  app.post('/', (c) => c.json({ ok: true }))
  return listening(createServer(getRequestListener(app.fetch)))
}

async function listening(server: Server): Promise<Server> {
  await once(server.listen(0, '::'), 'listening')
  return server
}

// Each framework's own limiter, with the usual fields -----------------------------------------------------------------

export const keyOfExpress = (req: Request): string => req.get(USER_HEADER) ?? 'nobody'
export const keyOfHono = (c: Context): string => c.req.header(USER_HEADER) ?? 'nobody'
export const keyOfFastify = ({ headers }: { headers: NodeJS.Dict<string | string[]> }): string =>
  String(headers[USER_HEADER])

/** The caller's address in Hono on Node.js. */
export const addressOfHono = (c: Context<{ Bindings: HttpBindings }>): string => getConnInfo(c).remote.address ?? 'none'

/** @param isByKey whether callers are distinguished by the header, rather than by their address */
export function limiterOfExpress(limit: number, isByKey: boolean): RequestHandler {
  const keyGenerator = isByKey ? { keyGenerator: keyOfExpress } : {}
  return rateLimit({ windowMs: HOUR_MS, limit, standardHeaders: 'draft-8', legacyHeaders: false, ...keyGenerator })
}

export function limiterOfFastify(max: number, isByKey: boolean): (app: FastifyInstance) => Promise<void> {
  const keyGenerator = isByKey ? { keyGenerator: keyOfFastify } : {}
  return async (app) => {
    await app.register(rateLimitOfFastify, { max, timeWindow: HOUR_MS, ...keyGenerator })
  }
}

export function limiterOfHono(limit: number, isByKey: boolean): MiddlewareHandler {
  const keyGenerator = isByKey ? keyOfHono : addressOfHono
  return rateLimiter({ windowMs: HOUR_MS, limit, standardHeaders: 'draft-7', keyGenerator }) as MiddlewareHandler
}
