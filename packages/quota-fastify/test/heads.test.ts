import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createQuota, memoryStore } from '@scoregw/quota'
import { scoreGatewayPolicy } from '@scoregw/quota/score-gateway'
import { quotaFastify } from '@scoregw/quota-fastify'
import fastify, { type FastifyInstance } from 'fastify'
import { beforeAll, expect, test } from 'vitest'

const POLICY = '"personal-read-1h";q=120;qu="tokens";w=3600'

const clock = { now: () => Date.UTC(2026, 7, 6, 14, 6, 26) }
/** What a hook behind the head saw of its fields. */
let seen: unknown

async function app(): Promise<FastifyInstance> {
  const quota = createQuota({ policy: scoreGatewayPolicy(), clock, store: memoryStore({ clock }) })
  const served = fastify()
  const subject = ({ url }: { readonly url: string }) => url
  await served.register(quotaFastify, { quota, subject, operation: () => 'read', standardHeaders: 'draft-10' })
  served.addHook('onResponse', async (_request, reply) => {
    seen = reply.getHeader('ratelimit')
  })
  served.get('/plain', async () => 'as it is')
  served.get('/list', async (_request, reply) => reply.header('RateLimit', '"other";r=1').send('with a list of others'))
  served.get('/expect', async (_request, reply) => reply.header('Expect', 'nothing').send('sent by its head'))
  served.get('/unusual', async (_request, reply) => {
    reply.raw.setHeader('X-Set', 'beneath Fastify')
    return 'with fields of two kinds'
  })
  return served
}

let served: FastifyInstance
beforeAll(async () => {
  served = await app()
  await served.listen({ port: 0, host: '127.0.0.1' })
  return () => served.close()
})

/** Values of a field, one for each line of the head. */
function linesOf({ rawHeaders }: IncomingMessage, name: string): string[] {
  return rawHeaders.filter((_value, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name)
}

async function asked(path: string): Promise<{ readonly answer: IncomingMessage; readonly text: string }> {
  const { port } = served.server.address() as AddressInfo
  const [answer] = (await once(get({ host: '127.0.0.1', port, path }), 'response')) as [IncomingMessage]
  let text = ''
  for await (const chunk of answer) text += String(chunk)
  return { answer, text }
}

test.each([
  ['/plain', 'as it is', ''],
  ['/list', 'with a list of others', '"other";r=1, '],
  ['/expect', 'sent by its head', ''],
  ['/unusual', 'with fields of two kinds', ''],
])('each RateLimit field of %s is one header line, served or injected', async (path, body, others) => {
  const { answer, text } = await asked(path)
  const limit = `${others}"personal-read-1h";r=119;t=3600`
  const [policyLine] = linesOf(answer, 'ratelimit-policy')
  expect(linesOf(answer, 'ratelimit')).toEqual([expect.stringContaining(limit)])
  expect(linesOf(answer, 'ratelimit-policy')).toEqual([expect.stringContaining(POLICY)])
  expect(text).toBe(body)
  expect(seen).toBe(linesOf(answer, 'ratelimit')[0])
  const injected = await served.inject({ url: path, headers: { 'x-again': 'yes' } })
  expect(injected.headers['ratelimit-policy']).toBe(policyLine)
  expect(injected.headers.ratelimit).toContain('"personal-read-1h";r=118;t=3600')
  expect(injected.body).toBe(body)
})
