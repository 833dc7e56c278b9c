import { createQuota, type Quota } from '@scoregw/quota'
import type { QuotaStore } from '@scoregw/quota/store'
import type { Admit } from '../deciders/decider.ts'
import type { Limiter } from './backend.ts'

// Contestants that every server has.
export const FLEXIBLE = 'rate-limiter-flexible: one limit'
export const FLEXIBLE_SIX = 'rate-limiter-flexible: six limits, two unions'
export const OURS = 'quota: one limit'
export const OURS_SIX = 'quota: six limits'

/** A limit that nobody reaches. */
export const MANY = 1_000_000_000

/** An engine without operations. */
export type OurQuota = Quota<'request'>

/** Any caller's request. */
export function requestOf(subject: string) {
  return { subject, operation: 'request' } as const
}

/** @param limit of each user, per hour */
export function oneLimit(store: QuotaStore, limit = MANY): OurQuota {
  return createQuota({ limits: { hour: { by: 'user', limit, per: '1h' } }, store })
}

/** Three limits of each user, and three of all. */
export function sixLimits(store: QuotaStore, limit = MANY): OurQuota {
  const limits = {
    hour: { by: 'user', limit, per: '1h' },
    fiveHours: { by: 'user', limit: MANY, per: '5h' },
    day: { by: 'user', limit: MANY, per: '1d' },
    hourOfAll: { shared: 'all', limit: MANY, per: '1h' },
    fiveHoursOfAll: { shared: 'all', limit: MANY, per: '5h' },
    dayOfAll: { shared: 'all', limit: MANY, per: '1d' },
  } as const
  return createQuota({ limits, store })
}

/** A limiter of ours. @param end closes the store's connections */
export function ourLimiter(quota: OurQuota, end: () => unknown): Limiter {
  const admit = async (subject: string) => (await quota.consume(requestOf(subject))).allowed
  return limiterOf(admit, async () => {
    await quota.close()
    await end()
  })
}

export function limiterOf(admit: Admit | Promise<Admit>, close: () => unknown): Limiter {
  return {
    async decide(user) {
      if (!(await (await admit)(user))) throw new Error('an unexpected refusal')
    },
    async close() {
      await close()
    },
  }
}
