import { definePolicy, type OneUnit, type Policy, type QuotaRequest } from '@scoregw/quota'

/** A policy of one operation and one limit: 100 an hour. */
const oneLimit = definePolicy({
  limits: { perHour: { by: 'user', limit: 100, per: '1h' } },
  operations: { read: {} },
})

/** The same, with a limit of all users together. */
const twoLimits = definePolicy({
  limits: { perHour: { by: 'user', limit: 100, per: '1h' }, total: { shared: 'all', limit: 1_000, per: '1h' } },
  operations: { read: {} },
})

export const policy: Policy<'read', OneUnit> = oneLimit
export const withShared: Policy<'read', OneUnit> = twoLimits
export const request: QuotaRequest<'read', OneUnit> = { subject: 'u', operation: 'read' }
