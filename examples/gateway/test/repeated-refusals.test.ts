import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import compression from 'compression'
import express from 'express'
import { expect, it, onTestFinished } from 'vitest'
import { errorHandlers, gatewayErrorBody } from '../src/http/error-handler.ts'
import { failureLimit } from '../src/http/failure-limit.ts'
import { HttpError } from '../src/http/http-error.ts'
import { Refusals } from '../src/http/refusals.ts'
import { contextOf, requestId } from '../src/http/request-context.ts'
import { createLogger } from '../src/log/logger.ts'

/** A service whose caller has failed once too often, and whose answers are compressed from so many bytes on. */
async function refusing(threshold: number): Promise<{ readonly url: string; looked(): number }> {
  const clock = { now: () => Date.UTC(2026, 7, 6, 14, 6, 26) }
  const failures = failureLimit({ limit: 1, windowMs: 60_000, clock })
  const logger = createLogger('silent')
  const shared = { failures, logger, bodyOf: gatewayErrorBody }
  const refusals = new Refusals({ ...shared, isGuarded: () => true })
  let looked = 0
  const app = express()
  app.use(requestId(), refusals.repeat, compression({ threshold }), (req, _res, next) => {
    looked++
    contextOf(req).holder = { id: 'b1', name: 'A bot' }
    next()
  })
  app.use(failures.charge, () => {
    throw new HttpError('validation_failed', 'no')
  })
  app.use(errorHandlers({ ...shared, onRefused: (...answered) => refusals.keep(...answered) }))
  const server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, looked: () => looked }
}

it.each([
  ['as it is', 1_000_000, null, 1],
  ['never where it was compressed', 0, 'gzip', 3],
])('a cached refusal is sent again %s', async (_how, threshold, encoding, looks) => {
  const { url, looked } = await refusing(threshold)
  expect((await fetch(url)).status).toBe(422)
  for (let times = 0; times < 3; times++) {
    const answer = await fetch(url, { headers: { 'Accept-Encoding': 'gzip' } })
    expect([answer.status, answer.headers.get('Content-Encoding')]).toEqual([429, encoding])
    expect(await answer.json()).toMatchObject({ error: 'too_many_failures', retryAfterSeconds: 60 })
  }
  expect(looked()).toBe(1 + looks)
})
