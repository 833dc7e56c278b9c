import type { EndedHold } from '../store/hold-port.ts'
import { refund } from '../windows/row.ts'
import { SLOTS } from '../windows/units.ts'
import type { HoldFacts, HoldRow, IdRecord, IdRecords } from './id-records.ts'
import { NOWHERE, type Tables } from './row-table.ts'

/** Most ended holds that are kept until the next sweep. */
const MAX_ENDED = 1_000

/** The record of a hold that is open. */
export type OpenRecord = IdRecord & { readonly hold: HoldFacts }

/** An open hold in the queue of ends. */
interface Ending {
  readonly key: string
  readonly owner: string
  endsAt: number
  /** Its place in the heap. */
  at: number
}

/** The open holds of a store: by when they end, and by whose they are. Settled ones are in neither. */
export class HoldBook {
  readonly #tables: Tables
  readonly #ids: IdRecords
  readonly #open = new Map<string, Ending>()
  /** The same by end, the earliest first: a binary heap. */
  readonly #heap: Ending[] = []
  readonly #byOwner = new Map<string, Set<string>>()
  #ended: EndedHold[] = []

  constructor(tables: Tables, ids: IdRecords) {
    this.#tables = tables
    this.#ids = ids
  }

  /** Open holds. */
  get size(): number {
    return this.#open.size
  }

  /** Keys of the open holds of an owner. */
  of(owner: string): ReadonlySet<string> {
    return this.#byOwner.get(owner) ?? NONE
  }

  /** Writes the record of a hold that is open: a new one, or one that has changed. */
  putOpen(key: string, record: OpenRecord): void {
    const { owner, endsAt } = record.hold
    this.#ids.put(key, record)
    const known = this.#open.get(key)
    if (known !== undefined) {
      known.endsAt = endsAt
      this.#settle(known)
      return
    }
    const ending: Ending = { key, owner, endsAt, at: this.#heap.length }
    this.#open.set(key, ending)
    this.#heap.push(ending)
    this.#settle(ending)
    const keys = this.#byOwner.get(owner)
    if (keys === undefined) this.#byOwner.set(owner, new Set([key]))
    else keys.add(key)
  }

  /**
   * Writes the record of a hold that was open: what it charged goes back by it, its slots are free.
   *
   * @param giveBack how much of a unit goes back at most; of slots all
   */
  close(
    key: string,
    { nonce, fingerprint, states, hold }: OpenRecord,
    state: IdRecord['state'],
    now: number,
    giveBack: (unit: string) => number = EVERYTHING,
    answer?: HoldFacts['answer'],
  ): void {
    const { category, owner, costs, takenAt, endsAt, ttlMs } = hold
    for (const row of hold.rows) this.#refundRow(category, row, giveBack)
    const settled: HoldFacts = { category, owner, costs, takenAt, endsAt, ttlMs, rows: NO_ROWS, answer }
    // Written out, member by member: copies by rest and spread have a shape of their own each, which is kept with them.
    this.#ids.put(key, { state, nonce, fingerprint, states, expiresAt: now + ttlMs, hold: settled })
    this.#forget(key)
  }

  /** Settles every hold that has ended by now: exactly once, before anything else is read. */
  endDue(now: number): void {
    for (let first = this.#heap[0]; first !== undefined && first.endsAt <= now; first = this.#heap[0]) {
      const record = this.#ids.find(first.key, now) as OpenRecord
      const { category, owner, costs, endsAt } = record.hold
      this.close(first.key, record, 'expired', now)
      if (this.#ended.length < MAX_ENDED) {
        this.#ended.push({ category, owner, fingerprint: record.fingerprint, costs, endsAt })
      }
    }
  }

  /** What ended since the last call. */
  drain(): readonly EndedHold[] {
    const ended = this.#ended
    this.#ended = []
    return ended
  }

  /** Forgets every hold, as if there had been none. */
  clear(): void {
    this.#open.clear()
    this.#heap.length = 0
    this.#byOwner.clear()
    this.#ended = []
  }

  #refundRow(category: string, { layer, key, charged }: HoldRow, giveBack: (unit: string) => number): void {
    const table = this.#tables.of(layer, category)
    const place = table.placeOf(key)
    if (place === NOWHERE) return
    const cells = table.pageOf(place)
    const at = table.at(place)
    for (let c = 0; 2 * c < charged.length; c++) {
      const taken = charged[2 * c + 1]!
      if (taken === 0) continue
      const { unit } = table.cells[c]!
      const isSlots = unit === SLOTS
      refund(cells, at + 2 * c, charged[2 * c]!, isSlots ? taken : Math.min(taken, giveBack(unit)), isSlots)
    }
  }

  #forget(key: string): void {
    const ending = this.#open.get(key)
    if (ending === undefined) return
    this.#open.delete(key)
    const last = this.#heap.pop()!
    if (last !== ending) {
      last.at = ending.at
      this.#heap[last.at] = last
      this.#settle(last)
    }
    const keys = this.#byOwner.get(ending.owner)!
    keys.delete(key)
    if (keys.size === 0) this.#byOwner.delete(ending.owner)
  }

  /** Moves an entry of the heap to where it belongs. */
  #settle(ending: Ending): void {
    const heap = this.#heap
    const swap = (a: Ending, b: Ending): void => {
      ;[a.at, b.at] = [b.at, a.at]
      heap[a.at] = a
      heap[b.at] = b
    }
    while (ending.at > 0) {
      const parent = heap[(ending.at - 1) >> 1]!
      if (parent.endsAt <= ending.endsAt) break
      swap(parent, ending)
    }
    for (;;) {
      const left = heap[2 * ending.at + 1]
      const right = heap[2 * ending.at + 2]
      const child = right !== undefined && right.endsAt < left!.endsAt ? right : left
      if (child === undefined || ending.endsAt <= child.endsAt) return
      swap(ending, child)
    }
  }
}

const NONE: ReadonlySet<string> = new Set()
const NO_ROWS: readonly HoldRow[] = []
const EVERYTHING = (): number => Number.POSITIVE_INFINITY
