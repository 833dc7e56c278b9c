import { idOwnerKey, layerKey, type StoreSchema, type Subject } from '../store/schema.ts'

/** Which row: the counters of one layer, category and subject. */
export interface RowPlace {
  readonly layer: string
  readonly category: string
  /** The subject's key in the layer; `''` in a shared one. */
  readonly key: string
}

/** Which record: that of an id. */
export interface IdPlace {
  readonly category: string
  /** The subject's key in the first layer of its own. */
  readonly owner: string
  readonly id: string
}

/**
 * Returns the rows that a request is about, by their names.
 *
 * @param categories indices into the schema's categories
 * @param layers indices into its layers
 */
export function rowPlaces(
  schema: StoreSchema,
  subject: Subject,
  categories: readonly number[],
  layers: readonly number[],
): RowPlace[] {
  return layers.flatMap((index) => {
    const layer = schema.layers[index]!
    const key = layerKey(layer, subject)
    return categories.map((category) => ({ layer: layer.name, category: schema.categories[category]!, key }))
  })
}

/** Returns the record that a request under an id is about; none without an id. */
export function idPlaces(schema: StoreSchema, { subject, category, id }: IdRequest): IdPlace[] {
  if (id === undefined) return []
  return [{ category: schema.categories[category]!, owner: idOwnerKey(schema, subject), id: id.id }]
}

/** The members that are used of a request: a take, a settlement, a call on a hold. */
export interface IdRequest {
  readonly subject: Subject
  readonly category: number
  readonly id?: { readonly id: string } | undefined
}
