import type { Server } from 'node:http'
import { createQuota } from '@scoregw/quota'
import { quotaMiddleware } from '@scoregw/quota-express'
import { quotaFastify } from '@scoregw/quota-fastify'
import { quotaMiddleware as quotaOfHono } from '@scoregw/quota-fetch/hono'
import type { RequestHandler } from 'express'
import type { FastifyInstance } from 'fastify'
import type { MiddlewareHandler } from 'hono'
import {
  type AppStart,
  addressOfHono,
  expressApp,
  fastifyApp,
  honoApp,
  keyOfExpress,
  keyOfFastify,
  keyOfHono,
  limiterOfExpress,
  limiterOfFastify,
  limiterOfHono,
  NO_LIMIT,
} from '../http/apps.ts'

/** By what callers are distinguished, and whether they are let through. */
export const CASES = ['by address', 'by key', 'by address, refused'] as const
export type Case = (typeof CASES)[number]

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
    ...ofEach('express-rate-limit', (is) => expressApp(limiterOfExpress(limitOf(is), is === 'by key'))),
  },
  Fastify: {
    bare: () => fastifyApp(async () => undefined),
    ...ofEach('quota', (is) => fastifyApp((app) => registerQuota(app, is))),
    ...ofEach('@fastify/rate-limit', (is) => fastifyApp(limiterOfFastify(limitOf(is), is === 'by key'))),
  },
  Hono: {
    bare: () => honoApp(),
    ...ofEach('quota', (is) => honoApp(ourHono(is))),
    ...ofEach('hono-rate-limiter', (is) => honoApp(limiterOfHono(limitOf(is), is === 'by key'))),
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
  return quotaMiddleware({ ...oneLimit(is), subject: keyOfExpress })
}

async function registerQuota(app: FastifyInstance, is: Case): Promise<void> {
  const by = is === 'by key' ? { subject: keyOfFastify } : ({ anonymous: 'ip' } as const)
  await app.register(quotaFastify, { ...oneLimit(is), ...by })
}

function ourHono(is: Case): MiddlewareHandler {
  if (is !== 'by key') return quotaOfHono({ ...oneLimit(is), anonymous: 'ip', address: addressOfHono })
  return quotaOfHono({ ...oneLimit(is), subject: keyOfHono })
}
