import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer, type HttpBindings } from '@hono/node-server'
import { describeHttp, HTTP_CASES, HttpApp, type HttpHarness } from '@scoregw/quota-testkit/http'
import { describe, expect, it, test } from 'vitest'
import { fetchApp, honoApp, type ServedFetch } from './support/apps.ts'

function harnessOf(make: (app: HttpApp) => ServedFetch): HttpHarness {
  return {
    capabilities: ['address', 'hang-ups', 'pipelining', 'waiting', 'broken-streams'],
    async serve(scenario) {
      const app = new HttpApp(scenario)
      const served = make(app)
      const fetch = (request: Request, env: unknown) =>
        served(request, (env as HttpBindings).incoming.socket.remoteAddress, env as HttpBindings)
      const server = createAdaptorServer({ fetch, overrideGlobalObjects: false })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      return {
        app,
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        async stop() {
          if ('closeAllConnections' in server) server.closeAllConnections()
          server.close()
          await once(server, 'close')
        },
      }
    },
  }
}

const isDeep = process.env.QUOTA_TEST_DEEP !== undefined
const APPS = [
  ['quotaFetch on Node', harnessOf(fetchApp), isDeep ? 10_000 : 300],
  [
    'Hono on Node',
    harnessOf((app) => honoApp(app, (c) => (c.env as { address?: string }).address)),
    isDeep ? 10_000 : 100,
  ],
] as const

for (const [name, harness, requests] of APPS) {
  const count = describeHttp({ describe, it }, harness, name, { requests })
  test(`${name} plays every case`, () => expect(count).toBe(HTTP_CASES.length))
}
