import { QuotaError } from '../errors/quota-error.ts'
import { noSuchName } from '../options/faults.ts'
import type { WindowDefinition } from '../windows/kinds.ts'
import type { Counting, Some, UnitDefinition } from './units.ts'

/** The outcome of an actual cost above what a hold reserved. */
export type OverrunPolicy = 'refuse' | 'charge' | 'fit'

/** A limit: whole tokens, 0 to 10^11 (0 blocks), or no limit at all. */
export type Limit = number | 'unlimited'

/** Limits in tokens by layer, category and window label. */
export type LimitTable = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, Limit>>>>>>

/** A limit for each layer, category and window label; one of concurrency where there is to be one. */
export type BaseLimits<
  Layer extends string,
  Category extends string,
  Label extends string,
  Slots extends string = never,
> = Readonly<
  Record<Layer, Readonly<Record<Category, Readonly<Record<Label, Limit>> & { readonly [label in Slots]?: Limit }>>>
>

/** Some limits of some layers and categories. */
export type PlanLimits<Layer extends string, Category extends string, Label extends string> = Some<
  Layer,
  Some<Category, Some<Label, Limit>>
>

/** A layer of quota: who shares one set of windows. */
export interface LayerDefinition {
  /** Name in settings and subjects, for example `personal`: 1 to 32 of `A-Z a-z 0-9 _ -`. */
  readonly name: string
  /** How status and refusals name it, for example `Personal`. */
  readonly scope: string
  /**
   * `false`: each subject has windows of its own, and may have overrides.
   * `true`: all subjects share one set; it can be switched off, multiplied, and bypassed by single subjects.
   */
  readonly shared: boolean
}

/** A thing callers ask for: its category and its price in tokens. */
export interface OperationDefinition<C extends Counting = Counting> {
  readonly category: string
  /** Price: whole tokens, 0 is free; of several units an amount each, of those that it does not name 0. */
  readonly cost: C['cost']
  /**
   * What a commit above a hold does: `refuse` it, `charge` the excess whatever the limits (later requests wait for it), or
   * charge as much as may `fit` everywhere.
   * @default 'refuse'
   */
  readonly overrun?: OverrunPolicy | undefined
  /**
   * Most tokens that one commit charges beyond the hold, above 0; of several units an amount each. With `charge` and `fit`,
   * where it is required.
   */
  readonly maxOverrun?: C['cost'] | undefined
}

/** How much work may be in progress at the same time: a limit that a hold takes a slot of until it is settled or ends. */
export interface ConcurrencyDefinition {
  /** Name in settings, status, bodies and headers, for example `running`: as of a window. */
  readonly label: string
  /** The operations that need a slot; those that are not named leave it alone. */
  readonly operations?: readonly string[] | undefined
  /** The same for all operations of some categories. */
  readonly categories?: readonly string[] | undefined
}

/** Limits in tokens by own layer, category and label: what a plan says otherwise than the base. */
export type PlanTable = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, Limit>>>>>>

/** Makes what refused callers get over HTTP: `QuotaAnswers` of `@scoregw/quota/http`. */
export type PolicyAnswers = (decision: never, context: never) => object

/** A window, and what it counts: to be named where the policy has several units. */
export type PolicyWindow = WindowDefinition & { readonly unit?: string | undefined }

/** What an engine decides by: windows, categories, layers, operations and the base limits. Plain data, but for its answers. */
export interface Policy<Operation extends string = string, C extends Counting = Counting> {
  /**
   * What the limits count, by name; money with how it is shown.
   * @default ['tokens']
   */
  readonly units?: readonly (C['unit'] | UnitDefinition<C['unit']>)[] | undefined
  readonly windows: readonly PolicyWindow[]
  /** Names of the categories; they never share a counter. */
  readonly categories: readonly string[]
  readonly layers: readonly LayerDefinition[]
  readonly operations: Readonly<Record<Operation, OperationDefinition<C>>>
  /**
   * Base limits in the unit of each window, which the modes scale. One for each layer, category and window; for concurrency, where it is
   * limited: a layer and category without an entry under its label has no such limit.
   */
  readonly base: LimitTable
  /** How much work may be in progress at the same time. */
  readonly concurrency?: ConcurrencyDefinition | undefined
  /** By name: limits of own layers that differ for those who have the plan. */
  readonly plans?: Readonly<Record<string, PlanTable>> | undefined
  /**
   * What refused callers get over HTTP.
   * @default `neutralAnswers()` of `@scoregw/quota/http`
   */
  readonly answers?: PolicyAnswers | undefined
}

/** A copy that later changes of the original do not reach. */
export function copyOfPolicy<P extends Policy>({ answers, ...data }: P): P {
  const copy = structuredClone(data)
  return (answers === undefined ? copy : { ...copy, answers }) as unknown as P
}

/** What is read of a policy. */
type Operations = Pick<Policy, 'operations'>

/** The error of an operation that a policy does not have. */
export function unknownOperation(name: unknown, { operations }: Operations): QuotaError {
  const message = `unknown operation ${noSuchName(name, Object.keys(operations), 'the policy has')}`
  return new QuotaError('unknown_operation', message)
}

/**
 * An operation of a policy, by its name.
 *
 * @throws {QuotaError} `unknown_operation`
 */
export function operationOf(policy: Operations, name: string): Policy['operations'][string] {
  const found = Object.hasOwn(policy.operations, name) ? policy.operations[name] : undefined
  if (found === undefined) throw unknownOperation(name, policy)
  return found
}
