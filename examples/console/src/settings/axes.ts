import type { Layer, Policy } from '../api/documents.ts'

/** One value of a table. */
export interface Cell {
  readonly layer: string
  readonly category: string
  readonly window: string
}

/** Every value of a table, in the policy's order. */
export function cellsOf({ layers, categories, windows }: Policy): Cell[] {
  return layers.flatMap(({ name }) =>
    categories.flatMap((category) => windows.map(({ label }) => ({ layer: name, category, window: label }))),
  )
}

/** Where a table has a value. */
export function pathOf(table: 'base' | 'custom', { layer, category, window }: Cell): string {
  return `${table}.${layer}.${category}.${window}`
}

export function sharedLayers({ layers }: Policy): Layer[] {
  return layers.filter(({ shared }) => shared)
}

/** Layers that each user has windows of. */
export function ownLayers({ layers }: Policy): Layer[] {
  return layers.filter(({ shared }) => !shared)
}
