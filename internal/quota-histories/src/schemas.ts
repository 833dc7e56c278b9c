import type { CellSchema, LayerSchema, StoreSchema } from '@scoregw/quota/store'

/** Returns a schema whose layers all have the same cells, and whose requests count in all of them. */
export function uniform(
  units: readonly string[],
  cells: readonly CellSchema[],
  layers: readonly Pick<LayerSchema, 'name' | 'by' | 'shared'>[],
): StoreSchema {
  return {
    units,
    layers: layers.map((layer) => ({ ...layer, cells })),
    sets: [[...layers.flatMap(() => cells).keys()]],
  }
}

/** Returns the same schema with other cells. */
export function withCells({ units, layers }: StoreSchema, cells: readonly CellSchema[]): StoreSchema {
  return uniform(units, cells, layers)
}
