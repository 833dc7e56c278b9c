import { faultyDocument } from '../errors/quota-error.ts'
import { isPlain } from '../options/checks.ts'
import type { Burst } from '../windows/kinds/bucket.ts'
import type { CalendarAnchor, CalendarPeriod } from '../windows/kinds/calendar.ts'
import type { Duration } from '../windows/kinds/rolling.ts'
import type { Money, MoneyAmount } from './money.ts'
import type { GivenLimit, Limit, OverrunPolicy, Policy, PolicyAnswers } from './policy.ts'
import { readPolicy } from './schema.ts'
import type { CostOf, SubjectOf, UnitDefinition, UnitsOf } from './units.ts'

/** Whose limit it is. */
type Whose<By extends string, Shared extends string> =
  | {
      /** All callers together share this limit. The name of the layer, for example `service`. */
      readonly shared: Shared
      readonly by?: undefined
    }
  | {
      /** Each subject has its own limit. What the key identifies, for example `user`, `team` or `ip`. */
      readonly by: By
      readonly shared?: undefined
    }

/** How much of what. */
type HowMuch<Of extends string, Currency extends string> =
  | {
      /** The most that may be used: a whole number, 0 to 10^15 (0 blocks), or `'unlimited'`. */
      readonly limit: Limit
      /**
       * The unit that it counts.
       *
       * @default the policy's `unit`, which is `requests`
       */
      readonly of?: `${Of}` | undefined
    }
  | {
      /** The most that may be spent, `usd(20)`, or `'unlimited'`. */
      readonly limit: MoneyAmount<Currency> | 'unlimited'
      /** The currency: `money('USD')`. */
      readonly of: Money<Currency>
    }

/** A time that begins with the first request, or a token bucket. */
interface PerTime {
  /** How long a window lasts, 1 ms to 366 days: `'250ms'`, `'30s'`, `'15m'`, `'12h'`, `'30d'`. */
  readonly per: Duration
  /**
   * Makes it a token bucket, which refills continuously up to this many: at most the limit, or a share of it, `{ share:
   * 0.2 }`.
   *
   * @default none: a window, which begins with the first request and resets when it ends
   */
  readonly burst?: Burst | undefined
  readonly every?: undefined
  readonly timeZone?: undefined
  readonly weekStartsOn?: undefined
  readonly anchor?: undefined
}

/** A period of the calendar. */
interface EveryPeriod {
  readonly every: CalendarPeriod
  /** The IANA name of the time zone, for example `Asia/Shanghai`. */
  readonly timeZone: string
  /** First day of a week, 1 (Monday) to 7 (Sunday). @default 1 */
  readonly weekStartsOn?: number | undefined
  /** When periods begin; `'subject'`: on each subject's own day. @default with the calendar */
  readonly anchor?: CalendarAnchor | 'subject' | undefined
  readonly per?: undefined
  readonly burst?: undefined
}

/** How much work may run at the same time. */
interface AtOnce {
  readonly concurrency: Limit
  readonly limit?: undefined
  readonly of?: undefined
  readonly per?: undefined
  readonly burst?: undefined
  readonly every?: undefined
  readonly timeZone?: undefined
  readonly weekStartsOn?: undefined
  readonly anchor?: undefined
}

/** What any limit can say. */
interface AnyLimit<For extends string> {
  /**
   * The operations that it counts, by name or category.
   *
   * @default every operation
   */
  readonly for?: For | readonly For[] | undefined
  /** Its name for people. @default the title of its layer */
  readonly title?: string | undefined
  /** Counts and reports, but refuses nobody. Settings can change it. @default false */
  readonly shadow?: boolean | undefined
  /** Its name before. The counter and stored numbers of that name go on. */
  readonly formerly?: string | undefined
}

/** A limit: whose it is, how much of what, per which time, and of which operations. */
export type LimitDefinition<
  By extends string = string,
  Shared extends string = string,
  Of extends string = string,
  Currency extends string = string,
  For extends string = string,
> = Whose<By, Shared> &
  (AtOnce | (HowMuch<Of, Currency> & { readonly concurrency?: undefined } & (EveryPeriod | PerTime))) &
  AnyLimit<For>

/** What an operation costs, and which limits count it. */
export interface OperationInput<
  Unit extends string = string,
  Currency extends string = string,
  Category extends string = string,
> {
  /** The name that limits mean with `for`. An operation's own name always works. */
  readonly category?: Category | undefined
  /**
   * The price. Each operation is 1 of `requests`, unless you write another number of them. Units that you leave out
   * cost 0. A number, if the policy has one unit.
   *
   * @default 1 request
   */
  readonly cost?: CostOf<Unit, Currency> | undefined
  /** Says that its price is 0, or that no limit counts it. Without it, that is a fault. @default false */
  readonly free?: boolean | undefined
  /** @see OperationDefinition */
  readonly overrun?: OverrunPolicy | undefined
  /** @see OperationDefinition */
  readonly maxOverrun?: CostOf<Unit, Currency> | undefined
}

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
