import { definePolicy, type Policy, type QuotaRequest } from '@scoregw/quota'

/** A policy of one operation and one limit: 100 an hour. */
export const policy: Policy = definePolicy({
  operations: { read: { category: 'read', cost: 1 } },
  categories: ['read'],
  windows: [{ label: '1h' }],
  layers: [{ name: 'user' }],
  base: { user: { read: { '1h': 100 } } },
})
export const request: QuotaRequest = { subject: 'u', operation: 'read' }
