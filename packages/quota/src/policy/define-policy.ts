import { faultyDocument } from '../errors/quota-error.ts'
import type { LayerDefinition, Limit, OperationDefinition, Policy } from './policy.ts'
import { policyFaults } from './schema.ts'

/** What {@link definePolicy} takes: a policy whose names are known to the compiler. */
export interface PolicyDefinition<
  Operation extends string,
  Category extends string,
  Layer extends string,
  Label extends string,
> {
  /** Windows of every layer and category: a label people read, and a length in milliseconds. */
  readonly windows: readonly { readonly label: Label; readonly lengthMs: number }[]
  /** Names of the categories; they never share a counter. */
  readonly categories: readonly Category[]
  readonly layers: readonly {
    readonly name: Layer
    /**
     * How status and refusals name it.
     * @default the name with a capital letter
     */
    readonly scope?: string | undefined
    /**
     * Whether all subjects share one set of windows.
     * @default false: each subject has windows of its own
     */
    readonly shared?: boolean | undefined
  }[]
  readonly operations: Readonly<Record<Operation, OperationDefinition & { readonly category: NoInfer<Category> }>>
  /** Base limits in tokens, one for each layer, category and window. */
  readonly base: BaseLimits<NoInfer<Layer>, NoInfer<Category>, NoInfer<Label>>
}

/** A limit for each layer, category and window label. */
export type BaseLimits<Layer extends string, Category extends string, Label extends string> = Readonly<
  Record<Layer, Readonly<Record<Category, Readonly<Record<Label, Limit>>>>>
>

/** A policy whose layers, categories and window labels are known to the compiler, as its operations are. */
export interface DefinedPolicy<
  Operation extends string,
  Category extends string,
  Layer extends string,
  Label extends string,
> extends Policy<Operation> {
  readonly windows: readonly { readonly label: Label; readonly lengthMs: number }[]
  readonly categories: readonly Category[]
  readonly layers: readonly (LayerDefinition & { readonly name: Layer })[]
  readonly base: BaseLimits<Layer, Category, Label>
}

/**
 * A policy of one's own. A limit that is missing, or a name that nobody defined, is an error of the compiler; whatever
 * else is wrong is told at once.
 *
 * @throws {QuotaError} `invalid_policy` naming every fault
 * @example
 * definePolicy({
 *   windows: [{ label: '1m', lengthMs: 60_000 }],
 *   categories: ['call'],
 *   layers: [{ name: 'customer' }, { name: 'everybody', shared: true }],
 *   operations: { search: { category: 'call', cost: 3 } },
 *   base: { customer: { call: { '1m': 60 } }, everybody: { call: { '1m': 6_000 } } },
 * })
 */
export function definePolicy<
  const Operation extends string,
  const Category extends string,
  const Layer extends string,
  const Label extends string,
>(definition: PolicyDefinition<Operation, Category, Layer, Label>): DefinedPolicy<Operation, Category, Layer, Label> {
  const policy = { ...definition, layers: withDefaults(definition?.layers) }
  const faults = policyFaults(policy)
  if (faults.length > 0) throw faultyDocument('invalid_policy', 'policy', faults)
  return structuredClone(policy)
}

type LayerWithDefaults = {
  readonly name: string
  readonly scope?: string | undefined
  readonly shared?: boolean | undefined
}

/** What is no list of layers is left as it is, to be refused. */
function withDefaults<Layer extends LayerWithDefaults>(
  layers: readonly Layer[],
): readonly (Layer & { readonly scope: string; readonly shared: boolean })[] {
  const filled = (layer: Layer): Layer & { readonly scope: string; readonly shared: boolean } =>
    typeof layer === 'object' && layer !== null
      ? { ...layer, scope: layer.scope ?? capitalized(layer.name), shared: layer.shared ?? false }
      : layer
  return Array.isArray(layers) ? layers.map(filled) : (layers as never)
}

function capitalized(name: unknown): string {
  const text = String(name)
  return text.charAt(0).toUpperCase() + text.slice(1)
}
