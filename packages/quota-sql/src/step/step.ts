import { QuotaError } from '@scoregw/quota'
import { CLOSED, cellOfIdentity, GRACE_MS } from '@scoregw/quota/internal'
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
import { type Footprint, type Requested, type RequestedRow, type RowRef, rowRef } from './requested.ts'
import {
  type Key,
  keptText,
  type Layouts,
  nameOf,
  placeOf,
  type RowLayout,
  readable,
  recordOf,
  type StoredHold,
  type StoredRow,
} from './stored.ts'

/** The stored rows and records of a step, all locked except {@link holds}. */
export interface Stored {
  /** The step's instant, epoch milliseconds, read after everything was locked. */
  readonly now: number
  /** The revision of the settings in force; `''` for none. */
  readonly revision: string
  /** The existing rows, by key. */
  readonly rows: ReadonlyMap<string, StoredRow>
  /** The existing records of ids, by {@link nameOf} of their keys. */
  readonly ids: ReadonlyMap<string, string>
  /** Open holds of the owners requested. */
  readonly holds: readonly StoredHold[]
}

/** The dependencies of a step. */
export interface StepDeps {
  /** The memory that decisions are made in, one step at a time. */
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
  /** Unreadable records, with the reason. */
  readonly #broken = new Map<string, unknown>()
  /** Unreadable records that later sweeps must skip. */
  readonly #aside = new Set<string>()

  /** @param parts the scratch belongs to this step until the next one begins */
  constructor(requested: Requested, stored: Stored, { scratch, layouts }: StepDeps) {
    this.#requested = requested
    this.#stored = stored
    this.now = stored.now
    this.revision = stored.revision
    this.#scratch = scratch
    this.#layouts = layouts
  }

  /**
   * Further rows and records to lock: the rows that holds are charged to, and expired holds, which are settled first.
   * `undefined` if there are none.
   */
  missing(): Footprint | undefined {
    const rows: RowRef[] = []
    const ids: IdPlace[] = []
    const need = ({ state, hold }: Partial<NamedRecord>): void => {
      if (state !== 'reserved' || hold === undefined) return
      const refs = hold.rows.map(rowRef)
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

  /** Copies everything that is locked to the scratch, and settles holds that have expired by now. */
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
      // An expired hold that is not locked is left to others. No count and no list includes it.
      if (!isOver && !this.#requested.ids.has(name)) this.#putRecord(name, placeOf(key), record)
    }
    this.#scratch.endDue()
  }

  /** Whether an id has a live record. */
  hasRecord(place: IdPlace): boolean {
    const record = this.#scratch.record(place)
    return record !== undefined && this.now < record.expiresAt
  }

  /** @throws {QuotaError} `damaged_row` if one of these rows or records cannot be read */
  check({ rows = [], ids = [] }: Footprint): void {
    if (this.#broken.size > 0) {
      for (const place of ids) {
        const broken = this.#broken.get(idName(place))
        if (broken !== undefined) throw broken
      }
    }
    if (this.#damaged.size === 0) return
    for (const { place, key } of rows) {
      if (!this.#damaged.has(key)) continue
      throw new QuotaError(
        'damaged_row',
        `the row of layer ${JSON.stringify(place.layer)} cannot be read; a reset of the subject repairs it`,
      )
    }
  }

  /** Replaces rows that cannot be read with rows whose windows were closed at this instant. */
  repairRows({ rows = [] }: Footprint): void {
    for (const { place, key, layout } of rows) {
      if (!this.#damaged.delete(key)) continue
      const closed = (layout?.identities ?? []).map((identity): NamedCell => [identity, this.now, -1])
      this.#scratch.putRow(place, closed)
    }
  }

  /** Sets unreadable records aside, so that later sweeps skip them. @returns whether there were any */
  setAside(ids: readonly IdPlace[]): boolean {
    const names = ids.map(idName).filter((name) => this.#broken.has(name))
    for (const name of names) this.#aside.add(name)
    return names.length > 0
  }

  /** Replaces unreadable records of these ids, and of these owners' open holds, with records of cancelled holds. */
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

  /** The changes to write. */
  changes(): Changes {
    const all = { rows: [] as RowChange[], ids: [] as IdChange[], spareRows: [] as string[], spareIds: [] as Key[] }
    const { rows, ids } = this.#stored
    const changes = new RowChanges(this.#layouts, this.#scratch, this.now)
    const changeOf = (key: string, row: RequestedRow): RowChange | undefined =>
      row.place.layer === '' ? changedCounter(key, rows.get(key), this.now) : changes.of(row, rows.get(key))
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

  /** Holds that ended in this step. Read it before the next step begins. */
  ended(): readonly EndedHold[] {
    return this.#scratch.drain()
  }

  #putRow(key: string, place: RowPlace, { layout, pairs }: StoredRow): void {
    if (layout === undefined || pairs === undefined) {
      this.#damaged.add(key)
      return
    }
    this.#scratch.putPairs(place, layout.identities, pairs)
  }

  #putRecord(name: string, place: IdPlace, text: string): void {
    try {
      this.#scratch.putRecord(place, recordOf(text))
    } catch (error) {
      this.#broken.set(name, error)
    }
  }
}

function idName({ by, owner, id }: IdPlace): string {
  return nameOf([by, keptText(owner), keptText(id)])
}

// What is written -----------------------------------------------------------------------------------------------------

/** A row to be written. */
export interface RowChange {
  readonly key: string
  /** `undefined` for the row that locks the number of an owner's holds. It has no cells. */
  readonly layout: RowLayout | undefined
  readonly pairs: readonly number[]
  /** When it may be deleted, epoch milliseconds; `null` for not before the next write. */
  readonly endsAt: number | null
  /** Whether `endsAt` has changed. */
  readonly isEndNew: boolean
}

/** A record to be written. */
export interface IdChange {
  readonly key: Key
  readonly text: string
  /** When it may be deleted, epoch milliseconds; `null` while its hold is open. */
  readonly endsAt: number | null
  /** When its open hold ends. */
  readonly holdEndsAt: number | null
}

export interface Changes {
  readonly rows: readonly RowChange[]
  readonly ids: readonly IdChange[]
  /** Keys of rows that were inserted for their lock and aren't needed. */
  readonly spareRows: readonly string[]
  readonly spareIds: readonly Key[]
}

/** How long the row that locks an owner's number of holds is kept, in milliseconds. It is needed again and again. */
const COUNTER_KEPT_MS = 600_000

/** The change of the row that locks an owner's number of holds. It only has to exist, and is seldom written. */
function changedCounter(key: string, before: StoredRow | undefined, now: number): RowChange | undefined {
  const endsAt = now + COUNTER_KEPT_MS
  if (before !== undefined && (before.endsAt ?? 0) >= now + COUNTER_KEPT_MS / 2) return undefined
  return { key, layout: undefined, pairs: [], endsAt, isEndNew: true }
}

/** Compares rows in a scratch with the stored ones. */
class RowChanges {
  readonly #layouts: Layouts
  readonly #scratch: Scratch
  readonly #now: number

  constructor(layouts: Layouts, scratch: Scratch, now: number) {
    this.#layouts = layouts
    this.#scratch = scratch
    this.#now = now
  }

  of(row: RequestedRow, before: StoredRow | undefined): RowChange | undefined {
    const { place, key, layouts } = row
    const layout = before === undefined ? layouts[0] : before.layout
    const isPlain = layout !== undefined && layouts.every((each) => each === layout)
    const made = isPlain ? this.#plain(row, layout) : this.#mixed(row, before)
    if (made === undefined) return undefined
    if (before === undefined ? made.pairs.every((number) => number === CLOSED) : isSame(made, before)) return undefined
    const lastEnd = this.#scratch.rowEndsAt(place)
    const endsAt = Number.isFinite(lastEnd) ? lastEnd : null
    return { key, ...made, endsAt, isEndNew: endsAt !== before?.endsAt }
  }

  /** A row with the cells of one requested layout. */
  #plain({ place }: RequestedRow, layout: RowLayout): Pick<RowChange, 'layout' | 'pairs'> | undefined {
    const pairs = this.#scratch.pairs(place, layout.identities)
    return pairs && { layout, pairs }
  }

  /** A row with cells of several policies. Cells that no operation here requests are dropped when they have ended. */
  #mixed({ place, layouts }: RequestedRow, before: StoredRow | undefined) {
    const known = this.#scratch.row(place)
    if (known === undefined) return undefined
    const requested = new Set(layouts.flatMap(({ identities }) => identities))
    const kept = known.filter((cell) => hasOpened(cell) && (requested.has(cell[0]) || !this.#hasEnded(cell)))
    const named = new Map(kept.map(([identity, ...pair]) => [identity, pair]))
    const candidates = before?.layout === undefined ? layouts : [...layouts, before.layout]
    const covering = candidates.find(({ identities }) => kept.every(([identity]) => identities.includes(identity)))
    const layout = covering ?? this.#layouts.of([...named.keys()].sort())
    return { layout, pairs: layout.identities.flatMap((identity) => named.get(identity) ?? [CLOSED, CLOSED]) }
  }

  #hasEnded([identity, startedAt]: NamedCell): boolean {
    const lengthMs = cellOfIdentity(identity)?.lengthMs ?? Number.POSITIVE_INFINITY
    return startedAt + lengthMs + GRACE_MS <= this.#now
  }
}

function isSame({ layout, pairs }: Pick<RowChange, 'layout' | 'pairs'>, before: StoredRow): boolean {
  return layout === before.layout && pairs.every((number, at) => number === before.pairs?.[at])
}

function hasOpened([, startedAt, used]: NamedCell): boolean {
  return startedAt !== CLOSED || used !== CLOSED
}

function changedRecord(key: Key, before: string | undefined, record: NamedRecord): IdChange | undefined {
  const text = JSON.stringify(record)
  if (text === before) return undefined
  const { state, hold, expiresAt } = record
  const holdEndsAt = state === 'reserved' ? (hold?.endsAt ?? null) : null
  const endsAt = holdEndsAt === null ? expiresAt : null
  return { key, text, endsAt, holdEndsAt }
}
