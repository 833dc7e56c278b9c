import { type Layout, layerKey, layoutOf, ownerOf, usedLayers } from '@scoregw/quota/internal'
import {
  type HoldRef,
  type IdPlace,
  idPlaces,
  type ReservationId,
  type RowRequest,
  type StoreSchema,
  type SubjectKeys,
  type TakeRequest,
} from '@scoregw/quota/store'
import { type RowRef, rowRef } from './requested.ts'
import type { Layouts, RowLayout } from './row-layout.ts'

/** The keys of one schema's rows and records. */
export class SchemaRows {
  readonly schema: StoreSchema
  readonly places: Layout
  /** By layer. */
  readonly layouts: readonly RowLayout[]
  /** Whether no two sets share a row, apart from the first set, which has everything. */
  readonly #isDisjoint: boolean

  constructor(schema: StoreSchema, layouts: Layouts) {
    this.schema = schema
    this.places = layoutOf(schema)
    this.layouts = this.places.rows.map(({ identities }) => layouts.of(identities))
    const used = schema.sets.slice(1).flatMap((_, index) => layersOf(this.places, index + 1))
    this.#isDisjoint = new Set(used).size === used.length
  }

  /** Returns the rows of some layers. */
  of(subject: SubjectKeys, layers: readonly number[]): RowRef[] {
    return layers.map((index) => {
      const layer = this.schema.layers[index]!
      return { ...rowRef({ layer: layer.name, key: layerKey(layer, subject) }), layout: this.layouts[index] }
    })
  }

  /** Returns the rows that a request uses. */
  used(request: RowRequest): RowRef[] {
    return this.of(request.subject, usedLayers(this.places, request))
  }

  /** Returns a text that is equal for takes that may share rows: see `Work.takesFrom`. */
  takesFrom(set: number): string {
    const [first] = set > 0 && this.#isDisjoint ? layersOf(this.places, set) : []
    return first === undefined ? '' : this.schema.layers[first]!.name
  }

  ids(request: Omit<HoldRef, 'id'> & { readonly id?: ReservationId | undefined }): IdPlace[] {
    return idPlaces(this.schema, request)
  }

  /** Returns the key of a subject's holds. */
  owner(subject: SubjectKeys): string {
    return ownerOf(this.schema, subject).key
  }

  /** Returns a take that only charges windows, as a charge. */
  chargeOf(request: TakeRequest, refs: readonly RowRef[]): Charge {
    return { rows: this, layers: usedLayers(this.places, request), refs, request }
  }
}

/** The layers in which a set counts. */
function layersOf({ counted }: Layout, set: number): number[] {
  return counted[set]!.flatMap((limits, layer) => (limits.length > 0 ? [layer] : []))
}

/** A take that only charges windows, without an id or a hold. One statement can make it. */
export interface Charge {
  readonly rows: SchemaRows
  /** The layers of its rows. */
  readonly layers: readonly number[]
  readonly refs: readonly RowRef[]
  readonly request: TakeRequest
}
