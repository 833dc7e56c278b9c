import { createQuota } from '@scoregw/quota'

/** A person, with the team and the tenant that also pay. */
export interface Caller {
  readonly user: string
  readonly team: string
  readonly tenant: string
}

/**
 * One decision over all limits: a person can't use up the team's
 * share of the hour, nor a team what the tenant bought for the day.
 */
export const quota = createQuota({
  limits: {
    userHourly: { by: 'user', limit: 100, per: '1h' },
    userDaily: { by: 'user', limit: 1_000, per: '1d' },
    teamHourly: { by: 'team', limit: 300, per: '1h' },
    teamDaily: { by: 'team', limit: 3_000, per: '1d' },
    tenantDaily: { by: 'tenant', limit: 10_000, per: '1d' },
  },
  operations: { search: {}, export: { cost: 20 } },
  plans: { business: { tenantDaily: 100_000 } },
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
  await quota.subjects.set(
    { tenant: encodeURIComponent(tenant) },
    { plan },
  )
}
