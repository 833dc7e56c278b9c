import 'reflect-metadata'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Controller, Get, HttpException, Module } from '@nestjs/common'
import { type AbstractHttpAdapter, APP_GUARD, NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import type * as nest from '@scoregw/quota-nest'
import { build } from 'esbuild'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'

let quotaNest: typeof nest

// The module as a file of this folder, whose Nest is the oldest.
beforeAll(async () => {
  const outfile = join(import.meta.dirname, '../node_modules/.cache/quota-nest.mjs')
  await build({
    stdin: { contents: `export * from '@scoregw/quota-nest'`, resolveDir: import.meta.dirname },
    bundle: true,
    outfile,
    format: 'esm',
    platform: 'node',
    conditions: ['@scoregw/source'],
    external: ['@nestjs/*', 'rxjs'],
  })
  quotaNest = await import(pathToFileURL(outfile).href)
  return () => rm(outfile)
})

describe.each([
  ['Express', () => new ExpressAdapter() as AbstractHttpAdapter],
  ['Fastify', () => new FastifyAdapter() as AbstractHttpAdapter],
])('the oldest Nest of the range on %s', (_, adapter) => {
  test('admits, settles, refuses, and gets the errors', async () => {
    const { createQuota, QuotaGuard, QuotaModule, Quota } = quotaNest
    const quota = createQuota({ limits: { api: { by: 'user', limit: 2, per: '1h' } } })
    const subject = ({ url }: nest.NestRequest & { readonly url?: string }): string => {
      if (url?.endsWith('bad') === true) throw new HttpException('no such user', 418)
      return 'ann'
    }
    class Routes {
      served(): string {
        return 'served'
      }
      free(): string {
        return 'free'
      }
      thrown(): string {
        throw new HttpException('handler', 409)
      }
    }
    Controller()(Routes)
    for (const name of ['served', 'free', 'thrown'] as const) {
      const method = Object.getOwnPropertyDescriptor(Routes.prototype, name) as PropertyDescriptor
      Get(name)(Routes.prototype, name, method)
      if (name === 'free') Quota(false)(Routes.prototype, name, method)
    }
    class AppModule {}
    Module({
      imports: [QuotaModule.forRoot({ quota, subject, standardHeaders: 'draft-11', logger: false })],
      controllers: [Routes],
      providers: [{ provide: APP_GUARD, useClass: QuotaGuard }],
    })(AppModule)
    const app = await NestFactory.create(AppModule, adapter(), { logger: false, forceCloseConnections: true })
    onTestFinished(() => app.close())
    await app.listen(0, '127.0.0.1')
    const url = await app.getUrl()
    const ask = (path: string): Promise<Response> => fetch(url + path)

    const first = await ask('/served')
    expect([first.status, await first.text()]).toEqual([200, 'served'])
    expect(first.headers.get('ratelimit')).toContain('r=1')
    // Failed requests are refunded.
    for (let i = 0; i < 3; i++) expect(await (await ask('/thrown')).json()).toMatchObject({ message: 'handler' })
    expect((await ask('/served?user=bad')).status).toBe(418)
    expect((await ask('/served')).status).toBe(200)
    const refused = await ask('/served')
    expect(refused.status).toBe(429)
    expect(refused.headers.get('ratelimit')).toContain('r=0')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await refused.json()).toMatchObject({ retryable: true })
    expect((await ask('/free')).status).toBe(200)
  })
})
