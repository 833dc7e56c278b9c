import { createQuota } from '@scoregw/quota'
import { type WaitingQueue, waitingQueue } from '@scoregw/quota/waiting'
import { redisStore } from '@scoregw/quota-redis'
import Bottleneck from 'bottleneck'
import { Redis } from 'ioredis'
import PQueue from 'p-queue'
import { RateLimiterMemory, RateLimiterQueue, RateLimiterRedis } from 'rate-limiter-flexible'

/** Starts work when its limit allows it, and resolves when the work is done. */
type Start = (work: () => unknown) => Promise<unknown>

/** Creates a library's queue for one limit, on the Redis at this port or in memory. */
type Make = (port: number) => Start | Promise<Start>

export const PER_SECOND = 200
/** Slots of all processes together, and how long work keeps one. */
export const SLOTS = 20
export const WORK_MS = 50

const NO_LIMIT = 10 ** 6
const RATE = { rate: { by: 'user', limit: PER_SECOND, per: '1s' } } as const
const QUEUE = { maxWaiting: NO_LIMIT, maxWaitMs: 600_000 }

export const MEMORY: Readonly<Record<string, Make>> = {
  quota: () => startOf(waitingQueue(createQuota({ limits: RATE }), QUEUE) as WaitingQueue),
  'p-queue': () => {
    const queue = new PQueue({ intervalCap: PER_SECOND, interval: 1_000 })
    return (work) => queue.add(async () => work())
  },
  bottleneck: () => startBottleneck({}),
  'rate-limiter-flexible': () => startFlexible(new RateLimiterMemory({ points: PER_SECOND, duration: 1 })),
}

export const REDIS: Readonly<Record<string, Make>> = {
  quota: async (port) => {
    const store = redisStore({ client: clientOf(port), deadlineMs: 1_000 })
    const quota = createQuota({ limits: RATE, store })
    await quota.ready()
    return startOf(waitingQueue(quota, QUEUE) as unknown as WaitingQueue)
  },
  'rate-limiter-flexible': (port) =>
    startFlexible(new RateLimiterRedis({ storeClient: clientOf(port), points: PER_SECOND, duration: 1 })),
  bottleneck: async (port) => {
    const clientOptions = { port }
    return startBottleneck({ id: 'bench', datastore: 'ioredis', Redis, clearDatastore: false, clientOptions })
  },
}

/** Slots instead of a rate, compared with callers that retry by themselves, in no order. */
export const OF_SLOTS: Readonly<Record<string, Make>> = {
  quota: async (port) => startOf(waitingQueue(await slotsOn(port), QUEUE) as unknown as WaitingQueue),
  'no queue: try again each second': async (port) => {
    const quota = await slotsOn(port)
    return async (work) => {
      while (!(await quota.run(REQUEST, async () => work())).allowed) await delay(1_000)
    }
  },
}

const REQUEST = { subject: 'all', operation: 'request' } as const

async function slotsOn(port: number) {
  const quota = createQuota({
    limits: {
      rate: { by: 'user', limit: NO_LIMIT, per: '1s' },
      running: { by: 'user', concurrency: SLOTS },
    },
    store: redisStore({ client: clientOf(port), deadlineMs: 1_000 }),
  })
  await quota.ready()
  return quota
}

function startOf(queue: WaitingQueue): Start {
  return async (work) => {
    const { allowed } = await queue.run(REQUEST, async () => work())
    if (!allowed) throw new Error('refused')
  }
}

async function startBottleneck(options: object): Promise<Start> {
  const limiter = new Bottleneck({
    reservoir: PER_SECOND,
    reservoirRefreshAmount: PER_SECOND,
    reservoirRefreshInterval: 1_000,
    ...options,
  })
  await limiter.ready()
  return (work) => limiter.schedule(async () => work())
}

function startFlexible(limiter: RateLimiterMemory | RateLimiterRedis): Start {
  const queue = new RateLimiterQueue(limiter, { maxQueueSize: NO_LIMIT })
  return async (work) => {
    await queue.removeTokens(1, 'all')
    await work()
  }
}

function clientOf(port: number): Redis {
  return new Redis({ port, maxRetriesPerRequest: null })
}

export function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
