import { countIn, type Layout, nth, PERIOD_NUMBERS, startIn } from '@scoregw/quota/internal'
import type { Quotas, StoreSchema, WindowStates } from '@scoregw/quota/store'

/** The layers of a request: those with keys per subject ("own") and those that all subjects share. */
export interface SplitLayers {
  readonly own: readonly number[]
  readonly shared: readonly number[]
  /** The positions of the shared layers' limits. Pools of leases have them in this order. */
  readonly sharedAt: readonly number[]
}

/** @param layers that a request uses */
export function splitLayers({ layers: all }: StoreSchema, layout: Layout, layers: readonly number[]): SplitLayers {
  const isShared = (layer: number): boolean => nth(all, layer).shared
  const shared = layers.filter(isShared)
  return { own: layers.filter((layer) => !isShared(layer)), shared, sharedAt: positionsOf(layout, shared) }
}

/** The positions of the limits of some layers. */
export function positionsOf(layout: Layout, layers: readonly number[]): number[] {
  return layers.flatMap((layer) => {
    const { cells, first } = layout.rowAt(layer)
    return cells.map((_, cell) => first + cell)
  })
}

/** Quotas split into own and shared ones, once for all requests under them. */
export interface SplitQuotas extends SplitLayers {
  readonly ownQuotas: Quotas
  /** The limits and rates of the shared layers only. Rates are set if there are buckets. */
  readonly sharedLimits: readonly number[]
  readonly sharedRates: readonly number[] | undefined
  /** Own quotas with limits of 0. */
  readonly nothing: Quotas
  /** The periods of the shared layers, among those of a request: the same object each time. */
  periodsOf(periods: readonly number[] | undefined): readonly number[] | undefined
}

/** @param layers that a request uses */
export function splitQuotas(
  schema: StoreSchema,
  layout: Layout,
  quotas: Quotas,
  layers: readonly number[],
): SplitQuotas {
  const split = splitLayers(schema, layout, layers)
  const { sharedAt } = split
  const ownQuotas = { ...quotas, layers: split.own }
  const rates = sharedAt.map((at) => quotas.rates?.[at] ?? 0)
  const known = new WeakMap<readonly number[], readonly number[]>()
  const periodsOf = (periods: readonly number[] | undefined): readonly number[] | undefined => {
    if (periods === undefined) return undefined
    const shared = known.get(periods) ?? calendarsOf(layout, sharedAt).flatMap((at) => periodsAt(layout, periods, at))
    known.set(periods, shared)
    return shared
  }
  return {
    ...split,
    ownQuotas,
    sharedLimits: sharedAt.map((at) => nth(quotas.limits, at)),
    sharedRates: rates.some((rate) => rate > 0) ? rates : undefined,
    nothing: { ...ownQuotas, limits: quotas.limits.map(() => 0) },
    periodsOf,
  }
}

/** The calendar windows among some limits. */
function calendarsOf({ calendars }: Layout, positions: readonly number[]): readonly number[] {
  return positions.filter((at) => calendars.includes(at))
}

function periodsAt(layout: Layout, periods: readonly number[], at: number): readonly number[] {
  return periods.slice(layout.periodsAt(at), layout.periodsAt(at) + PERIOD_NUMBERS)
}

/** Numbers of some limits as numbers of all. */
export function spread({ size }: Layout, positions: readonly number[], values: readonly number[]): number[] {
  const all = new Array<number>(size).fill(0)
  for (const [index, at] of positions.entries()) all[at] = nth(values, index)
  return all
}

/** Periods of some limits as periods of all. */
export function spreadPeriods(
  layout: Layout,
  positions: readonly number[],
  periods: readonly number[] | undefined,
): readonly number[] | undefined {
  if (periods === undefined) return undefined
  const all = new Array<number>(PERIOD_NUMBERS * layout.calendars.length).fill(0)
  for (const [index, at] of calendarsOf(layout, positions).entries()) {
    for (let i = 0; i < PERIOD_NUMBERS; i++) all[layout.periodsAt(at) + i] = nth(periods, PERIOD_NUMBERS * index + i)
  }
  return all
}

/** The states of some limits, among those of all. */
export function pairsAt(states: WindowStates, positions: readonly number[]): number[] {
  return positions.flatMap((at) => [startIn(states, 2 * at), countIn(states, 2 * at)])
}

/** States of own layers, with those of shared layers added. */
export function joined(own: WindowStates, { sharedAt }: Pick<SplitLayers, 'sharedAt'>, shared: WindowStates): number[] {
  const states = own.slice()
  for (const [index, at] of sharedAt.entries()) {
    states[2 * at] = startIn(shared, 2 * index)
    states[2 * at + 1] = countIn(shared, 2 * index)
  }
  return states
}

/** States of windows with these starts and no use, to identify the windows. */
export function statesOf(starts: readonly number[]): number[] {
  return starts.flatMap((start) => [start, 0])
}
