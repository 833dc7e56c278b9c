import { createQuota } from '@scoregw/quota'
import {
  RateLimiterMemory,
  RateLimiterRes,
} from 'rate-limiter-flexible'

/** The result of a request, on either side. */
interface Answer {
  readonly allowed: boolean
  readonly left: number
  /** Milliseconds until a retry makes sense; 0 when allowed. */
  readonly waitMs: number
}

export type Ask = (user: string, cost?: number) => Promise<Answer>

export function before(points: number): Ask {
  const limiter = new RateLimiterMemory({ points, duration: 15 * 60 })
  return async (user, cost = 1) => {
    try {
      const { remainingPoints } = await limiter.consume(user, cost)
      return { allowed: true, left: remainingPoints, waitMs: 0 }
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) throw refused
      const { remainingPoints: left, msBeforeNext: waitMs } = refused
      return { allowed: false, left, waitMs }
    }
  }
}

export function after(limit: number): Ask {
  const quota = createQuota({
    limits: { api: { by: 'user', limit, per: '15m' } },
  })
  return async (user, cost = 1) => {
    const decision = await quota.consume({
      subject: user,
      cost,
    })
    const { allowed, limits } = decision
    const waitMs = decision.allowed
      ? 0
      : (decision.retryAfterMs ?? Number.POSITIVE_INFINITY)
    return { allowed, left: Number(limits.api?.remaining), waitMs }
  }
}
