import { defaultPolicy, type OperationDefinition, type Policy } from '@scoregw/quota'

/** What the gateway meters, with the prices in tokens that hold until an administrator sets others. */
const OPERATIONS = {
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
} as const satisfies Record<string, OperationDefinition>

export type OperationName = keyof typeof OPERATIONS

export const OPERATION_NAMES = Object.keys(OPERATIONS) as OperationName[]

/** Three windows, a personal and a site-wide layer, the default base values. */
export const gatewayPolicy: Policy<OperationName> = defaultPolicy({ operations: OPERATIONS })
