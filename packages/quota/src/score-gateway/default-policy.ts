import { faultyDocument } from '../errors/quota-error.ts'
import { unknownKey } from '../options/faults.ts'
import type { LimitTable, OperationDefinition, Policy } from '../policy/policy.ts'
import type { OneUnit, PolicyNames } from '../policy/units.ts'
import { scoreGatewayAnswers } from './score-gateway-answers.ts'

/** The options of {@link defaultPolicy}. */
export interface DefaultPolicyOptions<Operation extends string> {
  /**
   * Operations and prices. Their category is `read` or `write`.
   *
   * @default `read` and `write`, one token each
   */
  readonly operations?: Readonly<
    Record<Operation, OperationDefinition<Counted> & { readonly category: 'read' | 'write' }>
  >
  /**
   * The base limits of both layers, in tokens.
   *
   * @default personal read 120/400/1,200 and write 60/200/600, site read 3,000/10,000/36,000 and write
   * 1,500/5,000/18,000
   */
  readonly base?: LimitTable
}

/** The units and names of {@link defaultPolicy}. */
type Counted = OneUnit<'tokens', DefaultNames>
interface DefaultNames extends PolicyNames {
  readonly subject: string
  readonly ownLayer: 'personal'
  readonly sharedLayer: 'site'
  readonly category: 'read' | 'write'
  readonly window: '1h' | '5h' | '1d'
  readonly slots: never
}

const OPTIONS: readonly string[] = ['operations', 'base']
const WORDS: Readonly<Record<string, string>> = {
  limit: 'use `base`, by layer, category and window',
  limits: 'use `base`, by layer, category and window',
  max: 'use `base`, by layer, category and window',
  points: 'use `base`, by layer, category and window',
  windows: 'other windows need definePolicy()',
  windowMs: 'other windows need definePolicy()',
  categories: 'other categories need definePolicy()',
  layers: 'other layers need definePolicy()',
}

const DEFAULT_BASE: LimitTable = {
  personal: { read: { '1h': 120, '5h': 400, '1d': 1_200 }, write: { '1h': 60, '5h': 200, '1d': 600 } },
  site: { read: { '1h': 3_000, '5h': 10_000, '1d': 36_000 }, write: { '1h': 1_500, '5h': 5_000, '1d': 18_000 } },
}

/**
 * The score gateway's policy: three windows (1 hour, 5 hours, 1 day), two categories (read, write), two layers (personal,
 * site), and the answers of its specification.
 *
 * @throws {QuotaError} `invalid_options` for other options than these
 * @example
 * defaultPolicy({ operations: { 'music.upsert': { category: 'write', cost: 15 } } })
 */
export function defaultPolicy<Operation extends string = 'read' | 'write'>(
  options: DefaultPolicyOptions<Operation> = {},
): Policy<Operation, Counted> {
  const unknown = Object.keys(options).filter((key) => !OPTIONS.includes(key))
  if (unknown.length > 0) {
    const faults = unknown.map((path) => ({ path, message: unknownKey(path, OPTIONS, WORDS) }))
    throw faultyDocument('invalid_options', 'options of defaultPolicy()', faults)
  }
  const operations = options.operations ?? {
    read: { category: 'read', cost: 1 },
    write: { category: 'write', cost: 1 },
  }
  return {
    windows: [
      { label: '1h', lengthMs: 3_600_000 },
      { label: '5h', lengthMs: 18_000_000 },
      { label: '1d', lengthMs: 86_400_000 },
    ],
    categories: ['read', 'write'],
    layers: [
      { name: 'personal', scope: 'Personal', shared: false },
      { name: 'site', scope: 'Site', shared: true },
    ],
    operations: operations as Readonly<Record<Operation, OperationDefinition<Counted>>>,
    base: options.base ?? DEFAULT_BASE,
    answers: scoreGatewayAnswers(),
  }
}
