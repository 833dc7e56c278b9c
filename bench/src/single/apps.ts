import type { Server } from 'node:http'
import rateLimitOfFastify from '@fastify/rate-limit'
import type { HttpBindings } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import { createQuota } from '@scoregw/quota'
import { quotaMiddleware } from '@scoregw/quota-express'
import { quotaFastify } from '@scoregw/quota-fastify'
import { quotaMiddleware as quotaOfHono } from '@scoregw/quota-fetch/hono'
import type { Request, RequestHandler } from 'express'
import { rateLimit } from 'express-rate-limit'
import type { FastifyInstance } from 'fastify'
import type { Context, MiddlewareHandler } from 'hono'
import { rateLimiter } from 'hono-rate-limiter'
import { type AppStart, expressApp, fastifyApp, honoApp, USER_HEADER } from '../http/apps.ts'

/** By what callers are distinguished, and whether they are let through. */
export const CASES = ['by address', 'by key', 'by address, refused'] as const
export type Case = (typeof CASES)[number]

const HOUR_MS = 3_600_000
/** A limit that is never reached. */
const NO_LIMIT = 10 ** 9

const limitOf = (is: Case): number => (is === 'by address, refused' ? 1 : NO_LIMIT)

/** One limit, with the usual fields. */
function oneLimit(is: Case) {
  const quota = createQuota({ limits: { hourly: { by: 'user', limit: limitOf(is), per: '1h' } } })
  return { quota, standardHeaders: 'draft-10' } as const
}

/** The apps by framework, starting with the bare one: `POST /` with the same few bytes. */
export const FRAMEWORKS: Readonly<Record<string, Readonly<Record<string, AppStart>>>> = {
  Express: {
    bare: () => expressApp(),
    ...ofEach('quota', (is) => expressApp(quotaOfExpress(is))),
    ...ofEach('express-rate-limit', (is) => expressApp(limiterOfExpress(is))),
  },
  Fastify: {
    bare: () => fastifyApp(async () => undefined),
    ...ofEach('quota', (is) => fastifyApp((app) => registerQuota(app, is))),
    ...ofEach('@fastify/rate-limit', (is) => fastifyApp((app) => registerLimiter(app, is))),
  },
  Hono: {
    bare: () => honoApp(),
    ...ofEach('quota', (is) => honoApp(ourHono(is))),
    ...ofEach('hono-rate-limiter', (is) => honoApp(limiterOfHono(is))),
  },
}

/** The usual limiter of each framework. */
export const LIMITERS = {
  Express: 'express-rate-limit',
  Fastify: '@fastify/rate-limit',
  Hono: 'hono-rate-limiter',
} as const

export function nameOf(limiter: string, is: Case): string {
  return `${limiter}, ${is}`
}

function ofEach(limiter: string, app: (is: Case) => Promise<Server>): Record<string, AppStart> {
  return Object.fromEntries(CASES.map((is) => [nameOf(limiter, is), () => app(is)]))
}

function quotaOfExpress(is: Case): RequestHandler {
  if (is !== 'by key') return quotaMiddleware({ ...oneLimit(is), anonymous: 'ip' })
  return quotaMiddleware({ ...oneLimit(is), subject: (req) => req.get(USER_HEADER) })
}

function limiterOfExpress(is: Case): RequestHandler {
  const keyGenerator = (req: Request): string => req.get(USER_HEADER) ?? 'none'
  return rateLimit({
    windowMs: HOUR_MS,
    limit: limitOf(is),
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    ...(is === 'by key' ? { keyGenerator } : {}),
  })
}

type Headers = NodeJS.Dict<string | string[]>

async function registerQuota(app: FastifyInstance, is: Case): Promise<void> {
  const subject = ({ headers }: { headers: Headers }): string => String(headers[USER_HEADER])
  await app.register(quotaFastify, { ...oneLimit(is), ...(is === 'by key' ? { subject } : { anonymous: 'ip' }) })
}

async function registerLimiter(app: FastifyInstance, is: Case): Promise<void> {
  const keyGenerator = ({ headers }: { headers: Headers }): string => String(headers[USER_HEADER])
  const max = limitOf(is)
  await app.register(rateLimitOfFastify, { max, timeWindow: HOUR_MS, ...(is === 'by key' ? { keyGenerator } : {}) })
}

const addressOf = (c: Context<{ Bindings: HttpBindings }>): string => getConnInfo(c).remote.address ?? 'none'

function ourHono(is: Case): MiddlewareHandler {
  if (is !== 'by key') return quotaOfHono({ ...oneLimit(is), anonymous: 'ip', address: addressOf })
  return quotaOfHono({ ...oneLimit(is), subject: (c) => c.req.header(USER_HEADER) })
}

function limiterOfHono(is: Case): MiddlewareHandler {
  return rateLimiter({
    windowMs: HOUR_MS,
    limit: limitOf(is),
    standardHeaders: 'draft-7',
    keyGenerator: is === 'by key' ? (c) => c.req.header(USER_HEADER) ?? 'none' : addressOf,
  }) as MiddlewareHandler
}
