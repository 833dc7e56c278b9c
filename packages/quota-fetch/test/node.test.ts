import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer, type HttpBindings } from '@hono/node-server'
import { describeHttpFuzz } from '@scoregw/quota-histories'
import { describeHttp, HTTP_CASES, HttpApp, type HttpHarness } from '@scoregw/quota-testkit/http'
import { randomRuns, slowTests } from '@scoregw/server-kit'
import { afterEach, describe, expect, it, test } from 'vitest'
import { fetchApp, honoApp, type ServedFetch } from './support/apps.ts'

const ABILITIES = ['address', 'hang-ups', 'http1', 'pipelining', 'waiting', 'broken-streams', 'own-answers'] as const
/** The signal of a `Request` is aborted when its response closes: that of a pipelined request has to have its turn first. */
const HONO_ABILITIES = [...ABILITIES, 'pipelined-hang-ups', 'time-outs'] as const

/** @param isGlobal whether Hono's own `Request` and `Response` stand in the place of Node's, as they do by default */
function harnessOf(
  make: (app: HttpApp) => ServedFetch,
  isGlobal: boolean,
  capabilities: HttpHarness['capabilities'] = ABILITIES,
): HttpHarness {
  return {
    capabilities,
    async serve(scenario) {
      const app = new HttpApp(scenario)
      const served = make(app)
      const fetch = (request: Request, env: unknown) =>
        served(request, (env as HttpBindings).incoming.socket.remoteAddress, env as HttpBindings)
      const server = createAdaptorServer({ fetch, overrideGlobalObjects: isGlobal })
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

const hono = (app: HttpApp): ServedFetch => honoApp(app, (c) => (c.env as { address?: string }).address)

const APPS = [
  ['quotaFetch on Node', harnessOf(fetchApp, false)],
  ["Hono on Node with Hono's Response", harnessOf(hono, true, HONO_ABILITIES)],
  ...(slowTests
    ? [
        ['Hono on Node', harnessOf(hono, false, HONO_ABILITIES)] as const,
        ["quotaFetch on Node with Hono's Response", harnessOf(fetchApp, true)] as const,
      ]
    : []),
] as const
const requests = randomRuns(100, 10_000)

// Other files may share this process, and may have changed them.
const { Request, Response } = globalThis
afterEach(() => {
  Object.assign(globalThis, { Request, Response })
})

for (const [name, harness] of APPS) {
  const count = describeHttp({ describe, it }, harness, name)
  describeHttpFuzz({ describe, it }, harness, name, requests)
  test(`${name} runs every case of the HTTP suite`, () => expect(count).toBe(HTTP_CASES.length))
}
