import { type Burst, type Duration, type WindowDefinition, withLengths } from './lengths.ts'
import { withNames } from './named.ts'
import type {
  BaseLimits,
  Counting,
  LayerDefinition,
  LimitTable,
  OneUnit,
  OperationDefinition,
  PlanLimits,
  Policy,
  PolicyAnswers,
  PolicyNames,
  SubjectOf,
  UnitDefinition,
  UnitsOf,
} from './shapes.ts'

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
 * Completes a table. Doesn't validate it.
 *
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
  const layers = definition.layers.map((layer) => ({
    ...layer,
    scope: layer.scope ?? layer.name,
    shared: layer.shared ?? false,
  }))
  return withNames({ ...definition, layers, windows: withLengths(definition.windows) } as never) as never
}
