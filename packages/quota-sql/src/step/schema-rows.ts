import {
  type HoldRef,
  type IdPlace,
  idOwnerKey,
  Layout,
  layerKey,
  type ReservationId,
  type StoreSchema,
  type Subject,
  type TakeRequest,
} from '@scoregw/quota/store'
import { keptText } from './names.ts'
import type { RowRef } from './requested.ts'
import type { Layouts, RowLayout } from './row-layout.ts'

/** The keys of one schema's rows and records. */
export class SchemaRows {
  readonly schema: StoreSchema
  readonly places: Layout
  readonly layout: RowLayout
  /** The beginnings of keys, by layer and category. */
  readonly #beginnings: readonly (readonly string[])[]

  constructor(schema: StoreSchema, layouts: Layouts) {
    this.schema = schema
    this.places = new Layout(schema.cells)
    this.layout = layouts.of(this.places.identities)
    this.#beginnings = schema.layers.map(({ name }) => schema.categories.map((category) => `${name}/${category}/`))
  }

  of(subject: Subject, categories: readonly number[], layers: readonly number[]): RowRef[] {
    const rows: RowRef[] = []
    for (const index of layers) {
      const layer = this.schema.layers[index]!
      const key = layerKey(layer, subject)
      const kept = keptText(key)
      for (const category of categories) {
        const place = { layer: layer.name, category: this.schema.categories[category]!, key }
        rows.push({ place, key: this.#beginnings[index]![category]! + kept })
      }
    }
    return rows
  }

  ids({ subject, category, id }: Omit<HoldRef, 'id'> & { readonly id?: ReservationId | undefined }): IdPlace[] {
    if (id === undefined) return []
    return [{ category: this.schema.categories[category]!, owner: idOwnerKey(this.schema, subject), id: id.id }]
  }
}

/**
 * A take that only charges windows, without an id or a hold. It can be made by adding to rows without reading them
 * first.
 */
export interface Charge {
  readonly rows: SchemaRows
  readonly refs: readonly RowRef[]
  readonly request: TakeRequest
}
