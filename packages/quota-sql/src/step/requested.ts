import type { IdPlace, RowPlace } from '@scoregw/quota/store'
import { keptText, textOf } from './names.ts'
import type { RowLayout } from './row-layout.ts'

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

/** The key of an id's record, as its three columns hold it. */
export type Key = readonly [string, string, string]

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

/** A key as one text. No column holds a NUL. */
export function nameOf([first, second, third]: Key): string {
  return `${first}\0${second}\0${third}`
}

export function placeOf([by, owner, id]: Key): IdPlace {
  return { by, owner: textOf(owner), id: textOf(id) }
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
