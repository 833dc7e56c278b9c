import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describeHttpFuzz } from '@scoregw/quota-histories'
import {
  describeHttp,
  HTTP_CASES,
  HttpApp,
  type HttpHarness,
  type HttpRouteSettings,
  playOnNode,
} from '@scoregw/quota-testkit/http'
import { randomRuns } from '@scoregw/server-kit'
import { describe, expect, it, onTestFinished, test, vi } from 'vitest'
import { quotaListener } from '../../code/node-http.ts'

function headerOf({ headers }: IncomingMessage): (name: string) => string | undefined {
  return (name) => headers[name] as string | undefined
}

/** Routes of the suite as listeners, by the adapter that the page shows. */
function listenersOf(app: HttpApp): Map<string, RequestListener> {
  const common = {
    subject: (req: IncomingMessage) => app.subject(headerOf(req)),
    skip: (req: IncomingMessage) => app.skip(headerOf(req)),
  }
  const first = quotaListener({ ...app.options, ...common, operation: () => undefined })
  const second = app.needsSecond ? quotaListener({ ...app.second, ...common }) : undefined
  const settingsOf = ({ cost, plan, ...settings }: HttpRouteSettings = {}) => ({
    ...settings,
    plan: (req: IncomingMessage) => app.plan(headerOf(req), plan),
    limits: (req: IncomingMessage) => app.limits(headerOf(req)),
    cost: (req: IncomingMessage) => app.cost(headerOf(req), cost),
  })
  const routes = app.scenario.routes.map((route): [string, RequestListener] => {
    const play: Parameters<ReturnType<typeof first.operation>>[0] = (req, res, quota) => {
      const header = headerOf(req)
      const gone = async () => void (await once(res, 'close'))
      return playOnNode(app, app.replyOf(route, header), { header, quota, gone }, res)
    }
    const { operation, settings, second: other } = route
    if (operation === undefined) return [route.path, first.each(play)]
    const metered = first.operation(operation, settingsOf(settings))
    if (other === undefined || second === undefined) return [route.path, metered(play)]
    const meteredAgain = second.operation(other.operation, settingsOf(other.settings))(play)
    return [route.path, metered((req, res) => meteredAgain(req, res))]
  })
  return new Map(routes)
}

const harness: HttpHarness = {
  capabilities: [
    'address',
    'hang-ups',
    'http1',
    'pipelining',
    'pipelined-hang-ups',
    'waiting',
    'broken-streams',
    'time-outs',
  ],
  async serve(scenario) {
    const app = new HttpApp(scenario)
    const listeners = listenersOf(app)
    const server = createServer((req, res) => {
      if (scenario.timesOut) void app.timedOut().then(() => res.headersSent || res.writeHead(503).end('too slow'))
      listeners.get(req.url ?? '/')?.(req, res as never)
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    return {
      app,
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      async stop() {
        server.closeAllConnections()
        await once(server.close(), 'close')
      },
    }
  },
}

/** The page's adapter logs errors to the console, of which the suite makes many. */
function quietly<T>(run: () => Promise<T>): Promise<T> {
  const logged = vi.spyOn(console, 'error').mockReturnValue()
  onTestFinished(() => logged.mockRestore())
  return run()
}

const runner = { describe, it: (name: string, run: () => Promise<void>) => it(name, () => quietly(run)) }
const requests = randomRuns(100, 10_000)
const count = describeHttp(runner, harness, 'node:http, as the page writes it')
describeHttpFuzz(runner, harness, 'node:http, as the page writes it', requests)
test('node:http runs every case of the HTTP suite', () => expect(count).toBe(HTTP_CASES.length))
