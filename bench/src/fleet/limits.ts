import { createQuota } from '@scoregw/quota'
import type { QuotaStore } from '@scoregw/quota/store'

// Contestants that every server has.
export const FLEXIBLE = 'rate-limiter-flexible: one limit'
export const FLEXIBLE_SIX = 'rate-limiter-flexible: six limits, two unions'
export const OURS = 'quota: one limit'
export const OURS_SIX = 'quota: six limits'

/** A limit that nobody reaches. */
export const MANY = 1_000_000_000
export const HOUR_SECONDS = 3_600
/** The windows of six limits, in hours: each user's and everybody's. */
export const HOURS = [1, 5, 24] as const

/** Decides whether a user may continue. */
export type Admit = (user: string) => Promise<boolean>

/** An engine that admits, and what ends it. */
export interface OurQuota {
  readonly admit: Admit
  close(): Promise<void>
}

export function oneLimit(store: QuotaStore): OurQuota {
  const quota = createQuota({ limits: { perHour: { by: 'user', limit: MANY, per: '1h' } }, store })
  return { admit: async (subject) => (await quota.consume({ subject })).allowed, close: () => quota.close() }
}

export function sixLimits(store: QuotaStore): OurQuota {
  const limits = {
    hour: { by: 'user', limit: MANY, per: '1h' },
    fiveHours: { by: 'user', limit: MANY, per: '5h' },
    day: { by: 'user', limit: MANY, per: '1d' },
    hourOfAll: { shared: 'all', limit: MANY, per: '1h' },
    fiveHoursOfAll: { shared: 'all', limit: MANY, per: '5h' },
    dayOfAll: { shared: 'all', limit: MANY, per: '1d' },
  } as const
  const quota = createQuota({ limits, store })
  return { admit: async (subject) => (await quota.consume({ subject })).allowed, close: () => quota.close() }
}
