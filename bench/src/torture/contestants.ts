import type { TortureLimiter } from '@scoregw/quota-testkit/torture'
import type { Redis } from 'ioredis'
import type { Time } from './time.ts'

/** A limiter that the suite is run on. */
export interface Contestant {
  /** Its package, and its store unless that is memory. */
  readonly name: string
  /** The packages whose versions are shown. */
  readonly packages: readonly string[]
  /** The number of subjects in the memory case. */
  readonly subjects: number
  /** Loads its modules when the suite already controls the time. */
  load(): Promise<(time: Time, redis?: Redis) => TortureLimiter<never>>
}

type Load = () => Promise<(time: Time, redis?: Redis) => unknown>

const MANY = 1_000_000
/** For limiters whose requests go through a framework. */
const FEWER = 50_000
/** For Redis, where time passes by itself, and all must come within a few seconds. */
const FEW = 20_000

const named = (name: string, packages: readonly string[], subjects: number, load: Load): Contestant => ({
  name,
  packages,
  subjects,
  load: load as Contestant['load'],
})

const framework =
  (of: 'ofExpress' | 'ofFastify' | 'ofHono' | 'ofNest'): Load =>
  async () => {
    const frameworks = await import('./frameworks.ts')
    const { byRequest } = await import('./by-request.ts')
    return (time, redis) => byRequest(frameworks[of](redis) as never, time)
  }

const plain =
  (of: 'flexible' | 'limiterOf' | 'bottleneck'): Load =>
  async () =>
    (await import('./plain.ts'))[of]

const ours: Load = async () => (await import('./ours.ts')).ours

export const MEMORY: readonly Contestant[] = [
  named('@scoregw/quota', ['@scoregw/quota'], MANY, ours),
  named('rate-limiter-flexible', ['rate-limiter-flexible'], MANY, plain('flexible')),
  named('express-rate-limit', ['express-rate-limit'], FEWER, framework('ofExpress')),
  named('@fastify/rate-limit', ['@fastify/rate-limit'], FEWER, framework('ofFastify')),
  named('hono-rate-limiter', ['hono-rate-limiter'], FEWER, framework('ofHono')),
  named('@nestjs/throttler', ['@nestjs/throttler'], FEWER, framework('ofNest')),
  named('limiter', ['limiter'], MANY, plain('limiterOf')),
  named('bottleneck', ['bottleneck'], FEWER, plain('bottleneck')),
]

export const ON_REDIS: readonly Contestant[] = [
  named('@scoregw/quota-redis', ['@scoregw/quota-redis'], FEW, ours),
  named('rate-limiter-flexible, Redis', ['rate-limiter-flexible'], FEW, plain('flexible')),
  named('express-rate-limit, Redis', ['express-rate-limit', 'rate-limit-redis'], FEW, framework('ofExpress')),
  named('@fastify/rate-limit, Redis', ['@fastify/rate-limit'], FEW, framework('ofFastify')),
  named('hono-rate-limiter, Redis', ['hono-rate-limiter'], FEW, framework('ofHono')),
  named(
    '@nestjs/throttler, Redis',
    ['@nestjs/throttler', '@nest-lab/throttler-storage-redis'],
    FEW,
    framework('ofNest'),
  ),
]
