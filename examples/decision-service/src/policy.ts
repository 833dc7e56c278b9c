import { definePolicy } from '@scoregw/quota'

/** Limits per user and for the whole service. A job reserves its cost before it is known. */
export const policy = definePolicy({
  limits: {
    perMinute: { by: 'user', limit: 60, per: '1m', for: 'api' },
    perHour: { by: 'user', limit: 1_000, per: '1h', for: 'api' },
    jobsPerMinute: { by: 'user', limit: 100, per: '1m', for: 'job' },
    jobsPerHour: { by: 'user', limit: 1_000, per: '1h', for: 'job' },
    service: { shared: 'service', limit: 6_000, per: '1m', for: 'api' },
    allJobs: { shared: 'service', limit: 10_000, per: '1m', for: 'job' },
  },
  operations: {
    read: { category: 'api' },
    write: { category: 'api', cost: 5 },
    job: { cost: 20, overrun: 'charge', maxOverrun: 20 },
  },
})

/** The operation of a proxied request, by its method. */
export function operationOf(method: string): 'read' | 'write' {
  return method === 'GET' || method === 'HEAD' ? 'read' : 'write'
}
