import { faultyDocument } from '../errors/quota-error.ts'
import type { Burst } from '../windows/kinds/bucket.ts'
import { type Duration, withLengths } from '../windows/kinds/rolling.ts'
import type { WindowDefinition } from '../windows/kinds.ts'
import {
  type BaseLimits,
  copyOfPolicy,
  type LayerDefinition,
  type LimitTable,
  type OperationDefinition,
  type PlanLimits,
  type Policy,
  type PolicyAnswers,
} from './policy.ts'
import { policyFaults } from './schema.ts'
import type { Counting, OneUnit, PolicyNames, SubjectOf, UnitDefinition, UnitsOf } from './units.ts'

/** A layer of a {@link PolicyDefinition}. */
export interface LayerInput {
  readonly name: string
  /**
   * The layer's name in status and refusals.
   *
   * @default the name
   */
  readonly scope?: string | undefined
  /**
   * Whether all subjects share one set of windows.
   *
   * @default false: each subject has its own windows
   */
  readonly shared?: boolean | undefined
}

/** A window whose label and unit the compiler knows. */
type LabelledWindow<Label extends string, C extends Counting> = WindowDefinition & {
  readonly label: Label
} & C['named']

/** A rolling window or a bucket in text form. Its length is `per`, or follows from its label. */
type WindowByText<Label extends string> = {
  readonly label: Label
  /**
   * The length, 1 second to 366 days: `'1m'`, or milliseconds.
   *
   * @default the label's, for example of `1h`
   */
  readonly per?: Duration | undefined
  /**
   * Makes it a token bucket that holds up to this many tokens: at most the limit, or a share of each subject's own
   * limit.
   *
   * @default none: it is a window
   */
  readonly burst?: Burst | undefined
  readonly lengthMs?: undefined
  readonly every?: undefined
}

/** A window in {@link definePolicy}. */
type WindowInput<Label extends string, C extends Counting> =
  | LabelledWindow<Label, C>
  | (WindowByText<Label> & C['named'])

/** The options of {@link definePolicy}. The compiler knows the policy's names. */
export interface PolicyDefinition<
  Operation extends string,
  Category extends string,
  Layer extends LayerInput,
  Label extends string,
  Slots extends string = never,
  Unit extends string = 'tokens',
  Plan extends string = string,
> {
  /**
   * The units that the limits count, by name. Money has a format: `{ name: 'microusd', format: { currency: 'USD',
   * scale: 6 } }`. With several units each window names its own, and costs are amounts by unit.
   *
   * @default ['tokens']
   */
  readonly units?: readonly (Unit | UnitDefinition<Unit>)[] | undefined
  /** The windows of each layer and category: a label for people, and a length or a calendar period. */
  readonly windows: readonly WindowInput<Label, UnitsOf<NoInfer<Unit>>>[]
  /** Names of the categories. They never share a counter. */
  readonly categories: readonly Category[]
  readonly layers: readonly Layer[]
  readonly operations: Readonly<
    Record<Operation, OperationDefinition<UnitsOf<NoInfer<Unit>>> & { readonly category: NoInfer<Category> }>
  >
  /** Limits how much work may run at the same time: a label, and what needs a slot. */
  readonly concurrency?:
    | {
        readonly label: Slots
        readonly operations?: readonly NoInfer<Operation>[] | undefined
        readonly categories?: readonly NoInfer<Category>[] | undefined
      }
    | undefined
  /** Base limits for each layer, category and window, and slots where concurrency is limited. */
  readonly base: BaseLimits<NoInfer<Layer>['name'], NoInfer<Category>, NoInfer<Label>, NoInfer<Slots>>
  /** Plans by name: limits of layers that aren't shared, if they differ from the base. */
  readonly plans?:
    | Readonly<Record<Plan, PlanLimits<OwnLayer<Layer>, NoInfer<Category>, NoInfer<Label> | NoInfer<Slots>>>>
    | undefined
  /**
   * The HTTP responses for refused callers.
   *
   * @default `neutralAnswers()` of `@scoregw/quota/http`
   */
  readonly answers?: PolicyAnswers | undefined
}

/** A layer that isn't shared. */
type LayerOfItsOwn = { readonly name: string; readonly shared?: false | undefined }

/** Names of the layers that aren't shared, as far as the compiler knows. */
type OwnLayer<Layer extends LayerInput> = Layer extends { readonly shared: true } ? never : Layer['name']

/**
 * Names of the layers in which subjects have keys. Any name, if the compiler doesn't know whether a layer is shared.
 */
type KeyedLayer<Layer extends LayerInput> = Layer extends { readonly shared: true }
  ? never
  : Layer extends LayerOfItsOwn
    ? Layer['name']
    : string

/** Names of the layers that may be shared. */
type SharedLayer<Layer extends LayerInput> = Layer extends LayerOfItsOwn ? never : Layer['name']

/** A layer of a policy, shared or not according to its names. */
type DefinedLayer<Layer extends string, Names extends PolicyNames> = LayerDefinition & { readonly name: Layer } & (
    | { readonly name: Names['ownLayer']; readonly shared: false }
    | { readonly name: Names['sharedLayer']; readonly shared: true }
  )

/** A policy with layers, categories, labels and operations that the compiler knows. */
export interface DefinedPolicy<
  Operation extends string,
  Category extends string,
  Layer extends string,
  Label extends string,
  Slots extends string = never,
  C extends Counting = OneUnit,
> extends Policy<Operation, C> {
  readonly windows: readonly LabelledWindow<Label, C>[]
  readonly categories: readonly Category[]
  readonly layers: readonly DefinedLayer<Layer, C['names']>[]
  readonly base: LimitTable & BaseLimits<Layer, Category, Label, Slots>
}

/**
 * Makes your own policy. Missing limits and undefined names are compile errors. All other faults are reported together
 * at run time.
 *
 * @throws {QuotaError} `invalid_policy` naming every fault
 * @example
 * definePolicy({
 *   windows: [{ label: '1m' }],
 *   categories: ['call'],
 *   layers: [{ name: 'customer' }, { name: 'everybody', shared: true }],
 *   operations: { search: { category: 'call', cost: 3 } },
 *   base: { customer: { call: { '1m': 60 } }, everybody: { call: { '1m': 6_000 } } },
 * })
 */
export function definePolicy<
  const Operation extends string,
  const Category extends string,
  const Layer extends LayerInput,
  const Label extends string,
  const Slots extends string = never,
  const Unit extends string = 'tokens',
  const Plan extends string = string,
>(
  definition: PolicyDefinition<Operation, Category, Layer, Label, Slots, Unit, Plan>,
): DefinedPolicy<
  Operation,
  Category,
  Layer['name'],
  Label,
  Slots,
  UnitsOf<
    Unit,
    {
      readonly subject: SubjectOf<KeyedLayer<Layer>>
      readonly plan: Plan
      readonly ownLayer: OwnLayer<Layer>
      readonly sharedLayer: SharedLayer<Layer>
      readonly category: Category
      readonly window: Label
      readonly slots: Slots
    }
  >
> {
  const layers = withDefaults(definition?.layers)
  const policy = { ...definition, layers, windows: withLengths(definition?.windows) }
  const faults = policyFaults(policy)
  if (faults.length > 0) throw faultyDocument('invalid_policy', 'policy', faults)
  return copyOfPolicy(policy as never)
}

/** A value that isn't a list of layers is left as it is; the check rejects it. */
function withDefaults<Layer extends LayerInput>(
  layers: readonly Layer[],
): readonly (Layer & { readonly scope: string; readonly shared: boolean })[] {
  const filled = (layer: Layer): Layer & { readonly scope: string; readonly shared: boolean } =>
    typeof layer === 'object' && layer !== null
      ? { ...layer, scope: layer.scope ?? String(layer.name), shared: layer.shared ?? false }
      : layer
  return Array.isArray(layers) ? layers.map(filled) : (layers as never)
}
