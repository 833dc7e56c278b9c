import type { Layer, Policy } from '../api/documents.ts'

export interface Cell {
  readonly layer: string
  readonly category: string
  readonly window: string
  /** A concurrency limit. Modes don't scale it. */
  readonly isSlots: boolean
}

/** In the policy's order. */
export function cellsOf({ layers, categories, concurrency }: Policy): Cell[] {
  return layers.flatMap(({ name, limits }) =>
    categories.flatMap((category) =>
      (limits[category] ?? []).map((window) => ({
        layer: name,
        category,
        window,
        isSlots: window === concurrency?.label,
      })),
    ),
  )
}

/** Labels of a layer's limits, each once. */
export function labelsOf({ limits }: Layer): string[] {
  return [...new Set(Object.values(limits).flat())]
}

export function pathOf(table: string, { layer, category, window }: Omit<Cell, 'isSlots'>): string {
  return `${table}.${layer}.${category}.${window}`
}

export function sharedLayers({ layers }: Policy): Layer[] {
  return layers.filter(({ shared }) => shared)
}

/** Layers that aren't shared. */
export function ownLayers({ layers }: Policy): Layer[] {
  return layers.filter(({ shared }) => !shared)
}
