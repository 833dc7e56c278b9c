import { defaultPolicy, type OperationDefinition, type Policy } from '@scoregw/quota'

/** What the gateway meters, with the prices in tokens that hold until an administrator sets others. */
const OPERATIONS = {
  'user.music': { category: 'read', cost: 4 },
  'music.delete': { category: 'write', cost: 10 },
  'music.upsert': { category: 'write', cost: 15 },
} as const satisfies Record<string, OperationDefinition>

export type OperationName = keyof typeof OPERATIONS

export const OPERATION_NAMES = Object.keys(OPERATIONS) as OperationName[]

/** Three windows, a personal and a site-wide layer, the default base values. */
export const gatewayPolicy: Policy<OperationName> = defaultPolicy({ operations: OPERATIONS })
