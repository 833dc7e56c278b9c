import 'reflect-metadata'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { All, Controller, Module, Req, Res, StreamableFile, type Type } from '@nestjs/common'
import { type AbstractHttpAdapter, NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { describeHttpFuzz } from '@scoregw/quota-histories'
import { type NestRequest, Quota, QuotaModule, RequestQuota } from '@scoregw/quota-nest'
import {
  HTTP_CASES,
  HttpApp,
  type HttpHarness,
  type HttpRoute,
  type HttpRouteSettings,
  runHttpCase,
} from '@scoregw/quota-testkit/http'
import { randomRuns, slowTests } from '@scoregw/server-kit'
import { describe, expect, it, test } from 'vitest'

/** What responses of Express and Fastify have in common. */
interface NestResponse {
  status(code: number): this
  header(name: string, value: string): this
  readonly raw?: ServerResponse
}

function headerOf({ headers }: NestRequest): (name: string) => string | undefined {
  return (name) => headers[name] as string | undefined
}

function settingsOf(app: HttpApp, { cost, plan, ...settings }: HttpRouteSettings = {}) {
  const planOf = (request: NestRequest) => app.plan(headerOf(request), plan)
  const limits = (request: NestRequest) => app.limits(headerOf(request))
  return { ...settings, limits, plan: planOf, cost: (request: NestRequest) => app.cost(headerOf(request), cost) }
}

/** A controller of one route of the suite. */
function controllerOf(app: HttpApp, route: HttpRoute): Type {
  class Playing {
    async play(request: NestRequest, response: NestResponse, quota: RequestQuota | undefined): Promise<unknown> {
      const header = headerOf(request)
      const reply = app.replyOf(route, header)
      const gone = async () => void (await once(response.raw ?? (response as never), 'close'))
      const call = { header, quota, gone }
      app.begin(reply)
      const done = app.working()
      try {
        await app.before(reply, call)
      } catch (error) {
        done()
        throw error
      }
      response.status(reply.status ?? 200)
      for (const [name, value] of Object.entries(reply.headers ?? {})) response.header(name, value)
      if (reply.chunks === undefined || reply.status === 204 || reply.status === 304) {
        done()
        return reply.body
      }
      return new StreamableFile(Readable.from(app.chunks(reply, call), { objectMode: false }).once('close', done))
    }
  }
  const { prototype } = Playing
  const method = Object.getOwnPropertyDescriptor(prototype, 'play')!
  Controller()(Playing)
  All(route.path)(prototype, 'play', method)
  if (route.operation !== undefined) Quota(route.operation, settingsOf(app, route.settings))(prototype, 'play', method)
  Req()(prototype, 'play', 0)
  Res({ passthrough: true })(prototype, 'play', 1)
  RequestQuota()(prototype, 'play', 2)
  return Playing
}

function harnessOf(adapter: () => AbstractHttpAdapter): HttpHarness {
  return {
    capabilities: ['address', 'hang-ups', 'http1', 'pipelining', 'pipelined-hang-ups', 'waiting', 'time-outs'],
    async serve(scenario) {
      const app = new HttpApp(scenario)
      class AppModule {}
      Module({
        imports: [
          QuotaModule.forRoot({
            ...app.options,
            subject: (request: NestRequest) => app.subject(headerOf(request)),
            skip: (request: NestRequest) => app.skip(headerOf(request)),
          }),
        ],
        controllers: scenario.routes.map((route) => controllerOf(app, route)),
      })(AppModule)
      const served = await NestFactory.create(AppModule, adapter(), { logger: false, forceCloseConnections: true })
      if (scenario.timesOut) {
        served.use((_request: unknown, response: ServerResponse, next: () => void) => {
          void app.timedOut().then(() => {
            if (response.headersSent) return
            response.statusCode = 503
            response.end('too slow')
          })
          next()
        })
      }
      await served.listen(0, '127.0.0.1')
      const { port } = served.getHttpServer().address() as AddressInfo
      return { app, url: `http://127.0.0.1:${port}`, stop: () => served.close() }
    },
  }
}

const requests = randomRuns(100, 10_000)
/** An app has one module of quotas: cases of two engines on one route are not for it. */
const CASES = HTTP_CASES.filter(({ scenario }) => scenario.routes.every(({ second }) => second === undefined))

for (const [name, adapter] of [
  ['Nest on Express', () => new ExpressAdapter()],
  ...(slowTests ? [['Nest on Fastify', () => new FastifyAdapter()] as const] : []),
] as const) {
  const harness = harnessOf(adapter)
  describe(name, () => {
    it.each(CASES)('$name', (each) => runHttpCase(each, harness))
  })
  describeHttpFuzz({ describe, it }, harness, name, requests)
}

test('Nest runs all cases of the HTTP suite except eight with two engines', () =>
  expect(HTTP_CASES.length - CASES.length).toBe(8))
