import type { Quotas, StoreSchema, WindowStates } from '@scoregw/quota'

/** The layers of a request, those with keys of their own and those that everybody shares. */
export interface Parts {
  readonly own: readonly number[]
  readonly shared: readonly number[]
  /** Where they are among the request's layers. */
  readonly ownAt: readonly number[]
  readonly sharedAt: readonly number[]
}

export function partsOf(schema: StoreSchema, layers: readonly number[]): Parts {
  const isShared = (at: number): boolean => schema.layers[layers[at]!]!.shared
  const places = [...layers.keys()]
  const ownAt = places.filter((at) => !isShared(at))
  const sharedAt = places.filter(isShared)
  return { own: ownAt.map((at) => layers[at]!), shared: sharedAt.map((at) => layers[at]!), ownAt, sharedAt }
}

/** Quotas taken apart: once for all requests that are decided under them. */
export interface QuotaParts extends Parts {
  readonly ownQuotas: Quotas
  readonly sharedQuotas: Quotas
  /** Own quotas that nothing fits into. */
  readonly nothing: Quotas
}

export function quotaParts(schema: StoreSchema, quotas: Quotas): QuotaParts {
  const parts = partsOf(schema, quotas.layers)
  const ownQuotas = partOf(schema, quotas, parts.ownAt)
  const nothing = { ...ownQuotas, limits: ownQuotas.limits.map(() => 0) }
  return { ...parts, ownQuotas, sharedQuotas: partOf(schema, quotas, parts.sharedAt), nothing }
}

/** The quotas of some of a request's layers. */
function partOf({ windows }: StoreSchema, { layers, limits }: Quotas, places: readonly number[]): Quotas {
  return {
    layers: places.map((at) => layers[at]!),
    limits: places.flatMap((at) => limits.slice(at * windows.length, (at + 1) * windows.length)),
  }
}

/** The states of some of a request's layers. */
export function rowsOf({ windows }: StoreSchema, states: WindowStates, places: readonly number[]): number[] {
  const width = 2 * windows.length
  return places.flatMap((at) => states.slice(at * width, (at + 1) * width))
}

/** States in the order of the request's layers again. */
export function joined(parts: Parts, own: WindowStates, shared: WindowStates): number[] {
  const rows = parts.ownAt.length + parts.sharedAt.length
  const width = (own.length + shared.length) / Math.max(1, rows)
  const states = new Array<number>(rows * width).fill(0.5)
  const put = (places: readonly number[], from: WindowStates): void => {
    for (const [row, at] of places.entries()) {
      for (let i = 0; i < width; i++) states[at * width + i] = from[row * width + i]!
    }
  }
  put(parts.ownAt, own)
  put(parts.sharedAt, shared)
  return states
}

/** States of windows with these starts, to say which. */
export function statesOf(starts: readonly number[]): number[] {
  return starts.flatMap((start) => [start, 0])
}
