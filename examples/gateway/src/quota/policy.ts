import type { Quota } from '@scoregw/quota'
import { scoreGatewayPolicy } from '@scoregw/quota/score-gateway'

/** The limits of the specification, and its operations. Administrators change numbers and prices at run time. */
export const policy = scoreGatewayPolicy({
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
})

export type OperationName = keyof typeof policy.operations & string
export const OPERATION_NAMES = Object.keys(policy.operations) as OperationName[]

/** Counts tokens, under the policy's names. */
export type Tokens = NonNullable<typeof policy.counting>
/** The gateway's engine. */
export type GatewayQuota = Quota<OperationName, Tokens>

/** @returns `read` or `write` */
export function categoryOf(operation: string): string {
  const found = OPERATION_NAMES.find((name) => name === operation)
  return found === undefined ? operation : (policy.operations[found].category ?? operation)
}
