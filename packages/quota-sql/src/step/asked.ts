import type { IdPlace, RowPlace } from '@scoregw/quota/store'
import { keptText } from './names.ts'

/** What an operation has to see, and may change. */
export interface Footprint {
  readonly rows?: readonly RowPlace[] | undefined
  readonly ids?: readonly IdPlace[] | undefined
  /** Owners of whose open holds the number must not change meanwhile. */
  readonly countedOwners?: readonly string[] | undefined
  /** Owners whose open holds are looked at. */
  readonly shownOwners?: readonly string[] | undefined
}

/** A place as the three columns of its key hold it. */
export type Key = readonly [string, string, string]

/** Everything that the operations of a step have to see, each once. */
export class Asked {
  readonly rows: Map<string, { readonly place: RowPlace; readonly key: Key }> = new Map()
  readonly ids: Map<string, { readonly place: IdPlace; readonly key: Key }> = new Map()
  readonly owners: Set<string> = new Set()

  add({ rows = [], ids = [], countedOwners = [], shownOwners = [] }: Footprint): void {
    for (const place of rows) this.#addRow(place)
    for (const place of ids) {
      const key: Key = [place.category, keptText(place.owner), keptText(place.id)]
      this.ids.set(nameOf(key), { place, key })
    }
    for (const owner of countedOwners) this.#addRow(counterOf(owner))
    for (const owner of [...countedOwners, ...shownOwners]) this.owners.add(owner)
  }

  /**
   * The names of rows in the one order in which all processes lock them: what everybody shares comes last, so that it is held
   * shortest.
   */
  rowNames(): readonly string[] {
    return inOrder(this.rows)
  }

  /** In the one order as well. */
  idNames(): readonly string[] {
    return inOrder(this.ids)
  }

  #addRow(place: RowPlace): void {
    const key: Key = [place.layer, place.category, keptText(place.key)]
    this.rows.set(nameOf(key), { place, key })
  }
}

/** The row whose lock keeps the number of an owner's open holds: no layer has an empty name, so that it counts nothing. */
function counterOf(owner: string): RowPlace {
  return { layer: '', category: '', key: owner }
}

/** A key as one text. No column holds a NUL. */
export function nameOf([first, second, third]: Key): string {
  return `${first}\0${second}\0${third}`
}

function inOrder(all: ReadonlyMap<string, { readonly key: Key }>): readonly string[] {
  const [own, shared]: [string[], string[]] = [[], []]
  for (const [name, { key }] of all) (key[2] === '' ? shared : own).push(name)
  return [...own.sort(), ...shared.sort()]
}
