export const LAYERS = ['personal', 'site'] as const
export type Layer = (typeof LAYERS)[number]

export const CATEGORIES = ['read', 'write'] as const
export type Category = (typeof CATEGORIES)[number]

export const WINDOWS = ['1h', '5h', '1d'] as const
export type WindowName = (typeof WINDOWS)[number]

/** One of the twelve values of a table. */
export interface Cell {
  readonly layer: Layer
  readonly category: Category
  readonly window: WindowName
}

export const CELLS: readonly Cell[] = LAYERS.flatMap((layer) =>
  CATEGORIES.flatMap((category) => WINDOWS.map((window) => ({ layer, category, window }))),
)

/** Where a table has a value. */
export function pathOf(table: 'base' | 'custom', { layer, category, window }: Cell): string {
  return `${table}.${layer}.${category}.${window}`
}
