import {
  NotOffered,
  type TortureAnswer,
  type TortureLimit,
  type TortureLimiter,
  type TortureLimits,
} from '@scoregw/quota-testkit/torture'
import Bottleneck from 'bottleneck'
import type { Redis } from 'ioredis'
import { RateLimiter } from 'limiter'
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes, RateLimiterUnion } from 'rate-limiter-flexible'
import { noIds, noReservations } from './by-request.ts'
import type { Time } from './time.ts'

interface Flexible {
  readonly limiter: RateLimiterUnion | RateLimiterMemory | RateLimiterRedis
  readonly prefix: string
}

let prefixes = 0

/** rate-limiter-flexible: a union of one limiter per limit. */
export function flexible(time: Time, storeClient?: Redis): TortureLimiter<Flexible> {
  function one({ limit, windowMs }: TortureLimit, prefix: string): RateLimiterMemory | RateLimiterRedis {
    const options = { points: limit, duration: windowMs / 1_000, keyPrefix: `${prefix}:${windowMs}` }
    return storeClient === undefined
      ? new RateLimiterMemory(options)
      : new RateLimiterRedis({ ...options, storeClient })
  }
  return {
    async make(limits, over) {
      if (over !== undefined && storeClient === undefined) return edited(over, limits)
      const prefix = over?.prefix ?? `t${prefixes++}`
      const [first, ...others] = limits
      const limiter = one(first, prefix)
      const all = others.map((limit) => one(limit, prefix))
      return { prefix, limiter: all.length === 0 ? limiter : new RateLimiterUnion(limiter, ...all) }
    },
    async consume({ limiter }, { subject, cost }) {
      try {
        const answer = await limiter.consume(subject, cost)
        const remaining = answer instanceof RateLimiterRes ? answer.remainingPoints : undefined
        return { allowed: true, remaining }
      } catch (refusal) {
        if (refusal instanceof Error) throw refusal
        const waits =
          refusal instanceof RateLimiterRes ? [refusal] : Object.values(refusal as Record<string, RateLimiterRes>)
        return { allowed: false, retryAfterMs: Math.max(...waits.map(({ msBeforeNext }) => msBeforeNext)) }
      }
    },
    retry: noIds,
    kill: noReservations,
    advance: time.advance,
  }
}

/** In memory a setter changes the limit, for all callers together. */
function edited(over: Flexible, [limit]: TortureLimits): Flexible {
  if (over.limiter instanceof RateLimiterMemory) over.limiter.points = limit.limit
  return over
}

/** limiter: one object per subject, without keys. */
export function limiterOf(time: Time): TortureLimiter<Map<string, () => RateLimiter>> {
  return {
    async make([only, second], over) {
      if (second !== undefined) throw new NotOffered('one limit for each limiter')
      if (over !== undefined) throw new NotOffered('a limit cannot be changed')
      const make = (): RateLimiter => new RateLimiter({ tokensPerInterval: only.limit, interval: only.windowMs })
      const made = new Map<string, RateLimiter>()
      const of = (subject: string) => () => {
        const limiter = made.get(subject) ?? make()
        made.set(subject, limiter)
        return limiter
      }
      return new Map(['ann', 'early'].map((subject) => [subject, of(subject)]))
    },
    async consume(limiters, { subject, cost }) {
      const limiter = limiters.get(subject)?.()
      if (limiter === undefined) throw new NotOffered('it has no keys: a limiter for each subject is the app’s to keep')
      if (limiter.tryRemoveTokens(cost)) return { allowed: true }
      return { allowed: false, retryAfterMs: Math.max(1, Math.ceil(limiter.getWaitTime(cost) / 1_000)) * 1_000 }
    },
    retry: noIds,
    kill: noReservations,
    advance: time.advance,
  }
}

/** bottleneck: a group of queues that drop jobs that cannot start immediately, each with a reservoir. */
export function bottleneck(time: Time): TortureLimiter<Bottleneck.Group> {
  return {
    async make([only, second], over) {
      if (second !== undefined) throw new NotOffered('one reservoir for each limiter')
      if (over !== undefined) throw new NotOffered('a reservoir is set or incremented: there is no limit to edit')
      const { limit, windowMs } = only
      return new Bottleneck.Group({
        reservoir: limit,
        reservoirRefreshAmount: limit,
        reservoirRefreshInterval: windowMs,
        highWater: 0,
        strategy: Bottleneck.strategy.OVERFLOW,
        timeout: windowMs,
      })
    },
    async consume(group, { subject, cost }) {
      if (subject.startsWith('subject-')) throw new NotOffered('not tried: each subject is a queue with timers')
      let answer: TortureAnswer | Error | undefined
      group
        .key(subject)
        .schedule({ weight: cost }, async () => ({ allowed: true }))
        .then(
          (admitted) => (answer = admitted),
          (error: Error) => (answer = error instanceof Bottleneck.BottleneckError ? { allowed: false } : error),
        )
      // A timer starts each job a millisecond after it came.
      while (answer === undefined) await time.advance(1)
      if (answer instanceof Error) throw answer
      return answer
    },
    retry: noIds,
    kill: noReservations,
    advance: time.advance,
  }
}
