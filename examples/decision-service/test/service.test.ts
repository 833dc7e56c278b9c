import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createQuota } from '@scoregw/quota'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { policy } from '../src/policy.ts'
import { decisionService } from '../src/service.ts'

let server: Server
beforeAll(async () => {
  server = decisionService(createQuota({ policy })).listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(() => server.close())

async function post(path: string, body: unknown) {
  const { port } = server.address() as AddressInfo
  const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { ...init, body: text })
  const answer = (await response.text()) || 'null'
  return { status: response.status, headers: response.headers, answer: JSON.parse(answer) as Record<string, unknown> }
}

it('the decision service admits up to the limit, then answers 429 with the retry time', async () => {
  const request = { subject: 'ann', operation: 'write' }
  for (let i = 0; i < 12; i++) expect((await post('/v1/consume', request)).status).toBe(200)
  const { status, headers, answer } = await post('/v1/consume', request)
  expect(status).toBe(429)
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  expect(headers.get('ratelimit')).toMatch(/r=0/)
  expect(answer).toMatchObject({ error: 'quota_exceeded', retryAfterSeconds: expect.any(Number) })
})

it('the decision service commits a reservation’s actual cost once', async () => {
  const reserved = await post('/v1/reserve', { subject: 'bob', operation: 'job' })
  const { token } = reserved.answer
  expect([reserved.status, typeof token]).toEqual([200, 'string'])
  const committed = await post('/v1/commit', { token, actual: 7 })
  expect(committed).toMatchObject({ status: 200, answer: { charged: 7 } })
  // A repeat gets the same answer.
  expect((await post('/v1/commit', { token, actual: 7 })).status).toBe(200)
})

it('the decision service gives a cancelled reservation back', async () => {
  const tokens: unknown[] = []
  for (let i = 0; i < 5; i++) tokens.push((await post('/v1/reserve', { subject: 'cy', operation: 'job' })).answer.token)
  expect((await post('/v1/reserve', { subject: 'cy', operation: 'job' })).status).toBe(429)
  expect((await post('/v1/cancel', { token: tokens[0] })).status).toBe(204)
  expect((await post('/v1/reserve', { subject: 'cy', operation: 'job' })).status).toBe(200)
})

it.each([
  ['no JSON', '/v1/consume', '{', 400, 'invalid_body'],
  ['an unknown operation', '/v1/consume', { subject: 'd', operation: 'nope' }, 400, expect.any(String)],
  ['nothing', '/v1/consume', {}, 400, expect.any(String)],
  ['another text than a token', '/v1/commit', { token: 'no token' }, 400, expect.any(String)],
  ['a body that is too long', '/v1/consume', { subject: 'd'.repeat(20_000) }, 413, 'invalid_body'],
])('the decision service answers a mistake with its code: %s', async (_, path, body, status, error) => {
  expect(await post(path, body)).toMatchObject({ status, answer: { error } })
})
