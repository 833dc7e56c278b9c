import { CLOSED, cellOfIdentity, GRACE_MS } from '@scoregw/quota/internal'
import type { NamedCell, NamedRecord, Scratch } from '@scoregw/quota/store'
import type { Key, RequestedRow } from './requested.ts'
import type { Layouts, RowLayout, StoredRow } from './row-layout.ts'

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
export function changedCounter(key: string, before: StoredRow | undefined, now: number): RowChange | undefined {
  const endsAt = now + COUNTER_KEPT_MS
  if (before !== undefined && (before.endsAt ?? 0) >= now + COUNTER_KEPT_MS / 2) return undefined
  return { key, layout: undefined, pairs: [], endsAt, isEndNew: true }
}

/** Compares rows in a scratch with the stored ones. */
export class RowChanges {
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

export function changedRecord(key: Key, before: string | undefined, record: NamedRecord): IdChange | undefined {
  const text = JSON.stringify(record)
  if (text === before) return undefined
  const { state, hold, expiresAt } = record
  const holdEndsAt = state === 'reserved' ? (hold?.endsAt ?? null) : null
  const endsAt = holdEndsAt === null ? expiresAt : null
  return { key, text, endsAt, holdEndsAt }
}
