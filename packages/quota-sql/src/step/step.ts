import { QuotaError } from '@scoregw/quota'
import type {
  EndedHold,
  IdPlace,
  NamedCell,
  NamedRecord,
  RowPlace,
  Scratch,
  StoreSchema,
  SyncCounters,
} from '@scoregw/quota/store'
import { GRACE_MS } from '@scoregw/quota/store'
import { type Changes, changedCounter, changedRecord, type IdChange, type RowChange, RowChanges } from './changes.ts'
import { keptText } from './names.ts'
import {
  type Footprint,
  type Key,
  nameOf,
  placeOf,
  type Requested,
  type RequestedRow,
  type RowRef,
  rowRef,
} from './requested.ts'
import type { Layouts, StoredRow } from './row-layout.ts'
import { readable, recordOf, type StoredHold } from './stored.ts'

/** What a database has of what was requested, locked but for {@link holds}. */
export interface Stored {
  /** The instant of the step, epoch milliseconds: read when everything was locked. */
  readonly now: number
  /** Of the settings in force, `''`: none. */
  readonly revision: string
  /** The rows that there are, by their keys. */
  readonly rows: ReadonlyMap<string, StoredRow>
  /** Records of the ids that there are, by {@link nameOf} their keys. */
  readonly ids: ReadonlyMap<string, string>
  /** Open holds of the owners requested. */
  readonly holds: readonly StoredHold[]
}

/** What steps are made with. */
export interface StepDeps {
  /** Where decisions are made, each step without a pause. */
  readonly scratch: Scratch
  readonly layouts: Layouts
}

/** Decisions at one instant on the rows locked in one transaction. */
export class Step {
  readonly now: number
  readonly revision: string
  readonly #requested: Requested
  readonly #stored: Stored
  readonly #scratch: Scratch
  readonly #layouts: Layouts
  /** Rows that cannot be read. */
  readonly #damaged = new Set<string>()
  /** Cells of limits that this version does not know. */
  readonly #unknown = new Map<string, readonly NamedCell[]>()
  /** Why records that nobody can read cannot. */
  readonly #broken = new Map<string, unknown>()
  /** Those of them that no sweep is to meet again. */
  readonly #aside = new Set<string>()

  /** @param parts whose scratch is this step's until the next one begins */
  constructor(requested: Requested, stored: Stored, { scratch, layouts }: StepDeps) {
    this.#requested = requested
    this.#stored = stored
    this.now = stored.now
    this.revision = stored.revision
    this.#scratch = scratch
    this.#layouts = layouts
  }

  /**
   * What else has to be locked: what the holds at hand are charged to, and holds that have ended meanwhile, which are settled
   * first. `undefined`: nothing.
   */
  missing(): Footprint | undefined {
    const rows: RowRef[] = []
    const ids: IdPlace[] = []
    const need = ({ state, hold }: Partial<NamedRecord>): void => {
      if (state !== 'reserved' || hold === undefined) return
      const refs = hold.rows.map(({ layer, key }) => rowRef({ layer, category: hold.category, key }))
      rows.push(...refs.filter(({ key }) => !this.#requested.rows.has(key)))
    }
    for (const text of this.#stored.ids.values()) need(readable(text))
    for (const { key, record } of this.#stored.holds) {
      const { hold, ...rest } = readable(record)
      if (hold === undefined && this.#requested.repairs && !this.#requested.ids.has(nameOf(key))) ids.push(placeOf(key))
      if (hold === undefined || hold.endsAt > this.now) continue
      if (!this.#requested.ids.has(nameOf(key))) ids.push(placeOf(key))
      need({ ...rest, hold })
    }
    return rows.length + ids.length === 0 ? undefined : { rows, ids }
  }

  /** The counters of a schema, on the locked rows. */
  counters(schema: StoreSchema): SyncCounters {
    return this.#scratch.open(schema)
  }

  /** Puts everything that is locked where the counters find it, and settles the holds that have ended by now. */
  load(): void {
    this.#scratch.begin(this.now)
    for (const [key, { place }] of this.#requested.rows) {
      const row = this.#stored.rows.get(key)
      if (row !== undefined && place.layer !== '') this.#putRow(key, place, row)
    }
    for (const [name, { place }] of this.#requested.ids) {
      const text = this.#stored.ids.get(name)
      if (text !== undefined) this.#putRecord(name, place, text)
    }
    for (const { key, record } of this.#stored.holds) {
      const name = nameOf(key)
      const isOver = (readable(record).hold?.endsAt ?? 0) <= this.now
      // One that has ended and is not locked is left to others; nobody counts or shows it.
      if (!isOver && !this.#requested.ids.has(name)) this.#putRecord(name, placeOf(key), record)
    }
    this.#scratch.endDue()
  }

  /** Whether there is a live record of an id. */
  hasRecord(place: IdPlace): boolean {
    const record = this.#scratch.record(place)
    return record !== undefined && this.now < record.expiresAt
  }

  /** @throws {QuotaError} `damaged_row` where a row or record of these cannot be read */
  check({ rows = [], ids = [] }: Footprint): void {
    if (this.#broken.size > 0) {
      for (const { category, owner, id } of ids) {
        const broken = this.#broken.get(idName({ category, owner, id }))
        if (broken !== undefined) throw broken
      }
    }
    if (this.#damaged.size === 0) return
    for (const { place, key } of rows) {
      if (!this.#damaged.has(key)) continue
      const which = `${JSON.stringify(place.category)} of layer ${JSON.stringify(place.layer)}`
      throw new QuotaError('damaged_row', `the row of ${which} cannot be read; a reset of the subject repairs it`)
    }
  }

  /** Makes rows that cannot be read ones whose windows were closed at this instant. */
  mend({ rows = [] }: Footprint, { cells }: StoreSchema): void {
    for (const { place, key } of rows) {
      if (!this.#damaged.delete(key)) continue
      const closed = cells.map(({ identity }): NamedCell => [identity, this.now, -1])
      this.#scratch.putRow(place, closed)
    }
  }

  /** Sets records aside that cannot be read, so that no sweep meets them again. @returns whether there were such */
  setAside(ids: readonly IdPlace[]): boolean {
    const names = ids.map(idName).filter((name) => this.#broken.has(name))
    for (const name of names) this.#aside.add(name)
    return names.length > 0
  }

  /** Makes records of these ids, and of open holds of these owners, that cannot be read ones of cancelled holds. */
  repairRecords({ ids = [], shownOwners = [] }: Footprint): void {
    const names = new Set(ids.map(idName))
    const owners = shownOwners.map(keptText)
    for (const [name, { place, key }] of this.#requested.ids) {
      const isRequested = names.has(name) || owners.includes(key[1])
      if (!isRequested || !this.#broken.delete(name)) continue
      const expiresAt = this.now + GRACE_MS
      this.#scratch.putRecord(place, { state: 'cancelled', nonce: '', fingerprint: '', states: [], expiresAt })
    }
  }

  /** What has to be written. */
  changes(): Changes {
    const all = { rows: [] as RowChange[], ids: [] as IdChange[], spareRows: [] as string[], spareIds: [] as Key[] }
    const { rows, ids } = this.#stored
    const changes = new RowChanges(this.#layouts, this.#scratch, this.now)
    const changeOf = (key: string, row: RequestedRow): RowChange | undefined =>
      row.place.layer === ''
        ? changedCounter(key, rows.get(key), this.now)
        : changes.of(row, rows.get(key), this.#unknown.get(key) ?? [])
    for (const [key, row] of this.#requested.rows) {
      const change = this.#damaged.has(key) ? undefined : changeOf(key, row)
      if (change !== undefined) all.rows.push(change)
      else if (!rows.has(key)) all.spareRows.push(key)
    }
    for (const [name, { place, key }] of this.#requested.ids) {
      const change = this.#recordChange(name, place, key)
      if (change !== undefined) all.ids.push(change)
      else if (!ids.has(name)) all.spareIds.push(key)
    }
    return all
  }

  #recordChange(name: string, place: IdPlace, key: Key): IdChange | undefined {
    const text = this.#stored.ids.get(name)
    if (this.#aside.has(name)) return { key, text: text!, endsAt: null, holdEndsAt: Number.MAX_SAFE_INTEGER }
    const record = this.#broken.has(name) ? undefined : this.#scratch.record(place)
    return record && changedRecord(key, text, record)
  }

  /** Holds that ended in this step. To be asked before the next one begins. */
  ended(): readonly EndedHold[] {
    return this.#scratch.drain()
  }

  #putRow(key: string, place: RowPlace, { layout, pairs }: StoredRow): void {
    if (layout === undefined || pairs === undefined) {
      this.#damaged.add(key)
      return
    }
    if (layout.isKnown) {
      this.#scratch.putPairs(place, layout.identities, pairs)
      return
    }
    const named = layout.identities.map((identity, c): NamedCell => [identity, pairs[2 * c]!, pairs[2 * c + 1]!])
    this.#unknown.set(
      key,
      named.filter((_, c) => layout.cells[c] === undefined),
    )
    this.#scratch.putRow(place, named)
  }

  #putRecord(name: string, place: IdPlace, text: string): void {
    try {
      this.#scratch.putRecord(place, recordOf(text))
    } catch (error) {
      this.#broken.set(name, error)
    }
  }
}

function idName({ category, owner, id }: IdPlace): string {
  return nameOf([category, keptText(owner), keptText(id)])
}
