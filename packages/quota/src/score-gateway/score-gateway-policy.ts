import { faultyDocument, type QuotaError } from '../errors/quota-error.ts'
import { unknownKey } from '../options/faults.ts'
import { type CountingOf, definePolicy, type OperationInput } from '../policy/define-policy.ts'
import type { Limit, Policy } from '../policy/policy.ts'
import { scoreGatewayAnswers } from './score-gateway-answers.ts'

/** The names of the score gateway's twelve limits, such as `personal-read-1h`. */
export type ScoreGatewayLimit = `${'personal' | 'site'}-${'read' | 'write'}-${'1h' | '5h' | '1d'}`

/** The options of {@link scoreGatewayPolicy}. */
export interface ScoreGatewayPolicyOptions<Operation extends string> {
  /**
   * Operations and prices. Their category is `read` or `write`.
   *
   * @default `read` and `write`, one token each
   */
  readonly operations?: Readonly<
    Record<Operation, OperationInput<'tokens', never, 'read' | 'write'> & { readonly category: 'read' | 'write' }>
  >
  /** Numbers of limits, if they differ from the specification's. */
  readonly limits?: { readonly [name in ScoreGatewayLimit]?: Limit }
}

const OPTIONS: readonly string[] = ['operations', 'limits']

const PERIODS = ['1h', '5h', '1d'] as const

/** By layer and category, for 1 hour, 5 hours and 1 day. */
const STANDARD = {
  'personal-read': [120, 400, 1_200],
  'personal-write': [60, 200, 600],
  'site-read': [3_000, 10_000, 36_000],
  'site-write': [1_500, 5_000, 18_000],
} as const

/**
 * The score gateway's policy: limits per 1 hour, 5 hours and 1 day of reads and writes, for each person and for the
 * site, and the answers of its specification. Without operations of a category, its limits are left out.
 *
 * @throws {QuotaError} `invalid_options` for other options or limits than these
 * @example
 * scoreGatewayPolicy({ operations: { 'music.upsert': { category: 'write', cost: 15 } } })
 */
export function scoreGatewayPolicy<Operation extends string = 'read' | 'write'>(
  options: ScoreGatewayPolicyOptions<Operation> = {},
): Policy<
  Operation,
  CountingOf<ScoreGatewayLimit, 'personal', 'site', never, never, 'read' | 'write', 'tokens', string>
> {
  const unknown = Object.keys(options).filter((key) => !OPTIONS.includes(key))
  if (unknown.length > 0) throw unknownOptions(unknown, OPTIONS)
  const { limits, operations = { read: { category: 'read' }, write: { category: 'write' } } } = options
  const categories = Object.values<{ readonly category: string }>(operations).map(({ category }) => category)
  const names = Object.keys(STANDARD).flatMap((of) => PERIODS.map((per) => `${of}-${per}`))
  const others = Object.keys(limits ?? {}).filter((name) => !names.includes(name))
  if (others.length > 0) throw unknownOptions(others, names, 'limits.')
  const policy = definePolicy({
    unit: 'tokens',
    limits: Object.fromEntries<never>(
      Object.entries(STANDARD).flatMap(([of, numbers]) => {
        const [layer, category] = of.split('-') as ['personal' | 'site', 'read' | 'write']
        return PERIODS.filter(() => categories.includes(category)).map((per, at) => {
          const limit = limits?.[`${of}-${per}` as ScoreGatewayLimit] ?? numbers[at]!
          const whose = layer === 'site' ? { shared: layer } : { by: layer }
          return [`${of}-${per}`, { ...whose, limit, per, for: category } as never]
        })
      }),
    ),
    titles: { personal: 'Personal', site: 'Site' } as never,
    operations: withPrices(operations) as never,
    answers: scoreGatewayAnswers(),
  })
  return policy as never
}

function unknownOptions(names: readonly string[], known: readonly string[], path = ''): QuotaError {
  const faults = names.map((name) => ({ path: path + name, message: unknownKey(name, known) }))
  return faultyDocument('invalid_options', 'options of scoreGatewayPolicy()', faults)
}

/** Operations without a price cost one token. Those of price 0 are free. */
function withPrices(operations: Readonly<Record<string, object>>): object {
  return Object.fromEntries(
    Object.entries(operations).map(([name, operation]) => {
      const { cost = 1 } = operation as { readonly cost?: unknown }
      return [name, { ...operation, cost, ...(cost === 0 && { free: true }) }]
    }),
  )
}
