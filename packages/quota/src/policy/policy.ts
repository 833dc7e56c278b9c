import { QuotaError } from '../errors/quota-error.ts'
import { listed, noSuchName } from '../options/faults.ts'
import type { WindowDefinition } from '../windows/kinds.ts'
import type { MoneyAmount } from './money.ts'
import type { Counting, UnitDefinition } from './units.ts'

/** What happens to an actual cost above what a hold reserved. */
export type OverrunPolicy = 'refuse' | 'charge' | 'fit'

/** The number of a limit: whole units, 0 to 10^15 (0 blocks), or unlimited. Money counts whole millionths. */
export type Limit = number | 'unlimited'

/** A bucket's number with a burst of its own. A plain number keeps the share of the limit that the burst has. */
export interface LimitWithBurst {
  readonly limit: Limit
  /** The most that the bucket can hold: 1 to the limit. */
  readonly burst: number
}

/** The number of a limit as plans, requests and subjects' settings have it. */
export type LimitNumber = Limit | LimitWithBurst

/** Numbers by the names of limits. */
export type LimitNumbers = Readonly<Record<string, LimitNumber>>

/** The number of a limit as callers write it: with money as {@link MoneyAmount}. */
export type GivenLimit = LimitNumber | MoneyAmount

/** A layer: who shares one counter of each of its limits. */
export interface LayerDefinition {
  /** What `by` or `shared` of limits names, for example `user`. */
  readonly name: string
  /** The layer's name for people, for example `Personal`. */
  readonly title: string
  /** `false`: each subject has its own counters. `true`: all subjects share one. */
  readonly shared: boolean
}

/** A limit of a policy. */
export interface LimitRule {
  /** Its name in plans, settings, decisions and fields. */
  readonly name: string
  /** Its name for people. */
  readonly title: string
  /** Index of its layer. */
  readonly layer: number
  /** How much, before plans, settings and modes. */
  readonly limit: Limit
  /** The unit that it counts; `slots` for concurrency. */
  readonly unit: string
  /** The operations that it counts; `undefined`: all. */
  readonly operations: readonly string[] | undefined
  /** Its time; `undefined`: it limits concurrency. */
  readonly window: WindowDefinition | undefined
  /** Whether it counts and refuses nobody, unless the settings say otherwise. */
  readonly shadow: boolean
  /** Its former name, under which its counter and stored numbers are. */
  readonly formerly?: string | undefined
}

/** Something that callers do: its price, and its category if limits count it by that. */
interface OperationDefinition<C extends Counting = Counting> {
  /** The name of a group of operations, for `for` of limits. */
  readonly category?: C['names']['category'] | undefined
  /**
   * The price: whole units. With several units, amounts by unit.
   *
   * @default 1 of `requests`, 0 of other units
   */
  readonly cost?: C['amount'] | undefined
  /**
   * What happens to a commit above its hold. `refuse` rejects it. `charge` charges the excess regardless of the limits,
   * so later requests wait for it. `fit` charges as much as fits under all limits.
   *
   * @default 'refuse'
   */
  readonly overrun?: OverrunPolicy | undefined
  /**
   * How much one commit may charge beyond the hold, above 0; with several units, amounts by unit. Required with
   * `charge` and `fit`.
   */
  readonly maxOverrun?: C['amount'] | undefined
}

/** Makes the HTTP responses for refused callers: `QuotaAnswers` of `@scoregw/quota/http`. */
export type PolicyAnswers = (decision: never, context: never) => object

/** The rules of an engine, checked and complete. Plain data, except for `answers`. */
export interface Policy<Operation extends string = string, C extends Counting = Counting> {
  /** The units that the limits count, by name, with a format for money. */
  readonly units: readonly (C['unit'] | UnitDefinition<C['unit']>)[]
  readonly layers: readonly LayerDefinition[]
  /** In the order in which they are shown. */
  readonly limits: readonly LimitRule[]
  readonly operations: Readonly<Record<Operation, OperationDefinition<C>>>
  /** Plans by name: numbers of subjects' own limits, if they differ from the policy's. */
  readonly plans: Readonly<Record<string, LimitNumbers>>
  /** The layer whose stored plan serves all limits; absent: that of each limit's own layer. */
  readonly planOf?: string | undefined
  /**
   * The HTTP responses for refused callers.
   *
   * @default `neutralAnswers()` of `@scoregw/quota/http`
   */
  readonly answers?: PolicyAnswers | undefined
  /** The compiler's knowledge. Never present. */
  readonly counting?: C
}

/** The part of a policy that is read. */
type Operations = Pick<Policy, 'operations'>

/** Makes the error for an unknown operation. */
export function unknownOperation(name: unknown, { operations }: Operations): QuotaError {
  const names = Object.keys(operations)
  const message =
    name === undefined
      ? `operation: missing; the policy has ${listed(names)}`
      : `unknown operation ${noSuchName(name, names, 'the policy has')}`
  return new QuotaError('unknown_operation', message)
}

/**
 * Returns a policy's operation by name.
 *
 * @throws {QuotaError} `unknown_operation`
 */
export function operationOf(policy: Operations, name: string): Policy['operations'][string] {
  const found = Object.hasOwn(policy.operations, name) ? policy.operations[name] : undefined
  if (found === undefined) throw unknownOperation(name, policy)
  return found
}
