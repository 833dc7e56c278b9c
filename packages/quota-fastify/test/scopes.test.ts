import compress from '@fastify/compress'
import { createQuota, memoryStore, type Quota } from '@scoregw/quota'
import { scoreGatewayPolicy } from '@scoregw/quota/score-gateway'
import { type QuotaFastifyOptions, quotaFastify } from '@scoregw/quota-fastify'
import fastify, {
  type FastifyInstance,
  type FastifyPluginAsync,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  type HTTPMethods,
} from 'fastify'
import { describe, expect, onTestFinished, test } from 'vitest'

const LONG = 'a'.repeat(5_000)
const headers = { 'x-user': 'u1', 'accept-encoding': 'gzip' }
const subject = ({ headers: fields }: FastifyRequest) => fields['x-user']?.toString()

function engine(): Quota<'read' | 'write'> {
  const clock = { now: () => Date.UTC(2026, 7, 6, 14, 6, 26) }
  return createQuota({ policy: scoreGatewayPolicy(), clock, store: memoryStore({ clock }) })
}

function app(trustProxy?: FastifyServerOptions['trustProxy']): FastifyInstance {
  const made = fastify(trustProxy === undefined ? {} : { trustProxy })
  onTestFinished(() => made.close())
  return made
}

/** A plugin that is given as it is: its scope is its own. */
function scope(body: FastifyPluginAsync): FastifyPluginAsync {
  return body
}

async function used(quota: Quota, category: 'read' | 'write' = 'read', user = 'u1'): Promise<number> {
  return (await quota.status(user)).limits[`personal-${category}-1h`]!.used
}

/** Answers with the status that its query names, or fails. */
async function asAsked(request: FastifyRequest, reply: FastifyReply): Promise<string> {
  const { status } = request.query as { status: string }
  if (status === 'throws') throw new Error('of the application')
  reply.code(Number(status)).type('text/plain')
  return LONG
}

test('an engine with one operation meters every Fastify route that doesn’t opt out', async () => {
  const served = app()
  await served.register(quotaFastify, {
    quota: createQuota({ limits: { api: { by: 'user', limit: 1, per: '1h' } } }),
    subject,
  })
  served.get('/', asAsked)
  served.get('/free', { config: { quota: false } }, asAsked)
  const statuses: number[] = []
  for (const path of ['/free', '/', '/', '/free']) {
    statuses.push((await served.inject({ url: `${path}?status=200`, headers })).statusCode)
  }
  expect(statuses).toEqual([200, 200, 429, 200])
})

test('a route of an engine with one operation may set options without naming it', async () => {
  const quota = createQuota({ limits: { api: { by: 'user', limit: 5, per: '1h' } } })
  const served = app()
  await served.register(quotaFastify, { quota, subject })
  served.get('/', { config: { quota: { cost: 3 } } }, asAsked)
  const statuses: number[] = []
  for (let i = 0; i < 2; i++) statuses.push((await served.inject({ url: '/?status=200', headers })).statusCode)
  expect(statuses).toEqual([200, 429])
})

test('a route of an engine with several operations must name one', async () => {
  const served = app()
  await served.register(quotaFastify, { quota: engine(), subject })
  expect(() => served.get('/', { config: { quota: { cost: 3 } } }, asAsked)).toThrow(
    expect.objectContaining({ code: 'unknown_operation', message: expect.stringContaining('read, write') }),
  )
})

test('invalid plugin options reject the registration and don’t end the process', async () => {
  const faulty = { quota: engine(), subject: 'u1' } as unknown as QuotaFastifyOptions
  const fault = { code: 'invalid_options', message: expect.stringContaining('subject: expected a function') }
  await expect(app().register(quotaFastify, faulty)).rejects.toMatchObject(fault)
  const nothing = undefined as unknown as QuotaFastifyOptions
  await expect(app().register(quotaFastify, nothing).ready()).rejects.toMatchObject({ code: 'invalid_options' })
})

test('a plugin that was called instead of registered says how to register it', () => {
  const call = quotaFastify as unknown as (options: object) => void
  expect(() => call({ quota: createQuota({ limits: { api: { by: 'user', limit: 1, per: '1m' } } }) })).toThrow(
    expect.objectContaining({
      code: 'invalid_options',
      message: expect.stringContaining('app.register(quotaFastify, {'),
    }),
  )
})

describe('plugin scopes', () => {
  test('the plugin meters its own scope and nested ones, and no others', async () => {
    const quota = engine()
    const served = app()
    await served.register(
      scope(async (inside) => {
        await inside.register(quotaFastify, { quota, subject, operation: () => 'read' })
        inside.get('/inside', asAsked)
        await inside.register(
          scope(async (below) => void below.get('/below', asAsked)),
          { prefix: '/further' },
        )
        inside.get('/unmetered', { config: { quota: false } }, asAsked)
      }),
    )
    await served.register(scope(async (beside) => void beside.get('/beside', asAsked)))
    served.get('/above', asAsked)
    const charged: number[] = []
    for (const path of ['/inside', '/further/below', '/unmetered', '/beside', '/above']) {
      expect((await served.inject({ url: `${path}?status=200`, headers })).statusCode).toBe(200)
      charged.push(await used(quota))
    }
    expect(charged).toEqual([1, 2, 2, 2, 2])
  })

  test('two scopes have separate engines and options', async () => {
    const [people, teams] = [engine(), engine()]
    const served = app()
    await served.register(
      scope(async (inside) => {
        await inside.register(quotaFastify, { quota: people, subject })
        inside.get('/people', { config: { quota: 'read' } }, asAsked)
      }),
    )
    await served.register(
      scope(async (inside) => {
        await inside.register(quotaFastify, { quota: teams, subject: () => 'team', standardHeaders: 'draft-10' })
        inside.get('/teams', { config: { quota: { operation: 'write', cost: 3 } } }, asAsked)
      }),
    )
    const first = await served.inject({ url: '/people?status=200', headers })
    const second = await served.inject({ url: '/teams?status=200', headers })
    expect([first.headers.ratelimit, second.headers.ratelimit?.toString().split(';')[1]]).toEqual([undefined, 'r=57'])
    expect([await used(people), await used(teams, 'write', 'team')]).toEqual([1, 3])
  })

  test('routes declared before the plugin are metered, and invalid ones throw where they are declared', async () => {
    const quota = engine()
    const served = app()
    served.get('/early', { config: { quota: 'read' } }, asAsked)
    served.register(quotaFastify, { quota, subject })
    served.register(
      scope(async (inside) => {
        expect(() => inside.get('/wrong', { config: { quota: 'nothing' } }, asAsked)).toThrow(
          expect.objectContaining({ code: 'unknown_operation' }),
        )
      }),
    )
    await served.inject({ url: '/early?status=200', headers })
    expect(await used(quota)).toBe(1)
  })
})

describe('the order of hooks', () => {
  const HOOKS = ['onRequest', 'preParsing', 'preValidation', 'preHandler'] as const

  test.each(HOOKS)(
    'the hook %s runs after hooks of earlier plugins and before later ones and the route’s',
    async (hook) => {
      const order: string[] = []
      const served = app()
      const record = (name: string) => async (request: FastifyRequest) => {
        order.push(`${name}: ${request.quota === null ? 'not yet' : 'metered'}`)
      }
      for (const each of HOOKS) served.addHook(each as 'preHandler', record(`${each} before`))
      await served.register(quotaFastify, { quota: engine(), subject, hook })
      for (const each of HOOKS) served.addHook(each as 'preHandler', record(`${each} behind`))
      served.get('/', { config: { quota: 'read' }, preHandler: record('of the route') }, asAsked)
      await served.inject({ url: '/?status=200', headers })
      const at = HOOKS.indexOf(hook)
      const expected = HOOKS.flatMap((each, index) => [
        `${each} before: ${index <= at ? 'not yet' : 'metered'}`,
        `${each} behind: ${index < at ? 'not yet' : 'metered'}`,
      ])
      expect(order).toEqual([...expected, 'of the route: metered'])
    },
  )

  test('a request that an earlier hook rejects isn’t charged, and one that a later hook rejects is given back', async () => {
    const quota = engine()
    const served = app()
    served.addHook('onRequest', async ({ headers: fields }, reply) => {
      if (fields['x-user'] === 'banned') await reply.code(403).send('no')
    })
    await served.register(quotaFastify, { quota, subject })
    const late = async (_request: FastifyRequest, reply: FastifyReply) => void (await reply.code(409).send('no'))
    served.get('/', { config: { quota: 'read' } }, asAsked)
    served.get('/late', { config: { quota: 'read' }, preHandler: late }, asAsked)
    const early = await served.inject({ url: '/?status=200', headers: { 'x-user': 'banned' } })
    expect([early.statusCode, await used(quota, 'read', 'banned')]).toEqual([403, 0])
    expect([(await served.inject({ url: '/late', headers })).statusCode, await used(quota)]).toEqual([409, 0])
  })

  test('the outcome is judged after the hooks of the reply', async () => {
    const quota = engine()
    const served = app()
    await served.register(quotaFastify, { quota, subject, standardHeaders: 'draft-10' })
    served.addHook('onSend', async (_request, reply, payload) => {
      reply.code(422)
      return payload
    })
    served.get('/', { config: { quota: 'read' } }, asAsked)
    const answer = await served.inject({ url: '/?status=200', headers })
    expect([answer.statusCode, answer.headers.ratelimit?.toString().split(';')[1]]).toEqual([422, 'r=120'])
    expect(await used(quota)).toBe(0)
  })
})

describe.each(['before', 'behind'])('compression registered %s the plugin', (where) => {
  test('compression changes no bytes, fields or tokens', async () => {
    const quota = engine()
    const served = app()
    const plugins = [
      () => served.register(compress, { threshold: 0 }),
      () => served.register(quotaFastify, { quota, subject, standardHeaders: 'draft-10' }),
    ]
    for (const register of where === 'before' ? plugins : plugins.reverse()) await register()
    served.get('/', { config: { quota: 'read' } }, asAsked)
    await served.listen({ port: 0, host: '127.0.0.1' })
    const seen: unknown[] = []
    for (const status of ['200', '404', 'throws', '201']) {
      const url = `${served.listeningOrigin}/?status=${status}`
      const answer = await fetch(url, { headers })
      const isWhole = status === 'throws' || (await answer.text()) === LONG
      const left = answer.headers.get('ratelimit')?.split(';')[1]
      seen.push([answer.status, answer.headers.get('content-encoding'), isWhole, left, await used(quota)])
    }
    expect(seen).toEqual([
      [200, 'gzip', true, 'r=119', 1],
      [404, 'gzip', true, 'r=119', 1],
      [500, 'gzip', true, 'r=119', 1],
      [201, 'gzip', true, 'r=118', 2],
    ])
  })
})

describe('trustProxy warnings', () => {
  async function warned(
    trustProxy: FastifyServerOptions['trustProxy'],
    forwarded?: string,
  ): Promise<[string[], number]> {
    const warnings: string[] = []
    const logger = { warn: ({ code }: { code: string }) => void warnings.push(code), error: () => undefined }
    const served = app(trustProxy)
    const options: QuotaFastifyOptions = { quota: engine(), subject: () => undefined, anonymous: 'ip', logger }
    await served.register(quotaFastify, options)
    served.get('/', { config: { quota: 'read' } }, asAsked)
    const fields = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
    const { statusCode } = await served.inject({ url: '/?status=200', headers: fields })
    return [warnings, statusCode]
  }
  test.each<[string, FastifyServerOptions['trustProxy'], string[]]>([
    ['not set', undefined, ['untrusted_forwarded_for']],
    ['false', false, ['untrusted_forwarded_for']],
    ['true', true, ['permissive_trust_proxy']],
    ['a function that trusts everybody', () => true, ['permissive_trust_proxy']],
    ['so many proxies', (_address, hop) => hop < 2, []],
    ['a function that trusts nobody, as a number', () => false, ['untrusted_forwarded_for']],
    ['other addresses than the proxy’s', ['203.0.113.0/24'], ['untrusted_forwarded_for']],
    ['addresses', ['127.0.0.1', '10.0.0.0/8'], []],
    ['a function that knows whom', (address) => address === '127.0.0.1', []],
  ])('trustProxy %s gives the expected warnings with X-Forwarded-For', async (_name, trust, codes) => {
    expect(await warned(trust, '198.51.100.7')).toEqual([codes, 200])
  })

  test('without X-Forwarded-For, trustProxy true is reported and unset isn’t', async () => {
    expect((await warned(true))[0]).toEqual(['permissive_trust_proxy'])
    expect((await warned(undefined))[0]).toEqual([])
  })
})

test.each<HTTPMethods>(['GET', 'HEAD', 'POST'])('a hijacked reply is settled by what it writes: %s', async (method) => {
  const quota = engine()
  const served = app()
  await served.register(quotaFastify, { quota, subject })
  served.route({
    method: ['GET', 'HEAD', 'POST'],
    url: '/',
    config: { quota: 'read' },
    handler: (request, reply) => {
      reply.hijack()
      reply.raw.writeHead((request.query as { status: string }).status === '200' ? 200 : 503).end()
    },
  })
  await served.inject({ method: method as 'GET', url: '/?status=503', headers })
  expect(await used(quota)).toBe(0)
  await served.inject({ method: method as 'GET', url: '/?status=200', headers })
  expect(await used(quota)).toBe(1)
})
