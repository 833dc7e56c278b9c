import { createQuota, definePolicy, memoryStore } from '@scoregw/quota'
import 'reflect-metadata'
import {
  type ArgumentsHost,
  type CanActivate,
  Catch,
  Controller,
  type DynamicModule,
  type ExceptionFilter,
  type ExecutionContext,
  Get,
  type INestApplication,
  Injectable,
  Module,
  type Provider,
  type Type,
  UseGuards,
} from '@nestjs/common'
import { type AbstractHttpAdapter, APP_FILTER, APP_GUARD, NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { waitingQueue } from '@scoregw/quota/waiting'
import {
  InjectQuota,
  type NestRequest,
  Quota,
  QuotaException,
  QuotaGuard,
  QuotaModule,
  RequestQuota,
} from '@scoregw/quota-nest'
import { describe, expect, it, onTestFinished, vi } from 'vitest'

const policy = definePolicy({
  limits: { perHour: { by: 'user', limit: 4, per: '1h' } },
  operations: { read: {}, write: { cost: 3 } },
})

interface User extends NestRequest {
  readonly user?: { readonly id: string }
}

/** Decorators in plain calls: the tests' compiler need not know them. */
function controller(path: string, routes: Record<string, readonly MethodDecorator[]>, of: Type): Type {
  for (const [name, decorators] of Object.entries(routes)) {
    const method = Object.getOwnPropertyDescriptor(of.prototype, name)!
    for (const decorate of [Get(name), ...decorators]) decorate(of.prototype, name, method)
  }
  Controller(path)(of)
  return of
}

interface AppParts {
  readonly module: DynamicModule
  readonly controllers: Type[]
  readonly providers?: Provider[]
}

async function appOf(
  { module, controllers, providers = [] }: AppParts,
  platform: AbstractHttpAdapter = new ExpressAdapter(),
): Promise<INestApplication> {
  class AppModule {}
  Module({ imports: [module], controllers, providers })(AppModule)
  const app = await NestFactory.create(AppModule, platform, { logger: false, abortOnError: false })
  onTestFinished(() => app.close())
  return app
}

async function served(parts: AppParts): Promise<(path: string) => Promise<{ status: number; body: unknown }>> {
  const app = await appOf(parts)
  await app.listen(0, '127.0.0.1')
  const url = await app.getUrl()
  return async (path) => {
    const response = await fetch(`${url}/${path}`, { headers: { 'x-user': 'ann' } })
    const text = await response.text()
    return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : text }
  }
}

const bySubject = (request: NestRequest): string => request.headers['x-user'] as string

function quota() {
  return createQuota({ policy, store: memoryStore() })
}

function music(): Type {
  return class Music {
    read(): string {
      return 'read'
    }
    free(): string {
      return 'free'
    }
  }
}

describe('QuotaModule', () => {
  it('a request with maxWaitMs waits until its limit has room', async () => {
    const engine = quota()
    const queue = waitingQueue(engine)
    const Music = controller('music', { read: [Quota('read', { maxWaitMs: 60_000_000, cost: 4 })] }, music())
    const get = await served({
      module: QuotaModule.forRoot({ quota: engine, subject: bySubject }),
      controllers: [Music],
    })
    expect((await get('music/read')).status).toBe(200)
    const waits = get('music/read')
    await vi.waitFor(() => expect(queue.size).toBe(1), { timeout: 15_000, interval: 5 })
    await engine.reset('ann')
    expect(await waits).toEqual({ status: 200, body: 'read' })
  })

  it('@Quota() on a route comes before its controller’s, and free routes aren’t metered', async () => {
    const Music = controller('music', { read: [], free: [Quota(false)] }, music())
    Quota('write')(Music)
    const ask = await served({
      module: QuotaModule.forRoot({ quota: quota(), subject: bySubject }),
      controllers: [Music],
    })
    expect((await ask('music/read')).status).toBe(200)
    expect(await ask('music/read')).toMatchObject({
      status: 429,
      body: { error: 'quota_exceeded', quota: { used: 3, limit: 4, requested: 3 } },
    })
    expect(await ask('music/free')).toEqual({ status: 200, body: 'free' })
  })

  it('forRootAsync() takes options from a factory, and the engine and the request’s quota are injected', async () => {
    class Config {
      readonly engine = quota()
    }
    class ConfigModule {}
    Module({ providers: [Config], exports: [Config] })(ConfigModule)
    class Status {
      readonly engine: Quota
      constructor(engine: Quota) {
        this.engine = engine
      }
      async read(own: RequestQuota): Promise<object> {
        await own.commit(0)
        const { limits } = await this.engine.status('ann')
        return { cost: own.decision.cost, used: Object.values(limits)[0]?.used }
      }
    }
    controller('status', { read: [Quota('write')] }, Status as Type)
    InjectQuota()(Status, undefined, 0)
    RequestQuota()(Status.prototype, 'read', 0)
    const module = QuotaModule.forRootAsync({
      imports: [ConfigModule],
      inject: [Config],
      useFactory: async ({ engine }: Config) => ({ quota: engine, subject: bySubject }),
    })
    const ask = await served({ module, controllers: [Status as Type] })
    expect(await ask('status/read')).toEqual({ status: 200, body: { cost: 3, used: 0 } })
  })

  it('a global guard meters every route of an engine with one operation, and decorated ones once', async () => {
    const engine = createQuota({ limits: { api: { by: 'user', limit: 2, per: '1h' } } })
    const warnings: string[] = []
    const logger = { warn: ({ message }: Error) => void warnings.push(message), error: () => undefined }
    const Music = controller('music', { read: [Quota('request', {})], free: [Quota(false)] }, music())
    const ask = await served({
      module: QuotaModule.forRoot({ quota: engine, subject: bySubject, logger }),
      controllers: [Music],
      providers: [{ provide: APP_GUARD, useClass: QuotaGuard }],
    })
    const statuses: number[] = []
    for (const path of ['read', 'read', 'read', 'free']) statuses.push((await ask(`music/${path}`)).status)
    expect([statuses, warnings]).toEqual([[200, 200, 429, 200], []])
  })

  it('the quota guard runs after guards below it, and exception filters can answer', async () => {
    class Auth implements CanActivate {
      canActivate(context: ExecutionContext): boolean {
        const request = context.switchToHttp().getRequest<{ user?: object }>()
        request.user = { id: 'ann' }
        return true
      }
    }
    Injectable()(Auth)
    class Filter implements ExceptionFilter<QuotaException> {
      catch({ answer }: QuotaException, host: ArgumentsHost): void {
        host.switchToHttp().getResponse().status(answer.status).send(`wait, ${answer.status}`)
      }
    }
    Catch(QuotaException)(Filter)
    const Music = controller('music', { read: [UseGuards(Auth), Quota('write')] }, music())
    const subject = ({ user }: User) => user?.id
    const ask = await served({
      module: QuotaModule.forRoot({ quota: quota(), subject }),
      controllers: [Music],
      providers: [{ provide: APP_FILTER, useClass: Filter }],
    })
    expect((await ask('music/read')).status).toBe(200)
    expect(await ask('music/read')).toEqual({ status: 429, body: 'wait, 429' })
  })

  /** An Express app that trusts proxies so. */
  function expressTrusting(trust: boolean | number): AbstractHttpAdapter {
    const platform = new ExpressAdapter()
    platform.set('trust proxy', trust)
    return platform
  }

  it.each<[string, AbstractHttpAdapter, string[]]>([
    ['Express, without trust', new ExpressAdapter(), ['untrusted_forwarded_for']],
    ['Express, trusting everybody', expressTrusting(true), ['permissive_trust_proxy']],
    ['Express, trusting one proxy', expressTrusting(1), []],
    ['Fastify, without trust', new FastifyAdapter(), ['untrusted_forwarded_for']],
    ['Fastify, trusting everybody', new FastifyAdapter({ trustProxy: true }), ['permissive_trust_proxy']],
    ['Fastify, trusting the proxy', new FastifyAdapter({ trustProxy: '127.0.0.1' }), []],
  ])('a request with X-Forwarded-For on %s gives the expected warnings', async (_, platform, codes) => {
    const warnings: unknown[] = []
    const logger = { warn: (warning: unknown) => void warnings.push(warning), error: () => undefined }
    const Music = controller('music', { read: [Quota('read')] }, music())
    const options = { quota: quota(), subject: () => undefined, anonymous: 'ip', logger } as const
    const app = await appOf({ module: QuotaModule.forRoot(options), controllers: [Music] }, platform)
    await app.listen(0, '127.0.0.1')
    const headers = { 'x-forwarded-for': '198.51.100.7' }
    for (let n = 0; n < 2; n++) expect((await fetch(`${await app.getUrl()}/music/read`, { headers })).status).toBe(200)
    expect(warnings).toMatchObject(codes.map((code) => ({ name: 'QuotaWarning', code })))
    expect(warnings).toHaveLength(codes.length)
  })

  it('an app with an unknown operation or invalid options doesn’t start', async () => {
    const Music = controller('music', { read: [Quota('raed')] }, music())
    const app = await appOf({
      module: QuotaModule.forRoot({ quota: quota(), subject: bySubject }),
      controllers: [Music],
    })
    await expect(app.init()).rejects.toMatchObject({
      code: 'unknown_operation',
      message: expect.stringContaining('raed'),
    })
    const faulty = { quota: quota(), subject: bySubject, settle: 'sometimes' as never }
    await expect(appOf({ module: QuotaModule.forRoot(faulty), controllers: [] })).rejects.toMatchObject({
      code: 'invalid_options',
      message: expect.stringContaining('settle'),
    })
  })

  it('a controller with @Quota() needs QuotaModule to start an app, but not in a unit test', async () => {
    class AppModule {}
    Module({ controllers: [controller('music', { read: [Quota('read')] }, music())] })(AppModule)
    const context = await NestFactory.create(AppModule, { logger: false, abortOnError: false })
    onTestFinished(() => context.close())
    await expect(context.init()).rejects.toThrow('@Quota() needs QuotaModule: import QuotaModule.forRoot({ ... })')
  })

  it('metering a handler that isn’t HTTP is rejected with its name', async () => {
    const Music = controller('music', { read: [Quota('read')] }, music())
    const app = await appOf({
      module: QuotaModule.forRoot({ quota: quota(), subject: bySubject }),
      controllers: [Music],
    })
    await app.init()
    const context = { getType: () => 'graphql', getHandler: () => Music.prototype.read, getClass: () => Music }
    const guard = app.get(QuotaGuard)
    expect(() => guard.canActivate(context as unknown as ExecutionContext)).toThrow('Music.read() handles graphql')
  })
})
