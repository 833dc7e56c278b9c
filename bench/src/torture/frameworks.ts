import 'reflect-metadata'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import rateLimitOfFastify from '@fastify/rate-limit'
import { ThrottlerStorageRedisService } from '@nest-lab/throttler-storage-redis'
import type { ExecutionContext } from '@nestjs/common'
import { Reflector } from '@nestjs/core'
import { ThrottlerException, ThrottlerGuard, type ThrottlerStorage, ThrottlerStorageService } from '@nestjs/throttler'
import { NotOffered, type TortureLimit, type TortureLimits } from '@scoregw/quota-testkit/torture'
import express from 'express'
import { MemoryStore, rateLimit, type Store } from 'express-rate-limit'
import fastify, { type FastifyRequest } from 'fastify'
import { Hono, type MiddlewareHandler } from 'hono'
import {
  MemoryStore as HonoMemoryStore,
  RedisStore as HonoRedisStore,
  rateLimiter,
  type Store as StoreOfHono,
} from 'hono-rate-limiter'
import type { Redis } from 'ioredis'
import { RedisStore as ExpressRedisStore, type RedisReply } from 'rate-limit-redis'
import { type App, type ByRequest, USER_HEADER } from './by-request.ts'

let prefixes = 0
const newPrefix = (): string => `t${prefixes++}:`

/** The first limit of a route. Fails if there is a second one, which a framework's limiter doesn't support. */
function onlyOf([only, second]: TortureLimits): TortureLimit {
  if (second !== undefined) throw new NotOffered('one limit for each route')
  return only
}

/** One middleware per limit, with separate stores. */
export function ofExpress(redis?: Redis): ByRequest<readonly Store[]> {
  const storeOn = (client: Redis): Store => {
    const sendCommand = (command: string, ...args: string[]) => client.call(command, ...args) as Promise<RedisReply>
    return new ExpressRedisStore({ sendCommand, prefix: newPrefix() })
  }
  return {
    stores: (limits) => limits.map(() => (redis === undefined ? new MemoryStore() : storeOn(redis))),
    async app(limits, stores) {
      const app = express()
      for (const [index, store] of stores.entries()) {
        const { limit, windowMs } = limits[index] ?? limits[0]
        const keyGenerator = (req: express.Request) => req.get(USER_HEADER) ?? ''
        // Its validation checks how an app is built. Here one process plays two on one store.
        app.use(rateLimit({ limit, windowMs, store, keyGenerator, standardHeaders: 'draft-6', validate: false }))
      }
      app.get('/', (_req, res) => void res.end())
      return (subject) => answerOfNode(app, subject)
    },
  }
}

/** Plays a request without a connection. */
function answerOfNode(app: express.Express, subject: string): ReturnType<App> {
  const req = Object.assign(new IncomingMessage(new Socket()), { method: 'GET', url: '/' })
  req.headers[USER_HEADER] = subject
  const res = new ServerResponse(req)
  return new Promise((resolve) => {
    res.end = () => {
      resolve({ status: res.statusCode, field: (name) => res.getHeader(name)?.toString() })
      return res
    }
    app(req, res)
  })
}

/** One limit per route: on Redis by its prefix, in memory in one app, whose limit a function returns. */
export function ofFastify(redis?: Redis): ByRequest<{ readonly nameSpace: string; limit: number; app?: App }> {
  return {
    stores: (limits) => ({ nameSpace: newPrefix(), limit: onlyOf(limits).limit }),
    async app(limits, shared) {
      const { limit, windowMs: timeWindow } = onlyOf(limits)
      shared.limit = limit
      if (shared.app !== undefined && redis === undefined) return shared.app
      const app = fastify()
      const keyGenerator = ({ headers }: FastifyRequest) => String(headers[USER_HEADER])
      const store =
        redis === undefined ? { max: () => shared.limit } : { max: limit, redis, nameSpace: shared.nameSpace }
      await app.register(rateLimitOfFastify, { timeWindow, keyGenerator, ...store })
      app.get('/', async () => '')
      shared.app = async (subject) => {
        const { statusCode, headers } = await app.inject({ url: '/', headers: { [USER_HEADER]: subject } })
        return { status: statusCode, field: (name) => headers[name]?.toString() }
      }
      return shared.app
    },
  }
}

/** One middleware per limit, with separate stores. */
export function ofHono(redis?: Redis): ByRequest<readonly StoreOfHono[]> {
  const storeOn = (client: Redis): StoreOfHono =>
    new HonoRedisStore({
      prefix: newPrefix(),
      client: {
        scriptLoad: (script: string) => client.script('LOAD', script) as Promise<string>,
        evalsha: (sha: string, keys: string[], args: unknown[]) =>
          client.evalsha(sha, keys.length, ...keys, ...(args as string[])) as Promise<never>,
        decr: (key: string) => client.decr(key),
        del: (key: string) => client.del(key),
      },
    }) as unknown as StoreOfHono
  return {
    stores: (limits) => limits.map(() => (redis === undefined ? new HonoMemoryStore() : storeOn(redis))),
    async app(limits, stores) {
      const app = new Hono()
      for (const [index, store] of stores.entries()) {
        const { limit, windowMs } = limits[index] ?? limits[0]
        const keyGenerator = (c: { req: { header(name: string): string | undefined } }) =>
          c.req.header(USER_HEADER) ?? ''
        app.use(rateLimiter({ limit, windowMs, keyGenerator, store }) as MiddlewareHandler)
      }
      app.get('/', (c) => c.text(''))
      return async (subject) => {
        const { status, headers } = await app.request('/', { headers: { [USER_HEADER]: subject } })
        return { status, field: (name) => headers.get(name) ?? undefined }
      }
    },
  }
}

/** The guard, with one throttler per limit. */
export function ofNest(redis?: Redis): ByRequest<ThrottlerStorage> {
  return {
    stores: () =>
      redis === undefined ? new ThrottlerStorageService() : new ThrottlerStorageRedisService(prefixed(redis)),
    async app(limits, storage) {
      const throttlers = limits.map(({ limit, windowMs }, index) => ({ name: `t${index}`, limit, ttl: windowMs }))
      const getTracker = async (req: Record<string, unknown>) => String(req.user)
      const guard = new ThrottlerGuard({ throttlers, getTracker }, storage, new Reflector())
      await guard.onModuleInit()
      return (subject) => answerOfGuard(guard, subject)
    },
  }
}

/** A separate connection with a separate key prefix. */
function prefixed(redis: Redis): Redis {
  return redis.duplicate({ keyPrefix: newPrefix(), lazyConnect: false })
}

async function answerOfGuard(guard: ThrottlerGuard, subject: string): ReturnType<App> {
  const fields = new Map<string, string>()
  const context = {
    getHandler: () => answerOfGuard,
    getClass: () => ThrottlerGuard,
    getType: () => 'http',
    switchToHttp: () => ({
      getRequest: () => ({ user: subject, headers: {} }),
      getResponse: () => ({ header: (name: string, value: unknown) => fields.set(name.toLowerCase(), String(value)) }),
    }),
  } as unknown as ExecutionContext
  // The names of a throttler's fields end in its name, if it has one.
  const field = (name: string) => fields.get(name) ?? [...fields].find(([each]) => each.startsWith(`${name}-`))?.[1]
  try {
    await guard.canActivate(context)
    return { status: 200, field }
  } catch (error) {
    if (!(error instanceof ThrottlerException)) throw error
    return { status: error.getStatus(), field }
  }
}
