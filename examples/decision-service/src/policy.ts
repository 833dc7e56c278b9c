import { definePolicy } from '@scoregw/quota'

/** Limits per user and for the whole service. A job reserves its cost before it is known. */
export const policy = definePolicy({
  windows: [{ label: '1m' }, { label: '1h' }],
  categories: ['api', 'jobs'],
  layers: [{ name: 'user' }, { name: 'service', shared: true }],
  operations: {
    read: { category: 'api', cost: 1 },
    write: { category: 'api', cost: 5 },
    job: { category: 'jobs', cost: 20, overrun: 'charge', maxOverrun: 20 },
  },
  base: {
    user: { api: { '1m': 60, '1h': 1_000 }, jobs: { '1m': 100, '1h': 1_000 } },
    service: { api: { '1m': 6_000, '1h': 100_000 }, jobs: { '1m': 10_000, '1h': 100_000 } },
  },
})

/** The operation of a proxied request, by its method. */
export function operationOf(method: string): 'read' | 'write' {
  return method === 'GET' || method === 'HEAD' ? 'read' : 'write'
}
