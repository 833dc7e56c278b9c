import { QuotaError } from '../errors/quota-error.ts'
import { noSuchName } from '../options/faults.ts'
import type { WindowDefinition } from '../windows/kinds.ts'
import type { Counting, Some, UnitDefinition } from './units.ts'

/** Decides about an actual cost above what a hold reserved. */
export type OverrunPolicy = 'refuse' | 'charge' | 'fit'

/** A limit: whole tokens, 0 to 10^11 (0 blocks), or unlimited. */
export type Limit = number | 'unlimited'

/** Limits in tokens by layer, category and window label. */
export type LimitTable = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, Limit>>>>>>

/** A limit for each layer, category and window label, and concurrency limits where you want them. */
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

/** A layer: who shares one set of windows. */
export interface LayerDefinition {
  /** Name in settings and subjects, for example `personal`: 1 to 32 of `A-Z a-z 0-9 _ -`. */
  readonly name: string
  /** The layer's name in status and refusals, for example `Personal`. */
  readonly scope: string
  /**
   * `false`: each subject has its own windows and can have overrides. `true`: all subjects share one set of windows. It
   * can be switched off, multiplied, and bypassed by single subjects.
   */
  readonly shared: boolean
}

/** Something that callers do: its category and its price. */
export interface OperationDefinition<C extends Counting = Counting> {
  readonly category: string
  /** The price: whole tokens, 0 is free. With several units, amounts by unit; units that you leave out cost 0. */
  readonly cost: C['cost']
  /**
   * What happens to a commit above its hold. `refuse` rejects it. `charge` charges the excess regardless of the limits,
   * so later requests wait for it. `fit` charges as much as fits under all limits.
   *
   * @default 'refuse'
   */
  readonly overrun?: OverrunPolicy | undefined
  /**
   * How many tokens one commit may charge beyond the hold, above 0; with several units, amounts by unit. Required with
   * `charge` and `fit`.
   */
  readonly maxOverrun?: C['cost'] | undefined
}

/** How much work may run at the same time. A hold takes a slot until it is settled or expires. */
export interface ConcurrencyDefinition {
  /** The label in settings, status, bodies and headers, for example `running`. */
  readonly label: string
  /** The operations that need a slot. Others take none. */
  readonly operations?: readonly string[] | undefined
  /** Categories whose operations all need a slot. */
  readonly categories?: readonly string[] | undefined
}

/** A plan's limits in tokens, by layer (not shared), category and label, if they differ from the base. */
export type PlanTable = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, Limit>>>>>>

/** Makes the HTTP responses for refused callers: `QuotaAnswers` of `@scoregw/quota/http`. */
export type PolicyAnswers = (decision: never, context: never) => object

/** A window, and its unit. Required if the policy has several units. */
export type PolicyWindow = WindowDefinition & { readonly unit?: string | undefined }

/**
 * The rules of an engine: windows, categories, layers, operations and base limits. Plain data, except for `answers`.
 */
export interface Policy<Operation extends string = string, C extends Counting = Counting> {
  /**
   * The units that the limits count, by name, with a format for money.
   *
   * @default ['tokens']
   */
  readonly units?: readonly (C['unit'] | UnitDefinition<C['unit']>)[] | undefined
  readonly windows: readonly PolicyWindow[]
  /** Names of the categories. They never share a counter. */
  readonly categories: readonly string[]
  readonly layers: readonly LayerDefinition[]
  readonly operations: Readonly<Record<Operation, OperationDefinition<C>>>
  /**
   * Base limits in each window's unit, which modes scale. One for each layer, category and window. Without an entry for
   * concurrency, a layer and category don't limit it.
   */
  readonly base: LimitTable
  /** How much work may run at the same time. */
  readonly concurrency?: ConcurrencyDefinition | undefined
  /** Plans by name: limits of layers that aren't shared, if they differ from the base. */
  readonly plans?: Readonly<Record<string, PlanTable>> | undefined
  /**
   * The HTTP responses for refused callers.
   *
   * @default `neutralAnswers()` of `@scoregw/quota/http`
   */
  readonly answers?: PolicyAnswers | undefined
}

/** Returns a copy, so that later changes of the original have no effect. */
export function copyOfPolicy<P extends Policy>({ answers, ...data }: P): P {
  const copy = structuredClone(data)
  return (answers === undefined ? copy : { ...copy, answers }) as unknown as P
}

/** The part of a policy that is read. */
type Operations = Pick<Policy, 'operations'>

/** Makes the error for an unknown operation. */
export function unknownOperation(name: unknown, { operations }: Operations): QuotaError {
  const message = `unknown operation ${noSuchName(name, Object.keys(operations), 'the policy has')}`
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
