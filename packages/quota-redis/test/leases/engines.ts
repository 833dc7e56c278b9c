import { createQuota, definePolicy, type OneUnit, type Policy, type Quota, type QuotaStatus } from '@scoregw/quota'
import type { SettingsStore } from '@scoregw/quota/store'
import type { ManualClock } from '@scoregw/quota-testkit'
import type { RedisClient } from '../../src/index.ts'
import { type LeasedRedisStore, leasedRedisStore } from '../../src/leases.ts'
import type { Cleanups } from '../support/cleanups.ts'

export type LeaseOperation = 'take' | 'big' | 'look'

/** A site of so many requests; `personal` is unlimited by default. */
export function sitePolicy(
  site: number,
  personal: number | 'unlimited' = 'unlimited',
): Policy<LeaseOperation, OneUnit> {
  const policy = definePolicy({
    limits: {
      'personal-write-hour': { by: 'personal', limit: personal, per: '1h', for: 'write' },
      'personal-write-day': { by: 'personal', limit: personal, per: '1d', for: 'write' },
      'personal-read-hour': { by: 'personal', limit: personal, per: '1h', for: 'read' },
      'personal-read-day': { by: 'personal', limit: personal, per: '1d', for: 'read' },
      'site-hour': { shared: 'site', limit: site, per: '1h' },
      'site-day': { shared: 'site', limit: site, per: '1d' },
    },
    operations: { take: { category: 'write' }, big: { category: 'write', cost: 5 }, look: { category: 'read' } },
  })
  return policy
}

export interface LeasedEngine {
  readonly quota: Quota<LeaseOperation, OneUnit>
  readonly store: LeasedRedisStore
}

export interface LeasedOptions {
  readonly policy: Policy<LeaseOperation, OneUnit>
  readonly prefix?: string
  readonly deadlineMs?: number
  readonly testClock?: ManualClock
  readonly settingsStore?: SettingsStore
}

export function leasedEngine(client: RedisClient, later: Cleanups['later'], options: LeasedOptions): LeasedEngine {
  const { policy, settingsStore, deadlineMs = 1_000, ...rest } = options
  const store = leasedRedisStore({ client, deadlineMs, ...rest })
  const quota = createQuota({ policy, store, settingsStore })
  later(() => quota.close())
  return { quota, store }
}

/** Takes by so many callers together, each one after the other; how many were admitted. Those without an answer are not. */
export async function takes(
  quota: Quota<LeaseOperation, OneUnit>,
  callers: number,
  each: number,
  users = 50,
): Promise<number> {
  let admitted = 0
  const call = async (_: unknown, caller: number): Promise<void> => {
    for (let i = 0; i < each; i++) {
      const subject = `u${(caller * 7 + i) % users}`
      const decision = await quota.consume({ subject, operation: 'take' }).catch(() => undefined)
      if (decision?.allowed) admitted++
    }
  }
  await Promise.all(Array.from({ length: callers }, call))
  return admitted
}

/** A subject's limits of writes: its own of an hour and of a day, then the site's. */
export async function writesOf(
  quota: Quota<LeaseOperation, OneUnit>,
  subject: string,
): Promise<NonNullable<QuotaStatus['limits'][string]>[]> {
  const { limits } = await quota.status(subject)
  return Object.values(limits).flatMap((limit) => (limit === undefined || limit.name.includes('-read-') ? [] : [limit]))
}

/** What the site's hour used. */
export async function siteUsed(quota: Quota<LeaseOperation, OneUnit>): Promise<number | undefined> {
  const { limits } = await quota.status('nobody')
  return limits['site-hour']?.used
}
