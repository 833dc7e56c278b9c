import { createQuota, definePolicy } from '@scoregw/quota'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** A person, with the team and the tenant that also pay. */
export interface Caller {
  readonly user: string
  readonly team: string
  readonly tenant: string
}

/**
 * One decision over three layers: a person cannot use up the team's
 * share of the hour, nor a team what the tenant bought for the day.
 */
export const quota = createQuota({
  policy: definePolicy({
    windows: [
      { label: '1h', lengthMs: HOUR_MS },
      { label: '1d', lengthMs: DAY_MS },
    ],
    categories: ['call'],
    layers: [{ name: 'user' }, { name: 'team' }, { name: 'tenant' }],
    operations: {
      search: { category: 'call', cost: 1 },
      export: { category: 'call', cost: 20 },
    },
    base: {
      user: { call: { '1h': 100, '1d': 1_000 } },
      team: { call: { '1h': 300, '1d': 3_000 } },
      tenant: { call: { '1h': 'unlimited', '1d': 10_000 } },
    },
    plans: {
      business: { tenant: { call: { '1d': 100_000 } } },
    },
  }),
})

/** Keys of different tenants never collide: each part is escaped. */
export function subjectOf({ user, team, tenant }: Caller) {
  const [t, g, u] = [tenant, team, user].map(encodeURIComponent)
  return { user: `${t}/${u}`, team: `${t}/${g}`, tenant: `${t}` }
}

/** Stores a tenant's plan. It applies to everyone in it from now on. */
export async function buy(
  tenant: string,
  plan: 'business' | null,
): Promise<void> {
  const key = encodeURIComponent(tenant)
  await quota.subjects.set(key, { plan }, { layer: 'tenant' })
}
