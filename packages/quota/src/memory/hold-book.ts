import type { EndedHold } from '../store/hold-port.ts'
import { refund } from '../windows/row.ts'
import { SLOTS } from '../windows/units.ts'
import { EndQueue } from './end-queue.ts'
import type { HoldFacts, IdRecord, IdRecords } from './id-records.ts'
import { NOWHERE } from './row-table.ts'
import type { Tables } from './tables.ts'

/** Most ended holds that are remembered until somebody asks. */
const MAX_ENDED = 1_000

/** The open holds of a store: by when they end, and by whose they are. */
export class HoldBook {
  readonly #tables: Tables
  readonly #ids: IdRecords
  /** May name a hold more than once, and settled ones: the record tells. */
  readonly #byEnd = new EndQueue()
  readonly #byOwner = new Map<string, Set<string>>()
  #ended: EndedHold[] = []
  #size = 0

  constructor(tables: Tables, ids: IdRecords) {
    this.#tables = tables
    this.#ids = ids
  }

  /** Open holds. */
  get size(): number {
    return this.#size
  }

  /** When the next of them may end, epoch milliseconds; `Infinity` without any. */
  get firstEndsAt(): number {
    return this.#byEnd.firstEndsAt
  }

  /** Keys of the open holds of an owner. */
  of(owner: string): ReadonlySet<string> {
    return this.#byOwner.get(owner) ?? NONE
  }

  /** Writes the record of a hold that is open: a new one, or one that has changed. */
  putOpen(key: string, record: IdRecord & { readonly hold: HoldFacts }): void {
    const { owner, endsAt } = record.hold
    this.#ids.put(key, record)
    this.#byEnd.push(endsAt, key)
    const keys = this.#byOwner.get(owner) ?? new Set()
    this.#byOwner.set(owner, keys)
    if (keys.has(key)) return
    keys.add(key)
    this.#size++
  }

  /**
   * Writes the record of a hold that was open: what it charged goes back by it, its slots are free.
   *
   * @param giveBack how much of a unit goes back at most; of slots all
   */
  close(
    key: string,
    { hold, ...record }: IdRecord & { readonly hold: HoldFacts },
    state: IdRecord['state'],
    now: number,
    giveBack: (unit: string) => number = EVERYTHING,
    answer?: HoldFacts['answer'],
  ): void {
    for (const { layer, key: subject, charged } of hold.rows) {
      const table = this.#tables.of(layer, hold.category)
      const place = table.placeOf(subject)
      if (place === NOWHERE) continue
      for (const [c, { unit }] of table.cells.entries()) {
        const [startedAt, taken] = [charged[2 * c], charged[2 * c + 1]]
        if (startedAt === undefined || taken === undefined) continue
        const isSlots = unit === SLOTS
        const back = isSlots ? taken : Math.min(taken, giveBack(unit))
        refund(table.pageOf(place), table.at(place) + 2 * c, startedAt, back, isSlots)
      }
    }
    this.#ids.put(key, { ...record, state, expiresAt: now + hold.ttlMs, hold: { ...hold, rows: [], answer } })
    this.#forget(key, hold.owner)
  }

  /** Settles every hold that has ended by now: exactly once, and whatever looks comes after it. */
  endDue(now: number): void {
    while (this.#byEnd.firstEndsAt <= now) {
      const key = this.#byEnd.pop()!
      const record = this.#ids.find(key, now)
      const hold = record?.hold
      if (record?.state !== 'reserved' || hold === undefined || hold.endsAt > now) continue
      const { category, owner, costs, endsAt } = hold
      this.close(key, { ...record, hold }, 'expired', now)
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
    while (this.#byEnd.pop() !== undefined);
    this.#byOwner.clear()
    this.#ended = []
    this.#size = 0
  }

  #forget(key: string, owner: string): void {
    const keys = this.#byOwner.get(owner)
    if (keys?.delete(key) !== true) return
    this.#size--
    if (keys.size === 0) this.#byOwner.delete(owner)
  }
}

const NONE: ReadonlySet<string> = new Set()
const EVERYTHING = (): number => Number.POSITIVE_INFINITY
