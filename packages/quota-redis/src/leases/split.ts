import type { Layout, Quotas, StoreSchema, WindowStates } from '@scoregw/quota/store'

/** The layers of a request: those with keys per subject ("own") and those that all subjects share. */
export interface SplitLayers {
  readonly own: readonly number[]
  readonly shared: readonly number[]
  /** Their indexes among the request's layers. */
  readonly ownAt: readonly number[]
  readonly sharedAt: readonly number[]
}

export function splitLayers(schema: StoreSchema, layers: readonly number[]): SplitLayers {
  const isShared = (at: number): boolean => schema.layers[layers[at]!]!.shared
  const places = [...layers.keys()]
  const ownAt = places.filter((at) => !isShared(at))
  const sharedAt = places.filter(isShared)
  return { own: ownAt.map((at) => layers[at]!), shared: sharedAt.map((at) => layers[at]!), ownAt, sharedAt }
}

/** Quotas split into own and shared ones, once for all requests under them. */
export interface SplitQuotas extends SplitLayers {
  readonly ownQuotas: Quotas
  /** Rates are set if there are buckets. */
  readonly sharedQuotas: Quotas
  /** Own quotas with limits of 0. */
  readonly nothing: Quotas
  /** Splits the periods of a request into those of own and of shared layers. */
  periodsOf(periods: readonly number[] | undefined): SplitPeriods
}

/** Split periods. The arrays are the same objects each time, because stores compare them to group requests. */
export interface SplitPeriods {
  readonly own: readonly number[] | undefined
  readonly shared: readonly number[] | undefined
}

const NO_PERIODS: SplitPeriods = { own: undefined, shared: undefined }

export function splitQuotas(schema: StoreSchema, layout: Layout, quotas: Quotas): SplitQuotas {
  const split = splitLayers(schema, quotas.layers)
  const ownQuotas = partOf(layout, quotas, split.ownAt)
  const shared = partOf(layout, quotas, split.sharedAt)
  const nothing = { ...ownQuotas, limits: ownQuotas.limits.map(() => 0) }
  const known = new WeakMap<readonly number[], SplitPeriods>()
  const periodsOf = (periods: readonly number[] | undefined): SplitPeriods => {
    if (periods === undefined) return NO_PERIODS
    const both = known.get(periods) ?? splitPeriods(layout, split, periods)
    known.set(periods, both)
    return both
  }
  return {
    ...split,
    ownQuotas,
    sharedQuotas: { ...shared, rates: shared.rates?.some((rate) => rate > 0) ? shared.rates : undefined },
    nothing,
    periodsOf,
  }
}

export function splitPeriods(
  layout: Layout,
  { ownAt, sharedAt }: SplitLayers,
  periods: readonly number[] | undefined,
): SplitPeriods {
  if (periods === undefined) return NO_PERIODS
  const of = (places: readonly number[]): number[] =>
    places.flatMap((at) => periods.slice(layout.periodsAt(at), layout.periodsAt(at + 1)))
  return { own: of(ownAt), shared: of(sharedAt) }
}

/** The quotas of some of a request's layers. */
function partOf(layout: Layout, { layers, limits, rates }: Quotas, places: readonly number[]): Quotas {
  return {
    layers: places.map((at) => layers[at]!),
    limits: places.flatMap((at) => layout.limitsOf(limits, at)),
    rates: rates && places.flatMap((at) => layout.limitsOf(rates, at)),
  }
}

/** The states of some of a request's layers. */
export function rowsOf(layout: Layout, states: WindowStates, places: readonly number[]): number[] {
  return places.flatMap((at) => layout.rowOf(states, at))
}

/** States in the order of the request's layers again. */
export function joined(layout: Layout, split: SplitLayers, own: WindowStates, shared: WindowStates): number[] {
  const states = new Array<number>(layout.rowAt(split.ownAt.length + split.sharedAt.length)).fill(0.5)
  const put = (places: readonly number[], from: WindowStates): void => {
    for (const [slot, at] of places.entries()) {
      for (let i = 0; i < layout.rowCells; i++) states[layout.rowAt(at) + i] = from[layout.rowAt(slot) + i]!
    }
  }
  put(split.ownAt, own)
  put(split.sharedAt, shared)
  return states
}

/** States of windows with these starts and no use, to identify the windows. */
export function statesOf(starts: readonly number[]): number[] {
  return starts.flatMap((start) => [start, 0])
}
