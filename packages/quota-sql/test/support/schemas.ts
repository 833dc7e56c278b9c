import type { StoreSchema } from '@scoregw/quota/store'

/** Returns the same schema with rows of its own. */
export function apart(schema: StoreSchema, name: string): StoreSchema {
  const layers = schema.layers.map((layer) => ({ ...layer, name: `${layer.name}-${name}`, by: layer.name }))
  return { ...schema, layers }
}
