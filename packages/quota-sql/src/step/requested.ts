import { type Layout, layerKey, layoutOf, ownerOf, usedLayers } from '@scoregw/quota/internal'
import {
  type HoldRef,
  type IdPlace,
  idPlaces,
  type ReservationId,
  type RowPlace,
  type RowRequest,
  type StoreSchema,
  type SubjectKeys,
  type TakeRequest,
} from '@scoregw/quota/store'
import { type Key, keptText, type Layouts, nameOf, type RowLayout } from './stored.ts'

/** A row, by names and as its key's column stores it. */
export interface RowRef {
  readonly place: RowPlace
  readonly key: string
  /** The layout of its cells; without it, the stored one is used. */
  readonly layout?: RowLayout | undefined
}

/** The rows and records that an operation reads, and may change. */
export interface Footprint {
  readonly rows?: readonly RowRef[] | undefined
  readonly ids?: readonly IdPlace[] | undefined
  /** Owners whose number of open holds must not change until the commit. */
  readonly countedOwners?: readonly string[] | undefined
  /** Owners whose open holds are read. */
  readonly shownOwners?: readonly string[] | undefined
  /** Whether holds of these owners that cannot be read are removed. */
  readonly repairs?: boolean | undefined
}

/** A row that operations request, and the layouts of those that know its cells. */
export interface RequestedRow extends Omit<RowRef, 'layout'> {
  readonly layouts: readonly RowLayout[]
}

/** The rows and records of all operations in a step, each once. */
export class Requested {
  readonly rows: Map<string, RequestedRow> = new Map()
  readonly ids: Map<string, { readonly place: IdPlace; readonly key: Key }> = new Map()
  readonly owners: Set<string> = new Set()
  repairs = false

  add({ rows = [], ids = [], countedOwners = [], shownOwners = [], repairs = false }: Footprint): void {
    this.repairs ||= repairs
    for (const row of rows) this.#addRow(row)
    for (const place of ids) {
      const key: Key = [place.by, keptText(place.owner), keptText(place.id)]
      this.ids.set(nameOf(key), { place, key })
    }
    for (const owner of countedOwners) this.#addRow(counterOf(owner))
    for (const owner of [...countedOwners, ...shownOwners]) this.owners.add(owner)
  }

  /** The keys of rows, in the order in which all processes lock them. */
  rowKeys(): readonly string[] {
    return inLockOrder(this.rows.values()).map(({ key }) => key)
  }

  /** The keys of records, also in one order. */
  idNames(): readonly string[] {
    return [...this.ids.keys()].sort()
  }

  #addRow({ place, key, layout }: RowRef): void {
    const known = this.rows.get(key)
    if (known !== undefined && (layout === undefined || known.layouts.includes(layout))) return
    this.rows.set(key, { place, key, layouts: [...(known?.layouts ?? []), ...(layout === undefined ? [] : [layout])] })
  }
}

/** Returns a row by its names. No layer's name has a colon. */
export function rowRef(place: RowPlace): RowRef {
  return { place, key: `${place.layer}:${keptText(place.key)}` }
}

/** The row that locks the number of an owner's open holds. Its layer has an empty name, so no counter uses it. */
function counterOf(owner: string): RowRef {
  return rowRef({ layer: '', key: owner })
}

/** Rows with their own key, then shared ones, which are locked for the shortest time. */
function inLockOrder<R extends Omit<RowRef, 'layout'>>(rows: Iterable<R>): R[] {
  const [own, shared]: [R[], R[]] = [[], []]
  for (const row of rows) (row.place.key === '' ? shared : own).push(row)
  return [...own.sort(byKey), ...shared.sort(byKey)]
}

function byKey(a: Pick<RowRef, 'key'>, b: Pick<RowRef, 'key'>): number {
  return a.key < b.key ? -1 : 1
}

// One schema's rows and records ---------------------------------------------------------------------------------------

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
