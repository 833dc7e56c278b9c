import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { NestFactory } from '@nestjs/core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { after as expressAfter, before as expressBefore } from '../../code/coming-from-express.ts'
import { after as fastifyAfter, before as fastifyBefore } from '../../code/coming-from-fastify.ts'
import { after as honoAfter, before as honoBefore } from '../../code/coming-from-hono.ts'
import { after as nestAfter, before as nestBefore } from '../../code/coming-from-nest.ts'

const LIMIT = 3

/** The answer of one side, in what both have. */
interface Answer {
  readonly status: number
  /** Requests left, as the fields say; `undefined` where there are none. */
  readonly remaining: number | undefined
  readonly retryAfter: number | undefined
}

type Ask = (path: string, user?: string) => Promise<Answer>

async function asking(server: Server): Promise<Ask> {
  onTestFinished(async () => {
    server.closeAllConnections()
    if (server.listening) await once(server.close(), 'close')
  })
  if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return async (path, user = 'u1') => {
    const { status, headers } = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { 'x-user': user } })
    const field = headers.get('ratelimit') ?? headers.get('x-ratelimit-remaining') ?? ''
    const remaining = /(?:r=|remaining=|^)(\d+)/.exec(field)?.[1]
    const retryAfter = headers.get('retry-after')
    return {
      status,
      remaining: remaining === undefined ? undefined : Number(remaining),
      retryAfter: retryAfter === null ? undefined : Number(retryAfter),
    }
  }
}

const served = (listener: unknown): Promise<Ask> => asking(createServer(listener as RequestListener))

const SIDES: Readonly<Record<string, (make: 'before' | 'after') => Promise<Ask>>> = {
  'express-rate-limit': (make) => {
    const app = (make === 'before' ? expressBefore : expressAfter)(LIMIT)
    app.get('/health', (_req, res) => void res.send('ok'))
    app.get('/fails', (_req, res) => void res.status(400).send('bad'))
    app.get('/works', (_req, res) => void res.send('done'))
    return served(app)
  },
  '@fastify/rate-limit': async (make) => {
    const app = await (make === 'before' ? fastifyBefore : fastifyAfter)(LIMIT)
    onTestFinished(() => app.close())
    app.get('/fails', (_request, reply) => reply.code(400).send('bad'))
    app.get('/works', () => 'done')
    await app.listen({ port: 0, host: '127.0.0.1' })
    return asking(app.server)
  },
  'hono-rate-limiter': (make) => {
    const app = (make === 'before' ? honoBefore : honoAfter)(LIMIT)
    app.get('/health', (c) => c.text('ok'))
    app.get('/fails', (c) => c.text('bad', 400))
    app.get('/works', (c) => c.text('done'))
    return served(getRequestListener(app.fetch, { overrideGlobalObjects: false }))
  },
  '@nestjs/throttler': async (make) => {
    const app = await NestFactory.create((make === 'before' ? nestBefore : nestAfter)(LIMIT), { logger: false })
    onTestFinished(() => app.close())
    await app.listen(0, '127.0.0.1')
    return asking(app.getHttpServer() as Server)
  },
}

/** What a sequence of requests is answered with. */
async function answersOf(ask: Ask, paths: readonly string[]): Promise<Answer[]> {
  const answers: Answer[] = []
  for (const path of paths) answers.push(await ask(path))
  return answers
}

describe.each(Object.entries(SIDES))('the migration from %s', (_name, side) => {
  test('the limiter and its replacement admit and refuse equal requests with equal numbers', async () => {
    const paths = Array.from({ length: LIMIT + 2 }, () => '/works')
    const [before, after] = [await answersOf(await side('before'), paths), await answersOf(await side('after'), paths)]
    expect(after.map(({ status }) => status)).toEqual(before.map(({ status }) => status))
    // ThrottlerGuard leaves the remainder out of a refusal, where it is 0.
    expect(after.map(({ remaining }) => remaining)).toEqual(before.map(({ remaining = 0 }) => remaining))
    expect(after.at(-1)?.retryAfter).toBeGreaterThan(890)
    expect(Math.abs((after.at(-1)?.retryAfter ?? 0) - (before.at(-1)?.retryAfter ?? 0))).toBeLessThanOrEqual(2)
  })

  test('the limiter and its replacement count failures equally', async () => {
    const paths = ['/fails', '/fails', '/works', '/fails', '/works', '/works', '/works']
    const [before, after] = [await answersOf(await side('before'), paths), await answersOf(await side('after'), paths)]
    expect(after.map(({ status }) => status)).toEqual(before.map(({ status }) => status))
  })

  test('the limiter and its replacement leave out skipped requests and count users separately', async () => {
    for (const make of ['before', 'after'] as const) {
      const ask = await side(make)
      await answersOf(
        ask,
        Array.from({ length: LIMIT }, () => '/works'),
      )
      expect([(await ask('/health')).status, (await ask('/works')).status, (await ask('/works', 'u2')).status]).toEqual(
        [200, 429, 200],
      )
    }
  })
})
