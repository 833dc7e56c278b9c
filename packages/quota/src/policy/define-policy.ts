import { faultyDocument } from '../errors/quota-error.ts'
import { isPlain } from '../options/checks.ts'
import type { LimitDefinition, OperationInput } from './limit-definition.ts'
import type { GivenLimit, Policy, PolicyAnswers } from './policy.ts'
import { readPolicy } from './schema.ts'
import type { SubjectOf, UnitDefinition, UnitsOf } from './units.ts'

/** The options of {@link definePolicy}. The compiler knows the policy's names. */
export interface PolicyDefinition<
  Name extends string,
  Operation extends string,
  By extends string,
  Shared extends string,
  Of extends string,
  Currency extends string,
  Category extends string,
  Unit extends string,
  Plan extends string,
> {
  /** The limits by name. A request must fit under all that count its operation. */
  readonly limits: Readonly<
    Record<Name, LimitDefinition<By, Shared, Of, Currency, NoInfer<Category> | NoInfer<Operation>>>
  >
  /**
   * What callers do, by name, with prices.
   *
   * @default one operation, `request`, which requests needn't name
   */
  readonly operations?:
    | Readonly<Record<Operation, OperationInput<NoInfer<Unit> | NoInfer<Of>, NoInfer<Currency>, Category>>>
    | undefined
  /**
   * What limits count that have no `of`.
   *
   * @default 'requests'
   */
  readonly unit?: Unit | UnitDefinition<Unit> | undefined
  /** Names for people, by what `by` and `shared` name. @default the name itself */
  readonly titles?: { readonly [name in NoInfer<By> | NoInfer<Shared>]?: string } | undefined
  /** Plans by name: their numbers of subjects' own limits, if they differ. */
  readonly plans?: Readonly<Record<Plan, { readonly [name in NoInfer<Name>]?: GivenLimit }>> | undefined
  /**
   * Whose stored plan serves all limits, for example `team`.
   *
   * @default each limit has the plan that is stored for its own subject
   */
  readonly planOf?: NoInfer<By> | undefined
  /** The HTTP responses for refused callers. @default `neutralAnswers()` of `@scoregw/quota/http` */
  readonly answers?: PolicyAnswers | undefined
}

/**
 * The units and names of a {@link PolicyDefinition}. Nothing is inferred from them, because a definition's names are its
 * own, whatever its policy is assigned or passed to.
 */
export type CountingOf<
  Name extends string,
  By extends string,
  Shared extends string,
  Of extends string,
  Currency extends string,
  Category extends string,
  Unit extends string,
  Plan extends string,
> = UnitsOf<
  NoInfer<Unit> | NoInfer<Of> | NoInfer<Currency>,
  {
    readonly subject: [By] extends [never] ? string : SubjectOf<NoInfer<By>>
    readonly plan: NoInfer<Plan>
    readonly ownLayer: NoInfer<By>
    readonly sharedLayer: NoInfer<Shared>
    readonly category: NoInfer<Category>
    readonly limit: NoInfer<Name>
  },
  NoInfer<Currency>
>

/**
 * Makes a policy. Names that don't match are compile errors. All other faults are reported together at run time.
 *
 * @throws {QuotaError} `invalid_policy` naming every fault
 * @example
 * definePolicy({
 *   limits: {
 *     perMinute: { by: 'user', limit: 20, per: '1m' },
 *     tokens: { by: 'user', limit: 100_000, of: 'tokens', per: '1h' },
 *     service: { shared: 'service', limit: 900, per: '1m' },
 *   },
 *   operations: { chat: { cost: { tokens: 2_000 } } },
 * })
 */
export function definePolicy<
  const Name extends string,
  const Operation extends string = 'request',
  const By extends string = never,
  const Shared extends string = never,
  const Of extends string = never,
  const Currency extends string = never,
  const Category extends string = never,
  const Unit extends string = 'requests',
  const Plan extends string = string,
>(
  definition: PolicyDefinition<Name, Operation, By, Shared, Of, Currency, Category, Unit, Plan>,
): Policy<NoInfer<Operation>, CountingOf<Name, By, Shared, Of, Currency, Category, Unit, Plan>> {
  return parsePolicy(definition) as never
}

/**
 * Reads a policy from data, such as a JSON file. It has the members of {@link definePolicy}; money is `{ "USD":
 * "100.00" }`. The package contains a JSON Schema, `@scoregw/quota/policy.schema.json`. The file may name it as
 * `$schema`.
 *
 * @throws {QuotaError} `invalid_policy` naming every fault
 */
export function parsePolicy(definition: unknown): Policy {
  const { policy, faults } = readPolicy(isPlain(definition) ? { ...definition, $schema: undefined } : definition)
  if (policy === undefined) throw faultyDocument('invalid_policy', 'policy', faults)
  return policy
}
