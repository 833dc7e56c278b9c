import { createQuota } from '@scoregw/quota'
import { quotaFastify } from '@scoregw/quota-fastify'
import type fastify from 'fastify'
import type { FastifyRequest } from 'fastify'
import fastify4 from 'fastify4'
import fastify403 from 'fastify403'
import { expect, onTestFinished, test } from 'vitest'

test.each([
  ['4.0.3', fastify403 as unknown as typeof fastify],
  ['4', fastify4 as unknown as typeof fastify],
])('Fastify %s admits, settles, refuses, and gets the errors', async (_, make) => {
  const quota = createQuota({ limits: { api: { by: 'user', limit: 2, per: '1h' } } })
  const app = make({ forceCloseConnections: true })
  onTestFinished(() => app.close())
  const subject = ({ url }: FastifyRequest): string => {
    if (url.endsWith('bad')) throw new Error('no such user')
    return 'ann'
  }
  app.setErrorHandler((error: Error, _request, reply) => reply.code(500).send(`got: ${error.message}`))
  await app.register(quotaFastify, { quota, subject, standardHeaders: 'draft-11', logger: false })
  app.get('/served', async () => 'served')
  app.get('/free', { config: { quota: false } }, async () => 'free')
  app.get('/dear', { config: { quota: { cost: 3 } } }, async () => 'dear')
  app.get('/thrown', async () => {
    throw new Error('handler')
  })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const ask = (path: string): Promise<Response> => fetch(url + path)

  const first = await ask('/served')
  expect([first.status, await first.text()]).toEqual([200, 'served'])
  expect(first.headers.get('ratelimit')).toContain('r=1')
  // Failed requests are refunded.
  for (let i = 0; i < 3; i++) expect(await (await ask('/thrown')).text()).toBe('got: handler')
  expect(await (await ask('/served?user=bad')).text()).toBe('got: no such user')
  expect((await ask('/dear')).status).toBe(429)
  expect((await ask('/served')).status).toBe(200)
  const refused = await ask('/served')
  expect(refused.status).toBe(429)
  expect(refused.headers.get('ratelimit')).toContain('r=0')
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await refused.json()).toMatchObject({ retryable: true })
  expect((await ask('/free')).status).toBe(200)
})
