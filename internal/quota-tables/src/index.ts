/**
 * Policies as tables over engines by name.
 *
 * @module
 */
import {
  createQuota as createNamed,
  type QuotaOptions as NamedOptions,
  type SyncQuota as NamedQuota,
  type OneOperation,
  type SyncOneOperation,
} from '@scoregw/quota'
import { scoreGatewayAnswers } from '@scoregw/quota/score-gateway'
import { definePolicy } from './define-policy.ts'
import { type Burst, type Duration, labelOf, lengthOf } from './lengths.ts'
import { withNames } from './named.ts'
import type { LimitTable, OperationDefinition, Policy } from './shapes.ts'

export { type DefinedPolicy, definePolicy } from './define-policy.ts'
export {
  createQuota,
  initialSettings,
  isSyncQuota,
  type Quota,
  type QuotaOptions,
  type SyncQuota,
  type SyncQuotaOptions,
  storeSchema,
} from './engine.ts'
export type * from './shapes.ts'

const BASE: LimitTable = {
  personal: { read: { '1h': 120, '5h': 400, '1d': 1_200 }, write: { '1h': 60, '5h': 200, '1d': 600 } },
  site: { read: { '1h': 3_000, '5h': 10_000, '1d': 36_000 }, write: { '1h': 1_500, '5h': 5_000, '1d': 18_000 } },
}

/** The score gateway's policy as a table. */
export function defaultPolicy<Operation extends string = 'read' | 'write'>(
  options: { readonly operations?: Readonly<Record<Operation, OperationDefinition>>; readonly base?: LimitTable } = {},
): Policy<Operation> {
  const standard = { read: { category: 'read', cost: 1 }, write: { category: 'write', cost: 1 } }
  const policy = definePolicy({
    windows: [{ label: '1h' }, { label: '5h' }, { label: '1d' }],
    categories: ['read', 'write'],
    layers: [
      { name: 'personal', scope: 'Personal' },
      { name: 'site', scope: 'Site', shared: true },
    ],
    operations: (options.operations ?? standard) as never,
    base: (options.base ?? BASE) as never,
    answers: scoreGatewayAnswers(),
  })
  return policy as never
}

/** Options of an engine with one limit. */
export interface SimpleQuotaOptions extends Omit<NamedOptions, 'policy' | 'failurePolicy'> {
  readonly limit: number
  readonly per: Duration
  readonly burst?: Burst | undefined
  readonly name?: string | undefined
  readonly failurePolicy?: NonNullable<NamedOptions['failurePolicy']>[string] | undefined
}

/** An engine by name with one limit, `name-label`. */
export function simpleQuota(options: SimpleQuotaOptions): NamedQuota<'request'> & SyncOneOperation & OneOperation {
  const { name = 'personal', limit, per, burst, failurePolicy, ...rest } = options
  const lengthMs = lengthOf(per)
  const policy = withNames({
    windows: [{ label: labelOf(lengthMs), lengthMs, ...(burst !== undefined && { burst }) }],
    categories: ['request'],
    layers: [{ name, scope: name, shared: false }],
    operations: { request: { category: 'request', cost: 1 } },
    base: { [name]: { request: { [labelOf(lengthMs)]: limit } } },
  } as Policy)
  const failing = failurePolicy === undefined ? {} : { failurePolicy: { request: failurePolicy } }
  return createNamed({ ...rest, ...failing, policy } as never) as never
}
