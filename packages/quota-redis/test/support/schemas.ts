import type { StoreSchema } from '@scoregw/quota/store'

/** Returns the positions of layers' limits. */
export function limitsOf({ layers }: StoreSchema, which: readonly number[]): number[] {
  const width = layers[0]!.cells.length
  return which.toSorted((a, b) => a - b).flatMap((layer) => layers[0]!.cells.map((_, index) => layer * width + index))
}
