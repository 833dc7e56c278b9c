import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import rateLimit from '@fastify/rate-limit'
import { createQuota } from '@scoregw/quota'
import { quotaMiddleware } from '@scoregw/quota-express'
import { quotaFastify } from '@scoregw/quota-fastify'
import express, { type RequestHandler } from 'express'
import { rateLimit as expressRateLimit } from 'express-rate-limit'
import fastify, { type FastifyInstance } from 'fastify'
import { expect, onTestFinished, test } from 'vitest'

const [LIMIT, WINDOW_SECONDS] = [2, 900]
/** No number of seconds left is as large; each instant of today is larger. */
const YEAR_SECONDS = 365 * 86_400

const NAMES = ['limit', 'remaining', 'reset'] as const

/** The older fields of three requests; the last is refused. */
async function fieldsAt(port: number): Promise<number[][]> {
  const found: number[][] = []
  for (let request = 0; request <= LIMIT; request++) {
    const { headers } = await fetch(`http://127.0.0.1:${port}/`)
    found.push(NAMES.map((name) => Number(headers.get(`x-ratelimit-${name}`) ?? Number.NaN)))
  }
  return found
}

async function ofExpress(handler: RequestHandler): Promise<number[][]> {
  const server = express()
    .get('/', handler, (_req, res) => void res.send('ok'))
    .listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return fieldsAt((server.address() as AddressInfo).port)
}

async function ofFastify(register: (app: FastifyInstance) => unknown): Promise<number[][]> {
  const app = fastify()
  onTestFinished(() => app.close())
  await register(app)
  app.get('/', () => 'ok')
  await app.listen({ port: 0, host: '127.0.0.1' })
  return fieldsAt((app.server.address() as AddressInfo).port)
}

const quota = () => createQuota({ limits: { api: { by: 'user', limit: LIMIT, per: '15m' } } })

test('the X-RateLimit fields mean what they do in express-rate-limit and not in @fastify/rate-limit', async () => {
  const options = { subject: () => 'u', legacyHeaders: true }
  const ours = await ofExpress(quotaMiddleware({ quota: quota(), ...options }))
  const theirs = await ofExpress(
    expressRateLimit({ limit: LIMIT, windowMs: WINDOW_SECONDS * 1_000, keyGenerator: () => 'u', legacyHeaders: true }),
  )
  expect(ours.map(([limit, remaining]) => [limit, remaining])).toEqual([
    [2, 1],
    [2, 0],
    [2, 0],
  ])
  expect(theirs.map(([limit, remaining]) => [limit, remaining])).toEqual(ours.map((fields) => fields.slice(0, 2)))
  const nowSeconds = Date.now() / 1_000
  for (const [, , reset] of [...ours, ...theirs]) {
    expect(Math.abs(reset! - nowSeconds - WINDOW_SECONDS)).toBeLessThan(WINDOW_SECONDS)
  }

  const fastifyOurs = await ofFastify((app) =>
    app.register(quotaFastify, { quota: quota(), ...options, settle: 'charge-first', operation: () => 'request' }),
  )
  const fastifyTheirs = await ofFastify((app) =>
    app.register(rateLimit, { max: LIMIT, timeWindow: '15 minutes', keyGenerator: () => 'u' }),
  )
  expect(fastifyOurs.map((fields) => fields.slice(0, 2))).toEqual(fastifyTheirs.map((fields) => fields.slice(0, 2)))
  for (const [, , reset] of fastifyOurs) expect(reset).toBeGreaterThan(YEAR_SECONDS)
  for (const [, , reset] of fastifyTheirs) expect(reset).toBeLessThanOrEqual(WINDOW_SECONDS)
})
