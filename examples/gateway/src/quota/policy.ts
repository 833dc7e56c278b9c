import { definePolicy, type Policy } from '@scoregw/quota'

const defined = definePolicy({
  windows: [{ label: '1h' }, { label: '5h' }, { label: '1d' }],
  categories: ['read', 'write'],
  layers: [
    { name: 'personal', scope: 'Personal' },
    { name: 'site', scope: 'Site', shared: true },
  ],
  operations: {
    'user.data': { category: 'read', cost: 2 },
    'user.charge': { category: 'read', cost: 2 },
    'user.items': { category: 'read', cost: 2 },
    'user.gates': { category: 'read', cost: 2 },
    'user.music': { category: 'read', cost: 4 },
    'source.lx': { category: 'read', cost: 5 },
    'source.fish': { category: 'read', cost: 5 },
    'ticket.clear': { category: 'write', cost: 5 },
    'music.delete': { category: 'write', cost: 10 },
    'music.upsert': { category: 'write', cost: 15 },
    'user.clear': { category: 'write', cost: 20 },
    'charge.2': { category: 'write', cost: 10 },
    'charge.3': { category: 'write', cost: 15 },
    'charge.5': { category: 'write', cost: 25 },
  },
  base: {
    personal: { read: { '1h': 120, '5h': 400, '1d': 1_200 }, write: { '1h': 60, '5h': 200, '1d': 600 } },
    site: { read: { '1h': 3_000, '5h': 10_000, '1d': 36_000 }, write: { '1h': 1_500, '5h': 5_000, '1d': 18_000 } },
  },
})

export type OperationName = keyof typeof defined.operations & string

/** The operations, windows and layers of the specification. Administrators change limits and prices at run time. */
export const policy: Policy<OperationName> = defined

export const OPERATION_NAMES = Object.keys(policy.operations) as OperationName[]
