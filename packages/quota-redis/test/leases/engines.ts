import { createQuota, type Policy, type Quota, type SettingsStore } from '@scoregw/quota'
import type { ManualClock } from '@scoregw/quota-testkit'
import type { RedisClient } from '../../src/index.ts'
import { type LeasedRedisStore, leasedRedisStore } from '../../src/leases.ts'
import type { Cleanups } from '../support/cleanups.ts'

export type LeaseOperation = 'take' | 'big' | 'look'

/** A site of so many tokens; `personal` is unlimited by default. */
export function sitePolicy(site: number, personal: number | 'unlimited' = 'unlimited'): Policy<LeaseOperation> {
  const own = { hour: personal, day: personal }
  const all = { hour: site, day: site }
  return {
    windows: [
      { label: 'hour', lengthMs: 3_600_000 },
      { label: 'day', lengthMs: 86_400_000 },
    ],
    categories: ['write', 'read'],
    layers: [
      { name: 'personal', scope: 'Personal', shared: false },
      { name: 'site', scope: 'Site', shared: true },
    ],
    operations: {
      take: { category: 'write', cost: 1 },
      big: { category: 'write', cost: 5 },
      look: { category: 'read', cost: 1 },
    },
    base: { personal: { write: own, read: own }, site: { write: all, read: all } },
  }
}

export interface LeasedEngine {
  readonly quota: Quota<LeaseOperation>
  readonly store: LeasedRedisStore
}

export interface LeasedOptions {
  readonly policy: Policy<LeaseOperation>
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
export async function takes(quota: Quota<LeaseOperation>, callers: number, each: number, users = 50): Promise<number> {
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

/** Tokens used in the site's window of an hour. */
export async function siteUsed(quota: Quota<LeaseOperation>): Promise<number | undefined> {
  const { windows } = await quota.status('nobody')
  return windows.write?.find(({ layer }) => layer === 'site')?.used
}
