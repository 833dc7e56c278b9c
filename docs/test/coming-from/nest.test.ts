import 'reflect-metadata'
import { Controller, Get, Module, type Type } from '@nestjs/common'
import { APP_GUARD, NestFactory } from '@nestjs/core'
import { createQuota, type Quota as Engine } from '@scoregw/quota'
import { Quota, QuotaGuard, QuotaModule, type QuotaModuleOptions } from '@scoregw/quota-nest'
import type { Request } from 'express'
import request from 'supertest'
import { expect, onTestFinished } from 'vitest'
import { one, rowsOf } from './rows.ts'

/** Applies a method's decorators, which the tests' compiler need not know. */
function decorated(target: Type, method: string, ...decorators: readonly MethodDecorator[]): void {
  const descriptor = Object.getOwnPropertyDescriptor(target.prototype, method)
  if (descriptor === undefined) throw new Error(method)
  for (const decorator of decorators) decorator(target.prototype as object, method, descriptor)
}

/** An app with `/`, decorated by the test, and `/health`, which isn't metered. */
async function appOf(options: Partial<QuotaModuleOptions<Request>>, ...decorators: readonly MethodDecorator[]) {
  class Root {
    read(): string {
      return 'ok'
    }
    health(): string {
      return 'ok'
    }
  }
  decorated(Root, 'read', Get(), ...decorators)
  decorated(Root, 'health', Get('health'), Quota(false))
  Controller()(Root)
  class AppModule {}
  const quota: Engine = one(1)
  const subject = (req: Request): string | undefined => req.get('x-user')
  Module({
    imports: [QuotaModule.forRoot({ quota, subject, ...options })],
    controllers: [Root],
    providers: [{ provide: APP_GUARD, useClass: QuotaGuard }],
  })(AppModule)
  const app = await NestFactory.create(AppModule, { logger: false })
  onTestFinished(() => app.close())
  await app.init()
  return async (path = '/', user = 'ann') => request(app.getHttpServer()).get(path).set('x-user', user)
}

async function statuses(ask: Awaited<ReturnType<typeof appOf>>, ...paths: readonly string[]) {
  const found: number[] = []
  for (const path of paths) found.push((await ask(path)).status)
  return found
}

/** Limits of two operations. */
const TWO: Engine = createQuota({
  limits: {
    short: { by: 'user', limit: 2, per: '1s', for: 'read' },
    long: { by: 'user', limit: 1, per: '1h', for: 'import' },
  },
  operations: { read: {}, import: {} },
})

rowsOf('@nestjs/throttler', {
  async 'ThrottlerModule.forRoot([{ ttl, limit }])'() {
    const ask = await appOf({})
    expect(await statuses(ask, '/', '/')).toEqual([200, 429])
    expect((await ask()).headers['retry-after']).toBe('900')
  },
  async 'several throttlers, name'() {
    const quota: Engine = createQuota({
      limits: { short: { by: 'user', limit: 3, per: '1s' }, long: { by: 'user', limit: 2, per: '1h' } },
    })
    const ask = await appOf({ quota, standardHeaders: 'draft-10', fields: 'all' })
    expect((await ask()).headers.ratelimit).toMatch(/"short";r=2.*"long";r=1/)
    expect(await statuses(ask, '/', '/')).toEqual([200, 429])
  },
  async 'APP_GUARD with ThrottlerGuard'() {
    expect(await statuses(await appOf({}), '/', '/')).toEqual([200, 429])
  },
  async '@Throttle({ default: { limit, ttl } })'() {
    const ask = await appOf({ quota: TWO }, Quota('import'))
    expect(await statuses(ask, '/', '/')).toEqual([200, 429])
  },
  async '@SkipThrottle()'() {
    expect(await statuses(await appOf({}), '/health', '/health', '/')).toEqual([200, 200, 200])
  },
  async 'getTracker(req)'() {
    const ask = await appOf({})
    expect([(await ask('/', 'ann')).status, (await ask('/', 'bob')).status]).toEqual([200, 200])
    const byAddress = await appOf({ subject: undefined, anonymous: 'ip' })
    expect([(await byAddress('/', 'ann')).status, (await byAddress('/', 'bob')).status]).toEqual([200, 429])
  },
  async 'limit: (context) => ...'() {
    const ask = await appOf({ limits: (req) => ({ api: req.get('x-user') === 'paid' ? 2 : null }) })
    expect([(await ask('/', 'paid')).status, (await ask('/', 'paid')).status]).toEqual([200, 200])
    expect([(await ask('/', 'ann')).status, (await ask('/', 'ann')).status]).toEqual([200, 429])
  },
  async skipIf() {
    const ask = await appOf({ skip: (req) => req.get('x-user') === 'probe' })
    for (let i = 0; i < 3; i++) expect((await ask('/', 'probe')).status).toBe(200)
  },
  async errorMessage() {
    const ask = await appOf({ messages: { en: { exceeded: () => 'Too much.' } } })
    await ask()
    expect((await ask()).body).toMatchObject({ msg: 'Too much.' })
  },
  async setHeaders() {
    const ask = await appOf({ legacyHeaders: true })
    expect((await ask()).headers).toMatchObject({ 'x-ratelimit-limit': '1', 'x-ratelimit-remaining': '0' })
  },
  async 'generateKey, a key per route'() {
    const quota: Engine = createQuota({
      limits: { reads: { by: 'user', limit: 1, per: '1h', for: 'read' }, all: { by: 'user', limit: 9, per: '1h' } },
      operations: { read: {}, import: {} },
    })
    expect(await statuses(await appOf({ quota }, Quota('read')), '/', '/')).toEqual([200, 429])
    expect(await statuses(await appOf({ quota }, Quota('import')), '/', '/')).toEqual([200, 200])
  },
  async blockDuration() {
    const quota = one(5)
    await quota.subjects.set('ann', { blocked: true, until: { blocked: Date.UTC(2026, 7, 6, 12, 10) } })
    const refused = await (await appOf({ quota }))()
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '600'])
  },
})
