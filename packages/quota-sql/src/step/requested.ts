import type { IdPlace, RowPlace } from '@scoregw/quota/store'
import { keptText, textOf } from './names.ts'
import type { RowLayout } from './row-layout.ts'

/** Which row: by names, and as the column of its key has it. */
export interface RowRef {
  readonly place: RowPlace
  readonly key: string
}

/** What an operation reads, and may change. */
export interface Footprint {
  readonly rows?: readonly RowRef[] | undefined
  /** The cells that it knows of these rows; absent: it uses the stored ones. */
  readonly layout?: RowLayout | undefined
  readonly ids?: readonly IdPlace[] | undefined
  /** Owners of whose open holds the number must not change meanwhile. */
  readonly countedOwners?: readonly string[] | undefined
  /** Owners whose open holds are read. */
  readonly shownOwners?: readonly string[] | undefined
  /** Whether holds of these owners that cannot be read are removed. */
  readonly repairs?: boolean | undefined
}

/** The key of an id's record, as its three columns hold it. */
export type Key = readonly [string, string, string]

/** A row that some operations ask for, and the layouts of those that know its cells. */
export interface RequestedRow extends RowRef {
  readonly layouts: readonly RowLayout[]
}

/** Everything that the operations of a step read, each once. */
export class Requested {
  readonly rows: Map<string, RequestedRow> = new Map()
  readonly ids: Map<string, { readonly place: IdPlace; readonly key: Key }> = new Map()
  readonly owners: Set<string> = new Set()
  repairs = false

  add({ rows = [], layout, ids = [], countedOwners = [], shownOwners = [], repairs = false }: Footprint): void {
    this.repairs ||= repairs
    for (const row of rows) this.#addRow(row, layout)
    for (const place of ids) {
      const key: Key = [place.category, keptText(place.owner), keptText(place.id)]
      this.ids.set(nameOf(key), { place, key })
    }
    for (const owner of countedOwners) this.#addRow(counterOf(owner), undefined)
    for (const owner of [...countedOwners, ...shownOwners]) this.owners.add(owner)
  }

  /** The keys of rows in the one order in which all processes lock them. */
  rowKeys(): readonly string[] {
    return inLockOrder(this.rows.values()).map(({ key }) => key)
  }

  /** In one order as well. */
  idNames(): readonly string[] {
    return [...this.ids.keys()].sort()
  }

  #addRow({ place, key }: RowRef, layout: RowLayout | undefined): void {
    const known = this.rows.get(key)
    if (known !== undefined && (layout === undefined || known.layouts.includes(layout))) return
    this.rows.set(key, { place, key, layouts: [...(known?.layouts ?? []), ...(layout === undefined ? [] : [layout])] })
  }
}

/** No name has a slash. */
export function rowRef(place: RowPlace): RowRef {
  return { place, key: `${place.layer}/${place.category}/${keptText(place.key)}` }
}

/** The row whose lock keeps the number of an owner's open holds: no layer has an empty name, so that it counts nothing. */
function counterOf(owner: string): RowRef {
  return rowRef({ layer: '', category: '', key: owner })
}

/** A key as one text. No column holds a NUL. */
export function nameOf([first, second, third]: Key): string {
  return `${first}\0${second}\0${third}`
}

export function placeOf([category, owner, id]: Key): IdPlace {
  return { category, owner: textOf(owner), id: textOf(id) }
}

/** Own rows by their keys, then shared ones, which so are held shortest. */
function inLockOrder<R extends RowRef>(rows: Iterable<R>): R[] {
  const [own, shared]: [R[], R[]] = [[], []]
  for (const row of rows) (row.place.key === '' ? shared : own).push(row)
  return [...own.sort(byKey), ...shared.sort(byKey)]
}

function byKey(a: RowRef, b: RowRef): number {
  return a.key < b.key ? -1 : 1
}
