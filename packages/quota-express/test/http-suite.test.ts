import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type QuotaAnswer, quotaErrorHandler, quotaMiddleware } from '@scoregw/quota-express'
import { describeHttpFuzz } from '@scoregw/quota-histories'
import {
  describeHttp,
  HTTP_CASES,
  HttpApp,
  type HttpHarness,
  type HttpRouteSettings,
  playOnNode,
  type ServedHttpApp,
} from '@scoregw/quota-testkit/http'
import { randomRuns, slowTests } from '@scoregw/server-kit'
import type { ErrorRequestHandler, NextFunction, Request, RequestHandler, Response } from 'express'
import express from 'express'
import express4 from 'express4'
import { describe, expect, it, test } from 'vitest'

/** Routes of the suite on an app of Express, each with the middleware of its operation. */
function expressOf(make: typeof express, app: HttpApp): ReturnType<typeof express> {
  const common = {
    subject: (req: Request) => app.subject((name) => req.get(name)),
    skip: (req: Request) => app.skip((name) => req.get(name)),
    ...app.ownAnswers(
      (play) =>
        (_req: Request, res: Response, _next: NextFunction, { status }: QuotaAnswer) =>
          play(() => void res.status(status).send(`own ${status}`)),
    ),
  }
  const metered = quotaMiddleware({ ...common, ...app.options })
  const second = app.needsSecond
    ? quotaMiddleware({ ...common, ...app.second, requestPropertyName: 'second' })
    : undefined
  const settingsOf = ({ cost, plan, ...settings }: HttpRouteSettings = {}) => ({
    ...settings,
    plan: (req: Request) => app.plan((name) => req.get(name), plan),
    limits: (req: Request) => app.limits((name) => req.get(name)),
    cost: (req: Request) => app.cost((name) => req.get(name), cost),
  })

  const served = make()
  served.set('env', 'test')
  if (app.scenario.timesOut) {
    served.use((_req, res, next) => {
      void app.timedOut().then(() => res.headersSent || res.status(503).send('too slow'))
      next()
    })
  }
  for (const route of app.scenario.routes) {
    const handlers: RequestHandler[] = []
    if (route.operation !== undefined) handlers.push(metered.operation(route.operation, settingsOf(route.settings)))
    if (route.second !== undefined && second !== undefined) {
      handlers.push(second.operation(route.second.operation, settingsOf(route.second.settings)))
    }
    served.all(route.path, ...handlers, (req, res, next) => {
      const header = (name: string) => req.get(name)
      const gone = async () => void (await once(res, 'close'))
      // Express 4 ignores promises that reject.
      playOnNode(app, app.replyOf(route, header), { header, quota: req.quota, gone }, responseOf(res)).catch(next)
    })
  }
  served.use(quotaErrorHandler())
  const answerFailed: ErrorRequestHandler = (error, _req, res, next) => {
    if (res.headersSent) next(error)
    else res.status(500).send('failed')
  }
  return served.use(answerFailed)
}

/** Bodies go out as Express sends them, streams as Node does. */
function responseOf(res: Response): Parameters<typeof playOnNode>[3] {
  let isHead = true
  return {
    writeHead: (status, headers = {}) => res.status(status).set(headers),
    write(chunk) {
      isHead = false
      return res.write(chunk)
    },
    end: (body) => (isHead && body !== undefined ? res.send(body) : res.end()),
  }
}

function harnessOf(make: typeof express): HttpHarness {
  return {
    capabilities: [
      'address',
      'hang-ups',
      'http1',
      'pipelining',
      'pipelined-hang-ups',
      'waiting',
      'broken-streams',
      'own-answers',
      'time-outs',
    ],
    async serve(scenario): Promise<ServedHttpApp> {
      const app = new HttpApp(scenario)
      const server = expressOf(make, app).listen(0, '127.0.0.1')
      await once(server, 'listening')
      return {
        app,
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        async stop() {
          server.closeAllConnections()
          server.close()
          await once(server, 'close')
        },
      }
    },
  }
}

const VERSIONS = [
  ['Express 5', harnessOf(express)],
  ...(slowTests ? [['Express 4', harnessOf(express4 as unknown as typeof express)] as const] : []),
] as const
const requests = randomRuns(100, 10_000)

for (const [name, harness] of VERSIONS) {
  const count = describeHttp({ describe, it }, harness, name)
  describeHttpFuzz({ describe, it }, harness, name, requests)
  test(`${name} runs every case of the HTTP suite`, () => expect(count).toBe(HTTP_CASES.length))
}
