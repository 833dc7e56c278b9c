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
import { type Asked, type Footprint, type Key, nameOf } from './asked.ts'
import { type Change, type Changes, changedCounter, changedRecord, changedRow } from './changes.ts'
import { keptText, textOf } from './names.ts'
import { isKnown, recordOf, type StoredRow } from './stored.ts'

/** What a database has of what was asked for, locked but for {@link holds}. */
export interface Stored {
  /** The instant of the step, epoch milliseconds: read when everything was locked. */
  readonly now: number
  /** Of the settings in force, `''`: none. */
  readonly revision: string
  /** The rows that there are, by {@link nameOf} their keys. */
  readonly rows: ReadonlyMap<string, StoredRow>
  /** Records of the ids that there are, by {@link nameOf} their keys. */
  readonly ids: ReadonlyMap<string, string>
  /** Open holds of the owners asked for. */
  readonly holds: readonly { readonly key: Key; readonly record: string }[]
}

/** Decisions at one instant on what is locked in one transaction. */
export class Step {
  readonly now: number
  readonly revision: string
  readonly #asked: Asked
  readonly #stored: Stored
  readonly #scratch: Scratch
  /** Rows that nobody can read. */
  readonly #damaged = new Set<string>()
  /** Cells of limits that this version does not know. */
  readonly #unknown = new Map<string, readonly NamedCell[]>()
  /** Why records that nobody can read cannot. */
  readonly #broken = new Map<string, unknown>()

  /** @param scratch is this step's until the next one begins */
  constructor(asked: Asked, stored: Stored, scratch: Scratch) {
    this.#asked = asked
    this.#stored = stored
    this.now = stored.now
    this.revision = stored.revision
    this.#scratch = scratch
  }

  /**
   * What else has to be locked: what the holds at hand are charged to, and holds that have ended meanwhile, which are settled
   * first. `undefined`: nothing.
   */
  missing(): Footprint | undefined {
    const rows: RowPlace[] = []
    const ids: IdPlace[] = []
    const need = ({ state, hold }: Partial<NamedRecord>): void => {
      if (state !== 'reserved' || hold === undefined) return
      const places = hold.rows.map(({ layer, key }) => ({ layer, category: hold.category, key }))
      rows.push(...places.filter((place) => !this.#asked.rows.has(rowName(place))))
    }
    for (const text of this.#stored.ids.values()) need(readable(text))
    for (const { key, record } of this.#stored.holds) {
      const { hold, ...rest } = readable(record)
      if (hold === undefined || hold.endsAt > this.now) continue
      if (!this.#asked.ids.has(nameOf(key))) ids.push(placeOf(key))
      need({ ...rest, hold })
    }
    return rows.length + ids.length === 0 ? undefined : { rows, ids }
  }

  /** The counters of a schema, on what is locked. */
  counters(schema: StoreSchema): SyncCounters {
    return this.#scratch.open(schema)
  }

  /** Puts everything that is locked where the counters find it, and settles the holds that have ended by now. */
  load(): void {
    this.#scratch.begin(this.now)
    for (const [name, { place }] of this.#asked.rows) {
      const row = this.#stored.rows.get(name)
      if (row !== undefined && place.layer !== '') this.#putRow(name, place, row)
    }
    for (const [name, { place }] of this.#asked.ids) {
      const text = this.#stored.ids.get(name)
      if (text !== undefined) this.#putRecord(name, place, text)
    }
    for (const { key, record } of this.#stored.holds) {
      const name = nameOf(key)
      const isOver = (readable(record).hold?.endsAt ?? 0) <= this.now
      // One that has ended and is not locked is left to others; nobody counts or shows it.
      if (!isOver && !this.#asked.ids.has(name)) this.#putRecord(name, placeOf(key), record)
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
        const broken = this.#broken.get(nameOf([category, keptText(owner), keptText(id)]))
        if (broken !== undefined) throw broken
      }
    }
    if (this.#damaged.size === 0) return
    for (const place of rows) {
      if (!this.#damaged.has(rowName(place))) continue
      const which = `${JSON.stringify(place.category)} of layer ${JSON.stringify(place.layer)}`
      throw new QuotaError('damaged_row', `the row of ${which} cannot be read; a reset of the subject mends it`)
    }
  }

  /** Makes rows that cannot be read ones whose windows were closed at this instant. */
  mend({ rows = [] }: Footprint, { cells }: StoreSchema): void {
    for (const place of rows) {
      const name = rowName(place)
      if (!this.#damaged.delete(name)) continue
      const closed = cells.map(({ identity }): NamedCell => [identity, this.now, -1])
      this.#scratch.putRow(place, closed)
    }
  }

  /** What has to be written. */
  changes(): Changes {
    const [rows, ids]: [Change[], Change[]] = [[], []]
    for (const [name, { place, key }] of this.#asked.rows) {
      if (this.#damaged.has(name)) continue
      const before = this.#stored.rows.get(name)?.text
      const change =
        place.layer === ''
          ? changedCounter(key, before, this.now)
          : changedRow({ key, place, before, unknown: this.#unknown.get(name) ?? [] }, this.#scratch)
      if (change !== undefined) rows.push(change)
    }
    for (const [name, { place, key }] of this.#asked.ids) {
      const record = this.#broken.has(name) ? undefined : this.#scratch.record(place)
      const change = record && changedRecord(key, this.#stored.ids.get(name), record)
      if (change !== undefined) ids.push(change)
    }
    return { rows, ids }
  }

  /**
   * What was not there and is not made by the changes: it has to be still not there when everything else is locked, or what
   * was decided is of two different times.
   */
  absent({ rows, ids }: Changes): { readonly rows: readonly Key[]; readonly ids: readonly Key[] } {
    return {
      rows: absentOf(this.#asked.rows, this.#stored.rows, rows),
      ids: absentOf(this.#asked.ids, this.#stored.ids, ids),
    }
  }

  /** Holds that ended in this step. To be asked before the next one begins. */
  ended(): readonly EndedHold[] {
    return this.#scratch.drain()
  }

  #putRow(name: string, place: RowPlace, { cells }: StoredRow): void {
    if (cells === undefined) {
      this.#damaged.add(name)
      return
    }
    if (!cells.every(isKnown)) {
      this.#unknown.set(
        name,
        cells.filter((cell) => !isKnown(cell)),
      )
    }
    this.#scratch.putRow(place, cells)
  }

  #putRecord(name: string, place: IdPlace, text: string): void {
    try {
      this.#scratch.putRecord(place, recordOf(text))
    } catch (error) {
      this.#broken.set(name, error)
    }
  }
}

function absentOf(
  asked: ReadonlyMap<string, { readonly key: Key }>,
  stored: ReadonlyMap<string, unknown>,
  changes: readonly Change[],
): readonly Key[] {
  if (stored.size === asked.size) return []
  const made = new Set(changes.map(({ name }) => name))
  return [...asked].flatMap(([name, { key }]) => (stored.has(name) || made.has(name) ? [] : [key]))
}

/** A record, or nothing of one that cannot be read. */
function readable(text: string): Partial<NamedRecord> {
  try {
    return recordOf(text)
  } catch {
    return {}
  }
}

function rowName({ layer, category, key }: RowPlace): string {
  return nameOf([layer, category, keptText(key)])
}

function placeOf([category, owner, id]: Key): IdPlace {
  return { category, owner: textOf(owner), id: textOf(id) }
}
