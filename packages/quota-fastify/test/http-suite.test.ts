import { once } from 'node:events'
import { Readable } from 'node:stream'
import { type QuotaAnswer, quotaFastify } from '@scoregw/quota-fastify'
import { describeHttpFuzz } from '@scoregw/quota-histories'
import {
  describeHttp,
  HTTP_CASES,
  HttpApp,
  type HttpHarness,
  type HttpRouteSettings,
} from '@scoregw/quota-testkit/http'
import { randomRuns, slowTests } from '@scoregw/server-kit'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { describe, expect, it, test } from 'vitest'

declare module 'fastify' {
  interface FastifyContextConfig {
    second?: FastifyContextConfig['quota']
  }
}

function headerOf({ headers }: FastifyRequest): (name: string) => string | undefined {
  return (name) => headers[name] as string | undefined
}

function settingsOf(app: HttpApp, { cost, plan, ...settings }: HttpRouteSettings = {}) {
  const planOf = (request: FastifyRequest) => app.plan(headerOf(request), plan)
  const limits = (request: FastifyRequest) => app.limits(headerOf(request))
  return { ...settings, limits, plan: planOf, cost: (request: FastifyRequest) => app.cost(headerOf(request), cost) }
}

/** Routes of the suite on an app of Fastify, each with its operation in its `config`. */
async function fastifyOf(app: HttpApp, isHttp2: boolean): Promise<FastifyInstance> {
  const served: FastifyInstance = isHttp2
    ? (fastify({ http2: true }) as never)
    : fastify({ forceCloseConnections: true })
  const common = {
    subject: (request: FastifyRequest) => app.subject(headerOf(request)),
    skip: (request: FastifyRequest) => app.skip(headerOf(request)),
    ...app.ownAnswers(
      (play) =>
        (_request: FastifyRequest, reply: FastifyReply, { status }: QuotaAnswer) =>
          play(() => void reply.code(status).send(`own ${status}`)),
    ),
  }
  if (app.scenario.timesOut) {
    served.addHook('onRequest', (_request, reply, done) => {
      void app.timedOut().then(() => reply.sent || reply.code(503).send('too slow'))
      done()
    })
  }
  await served.register(quotaFastify, { ...app.options, ...common })
  if (app.needsSecond) await served.register(quotaFastify, { ...app.second, ...common, requestPropertyName: 'second' })
  for (const { path, operation, settings, second, ...route } of app.scenario.routes) {
    served.all(path, {
      config: {
        quota: operation === undefined ? false : { operation, ...settingsOf(app, settings) },
        second: second === undefined ? false : { operation: second.operation, ...settingsOf(app, second.settings) },
      },
      async handler(request, reply) {
        const header = headerOf(request)
        const reply_ = app.replyOf({ path, ...route }, header)
        const gone = async () => void (await once(reply.raw, 'close'))
        const call = { header, quota: request.quota ?? undefined, gone }
        app.begin(reply_)
        const done = app.working()
        try {
          await app.before(reply_, call)
        } catch (error) {
          done()
          throw error
        }
        return send(reply, reply_.status ?? 200, reply_.headers ?? {}, bodyOf())

        function bodyOf(): string | Readable | undefined {
          if (reply_.chunks === undefined || reply_.status === 204 || reply_.status === 304) {
            done()
            return reply_.body
          }
          return Readable.from(app.chunks(reply_, call)).once('close', done)
        }
      },
    })
  }
  return served
}

function send(reply: FastifyReply, status: number, headers: Record<string, string>, body: unknown): FastifyReply {
  return reply.code(status).headers(headers).send(body)
}

const CAPABILITIES = ['address', 'hang-ups', 'waiting', 'own-answers', 'time-outs'] as const

function harnessOf(isHttp2: boolean): HttpHarness {
  return {
    capabilities: isHttp2 ? CAPABILITIES : [...CAPABILITIES, 'http1', 'pipelining', 'pipelined-hang-ups'],
    async serve(scenario) {
      const app = new HttpApp(scenario)
      const served = await fastifyOf(app, isHttp2)
      return { app, isHttp2, url: await served.listen({ port: 0, host: '127.0.0.1' }), stop: () => served.close() }
    },
  }
}

const requests = randomRuns(100, 10_000)
const count = describeHttp({ describe, it }, harnessOf(false), 'Fastify 5')
describeHttpFuzz({ describe, it }, harnessOf(false), 'Fastify 5', requests)
test('Fastify runs every case of the HTTP suite', () => expect(count).toBe(HTTP_CASES.length))
if (slowTests) describeHttp({ describe, it }, harnessOf(true), 'Fastify 5 over HTTP/2')
