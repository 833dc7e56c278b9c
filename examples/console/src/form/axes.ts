import type { Layer, Policy } from '../api/documents.ts'

/** One value of a table. */
export interface Cell {
  readonly layer: string
  readonly category: string
  readonly window: string
  /** A limit of concurrency, which no mode scales. */
  readonly isSlots: boolean
}

/** Every value of a table, in the policy's order. */
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

/** Labels of the limits of a layer, of some categories or all, each once. */
export function labelsOf({ limits }: Layer): string[] {
  return [...new Set(Object.values(limits).flat())]
}

/** Where a table has a value. */
export function pathOf(table: string, { layer, category, window }: Omit<Cell, 'isSlots'>): string {
  return `${table}.${layer}.${category}.${window}`
}

export function sharedLayers({ layers }: Policy): Layer[] {
  return layers.filter(({ shared }) => shared)
}

/** Layers that each user has windows of. */
export function ownLayers({ layers }: Policy): Layer[] {
  return layers.filter(({ shared }) => !shared)
}
