import type { Policy as NamedPolicy } from '@scoregw/quota'
import type { LimitRule } from '@scoregw/quota/store'
import type { Limit, LimitTable, Policy } from './shapes.ts'

/** Where a limit stands in a table. */
export interface TablePlace {
  readonly layer: string
  readonly category: string
  readonly window: string
}

/** Names of limits, and where each stands. */
export interface Names {
  nameOf(place: TablePlace): string
  placeOf(name: string): TablePlace
  /** Values by name, of a table. */
  flat<T>(table: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, T>>>>>>): Record<string, T>
  /** A table, of values by name. */
  table(values: Readonly<Record<string, unknown>>): Record<string, Record<string, Record<string, Limit>>>
}

/** @param isFull whether names have the category even if there is one, so that policies with more share counters */
export function namesOf({ layers, categories, windows, concurrency }: Policy, isFull = false): Names {
  const labels = [...windows.map(({ label }) => label), ...(concurrency === undefined ? [] : [concurrency.label])]
  const nameOf = ({ layer, category, window }: TablePlace): string =>
    categories.length === 1 && !isFull ? `${layer}-${window}` : `${layer}-${category}-${window}`
  const places = new Map<string, TablePlace>()
  for (const { name: layer } of layers) {
    for (const category of categories) {
      for (const window of labels) places.set(nameOf({ layer, category, window }), { layer, category, window })
    }
  }
  const placeOf = (name: string): TablePlace => places.get(name) ?? { layer: name, category: '', window: name }
  return {
    nameOf,
    placeOf,
    flat: (table) =>
      Object.fromEntries([...entriesOf(table, [...places.values()])].map(([place, value]) => [nameOf(place), value])),
    table(values) {
      const table: Record<string, Record<string, Record<string, Limit>>> = {}
      for (const [name, value] of Object.entries(values)) {
        const { layer, category, window } = placeOf(name)
        table[layer] ??= {}
        table[layer][category] ??= {}
        table[layer][category][window] = value as Limit
      }
      return table
    },
  }
}

type Table = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, unknown>> | null>> | null>>

/** The values of a table. `null` for a layer or category removes everything below it. */
function* entriesOf(table: Table, known: readonly TablePlace[]): Generator<readonly [TablePlace, never]> {
  for (const [layer, ofLayer] of Object.entries(table)) {
    const inLayer = known.filter((place) => place.layer === layer)
    if (ofLayer === null) yield* inLayer.map((place) => [place, null as never] as const)
    for (const [category, ofCategory] of Object.entries(ofLayer ?? {})) {
      const inCategory = inLayer.filter((place) => place.category === category)
      if (ofCategory === null) yield* inCategory.map((place) => [place, null as never] as const)
      for (const [window, value] of Object.entries(ofCategory ?? {}))
        yield [{ layer, category, window }, value as never]
    }
  }
}

/** The members of a policy by name. */
type NamedMembers = Pick<NamedPolicy, 'units' | 'layers' | 'limits' | 'operations' | 'plans'>

/** Adds the members of a policy by name, so that it is both. */
export function withNames<P extends Policy>(table: P, isFull = false): P & NamedMembers {
  const { layers, categories, windows, concurrency, base, operations, plans = {}, units = ['tokens'] } = table
  const names = namesOf(table, isFull)
  const first = nameOfUnit(units[0] ?? 'tokens')
  const limits: LimitRule[] = []
  const allUnits = [...units]
  const flatPlans = Object.fromEntries(Object.entries(plans).map(([plan, numbers]) => [plan, names.flat(numbers)]))
  for (const [index, layer] of layers.entries()) {
    for (const category of categories) {
      const ofCategory = Object.entries(operations).filter(([, operation]) => operation.category === category)
      const place = { layer: layer.name, category }
      for (const { unit = first, ...window } of windows) {
        const name = names.nameOf({ ...place, window: window.label })
        limits.push({
          ...{
            name,
            title: layer.scope,
            layer: index,
            limit: numberIn(base, layer.name, category, window.label) ?? 'unlimited',
          },
          ...{ unit, operations: ofCategory.map(([each]) => each), window: { ...window, label: name }, shadow: false },
        })
      }
      const slots = concurrency && numberIn(base, layer.name, category, concurrency.label)
      if (concurrency === undefined || slots === undefined) continue
      const working = ofCategory.filter(
        ([each]) => concurrency.operations?.includes(each) || concurrency.categories?.includes(category),
      )
      limits.push({
        ...{
          name: names.nameOf({ ...place, window: concurrency.label }),
          title: layer.scope,
          layer: index,
          limit: slots,
        },
        ...{ unit: 'slots', operations: working.map(([each]) => each), window: undefined, shadow: false },
      })
    }
  }
  return {
    ...table,
    units: allUnits,
    layers: layers.map((layer) => ({ ...layer, title: layer.scope })),
    limits,
    operations: Object.fromEntries(
      Object.entries(operations).map(([name, operation]) => [name, priced(units, operation)]),
    ),
    plans: flatPlans,
    tables: { plans: table.plans, units: table.units, flatPlans, allUnits },
  } as never
}

interface WrittenParts extends Pick<Policy, 'plans' | 'units'> {
  readonly flatPlans?: unknown
  readonly allUnits?: unknown
}

/** The plans of a table, and its units as they were written. A copy of the policy may have others. */
export function writtenOf(policy: Policy): Pick<Policy, 'plans' | 'units'> {
  const { tables } = policy as Policy & { readonly tables?: WrittenParts }
  if (tables === undefined) return { plans: policy.plans, units: policy.units }
  return {
    plans: policy.plans === tables.flatPlans ? tables.plans : policy.plans,
    units: policy.units === tables.allUnits ? tables.units : policy.units,
  }
}

function numberIn(table: LimitTable, layer: string, category: string, label: string): Limit | undefined {
  return table[layer]?.[category]?.[label]
}

function nameOfUnit(unit: string | { readonly name: string }): string {
  return typeof unit === 'string' ? unit : unit.name
}

/** Units that a price of a table leaves out cost 0. */
function priced(units: readonly (string | { readonly name: string })[], operation: object): object {
  const { cost } = operation as { readonly cost?: unknown }
  if (typeof cost !== 'object' || cost === null) return operation
  return { ...operation, cost: { ...Object.fromEntries(units.map((unit) => [nameOfUnit(unit), 0])), ...cost } }
}
