import { type IncomingMessage, request } from 'node:http'
import { createQuota, type MemoryStore, memoryStore } from '@scoregw/quota'
import type { AsyncStore } from '@scoregw/quota/store'
import * as z from 'zod'
import { listen } from '../../src/http/listener.ts'
import { contextOf } from '../../src/http/request-context.ts'
import { userRoute } from '../../src/http/route.ts'
import { createService } from '../../src/http/service.ts'
import { createLogger } from '../../src/log/logger.ts'
import { meteredRoutes } from '../../src/quota/metered.ts'
import { type GatewayQuota, policy } from '../../src/quota/policy.ts'
import { whenDone } from './shared.ts'

export interface LateService {
  readonly baseUrl: string
  readonly quota: GatewayQuota
  /** Resolves when the store is asked to settle. */
  readonly settling: Promise<void>
  /** Lets the store settle. */
  settle(): void
  ask(
    headers: Record<string, string>,
  ): Promise<{ status: number | undefined; headers: IncomingMessage['headers']; bytes: Buffer }>
}

/** A service of one metered route that fails with a long answer, on a store that settles when the test lets it. */
export async function lateService(): Promise<LateService> {
  const asked = latch()
  const allowed = latch()
  const store = lateStore(memoryStore({}), asked.resolve, allowed.promise)
  // The store is late on purpose: its deadline has room for a slow machine.
  const quota = createQuota({ policy, store, deadlineMs: 60_000 })
  const logger = createLogger('silent')
  const details = Array.from({ length: 50 }, (_each, index) => ({ path: `list.${index}`, msg: 'not as expected' }))
  const app = createService({
    routes: [
      userRoute('POST /fail', {
        id: 'fail',
        tag: 'Score',
        summary: 'Fails',
        answer: z.unknown(),
        operation: 'music.upsert',
        // Answered and not thrown: of a thrown error the tokens are given back before anybody writes a head.
        handle: () => ({ status: 422, body: { details } }),
      }),
    ],
    logger,
    trustProxy: false,
    corsOrigins: () => [],
    publicBaseUrl: undefined,
    authentication: (req, _res, next) => {
      contextOf(req).user = { id: 'u1', name: 'u1', role: 'player', disabled: false }
      next()
    },
    metered: meteredRoutes({
      ...{ quota, supportForumUrl: 'https://forum.example.com', logger, inTransaction: false },
      observe: () => undefined,
    }),
    isClosing: () => false,
  })
  const listener = await listen(app, '127.0.0.1', 0)
  whenDone(async () => {
    allowed.resolve()
    await listener.stop(0)
    await quota.close()
  })
  const baseUrl = `http://127.0.0.1:${listener.port}`
  return { baseUrl, quota, settling: asked.promise, settle: allowed.resolve, ask: (headers) => ask(baseUrl, headers) }
}

function latch(): { readonly promise: Promise<void>; resolve(): void } {
  let open: () => void = () => undefined
  const promise = new Promise<void>((resolve) => {
    open = resolve
  })
  return { promise, resolve: () => open() }
}

function lateStore(inner: MemoryStore, asked: () => void, allowed: Promise<void>): AsyncStore {
  return {
    sync: false,
    open(schema) {
      const counters = inner.open(schema)
      return {
        take: async (each) => counters.take(each),
        read: async (each) => counters.read(each),
        reset: async (each) => counters.reset(each),
        async settle(each) {
          asked()
          await allowed
          counters.settle(each)
        },
      }
    },
  }
}

function ask(baseUrl: string, headers: Record<string, string>): ReturnType<LateService['ask']> {
  return new Promise((resolve, reject) => {
    const sent = request(`${baseUrl}/fail`, { method: 'POST', headers }, (response) => {
      const parts: Buffer[] = []
      response
        .on('data', (part: Buffer) => parts.push(part))
        .on('end', () =>
          resolve({ status: response.statusCode, headers: response.headers, bytes: Buffer.concat(parts) }),
        )
    })
    sent.on('error', reject).end()
  })
}
