import { QuotaError } from '../errors/quota-error.ts'
import { isToSettle, repeatedTake } from '../store/hold-rules.ts'
import type {
  ReadReply,
  ReadRequest,
  ResetRequest,
  SettleRequest,
  SyncCounters,
  TakeReply,
  TakeRequest,
} from '../store/quota-store.ts'
import { ownerOf, type ReservationId, type StoreSchema } from '../store/schema.ts'
import { instantOf } from '../time/clock.ts'
import { close, refund, startIn } from '../windows/row.ts'
import { idKey } from './id-records.ts'
import { MemoryHolds, type MemoryShared } from './memory-holds.ts'
import { RowDecisions } from './row-decisions.ts'

/** A decision removes a few ended entries once per this many decisions. */
const DECISIONS_PER_STEP = 8

/** The counters of one schema in a memory store. */
export class MemoryCounters implements SyncCounters {
  readonly holds: MemoryHolds
  readonly #shared: MemoryShared
  readonly #rows: RowDecisions
  #decisions = 0

  constructor(shared: MemoryShared, schema: StoreSchema) {
    this.#shared = shared
    this.#rows = new RowDecisions(schema, shared.tables, shared.maxSubjects)
    this.holds = new MemoryHolds(shared, this.#rows)
  }

  take(request: TakeRequest): TakeReply {
    const now = this.#now()
    const { id } = request
    const reply = id === undefined ? this.#rows.decide(request, now) : this.#takeOnce(request, id, now)
    this.#sweep(now)
    return reply
  }

  #takeOnce(request: TakeRequest, id: ReservationId, now: number): TakeReply {
    const { ids, maxIds } = this.#shared
    const key = idKey(ownerOf(this.#rows.schema, request.subject), id)
    const record = ids.find(key, now)
    if (record !== undefined) return repeatedTake(record, id, now)
    if (!ids.hasRoom(maxIds, now)) {
      throw new QuotaError('store_full', `the memory store holds ${maxIds} live ids (maxIds)`)
    }
    if (request.hold !== undefined) return this.holds.take(request, id, request.hold, key, now)
    const reply = this.#rows.decide(request, now)
    if (reply.outcome === 'admitted') ids.write(key, id, 'reserved', reply.states, now)
    return reply
  }

  read({ subject, set, layers, periods }: ReadRequest): ReadReply {
    const now = this.#now()
    const states = this.#rows.read({ subject, set, quotas: { layers, limits: [] }, periods }, now)
    return states === undefined ? { now, states: [], isStale: true } : { now, states }
  }

  settle(request: SettleRequest): void {
    const { states, refunds, id } = request
    const now = this.#now()
    if (id !== undefined && !this.#settleOnce(request, id, now)) return
    if (refunds.every((amount) => amount === 0)) return
    const limits = request.layers.flatMap((layer) => this.#rows.layout.countedIn(request.set, layer))
    this.#rows.change(request.subject, limits, (cells, i, at) => {
      const { kind, unit } = this.#rows.layout.cellAt(at)
      if (kind !== 'concurrency') refund(cells, i, startIn(states, 2 * at), refunds[unit] ?? 0, false)
    })
  }

  /** Marks an id as settled. @returns whether this nonce could settle it */
  #settleOnce({ subject, as }: SettleRequest, id: ReservationId, now: number): boolean {
    const { ids } = this.#shared
    const key = idKey(ownerOf(this.#rows.schema, subject), id)
    const record = ids.find(key, now)
    // A cancel has overtaken its reserve. Marks the id, so that the reserve can't charge when it arrives.
    if (record === undefined && as === 'cancelled') ids.write(key, id, 'cancelled', [], now)
    // `MemoryHolds` settles holds.
    if (!isToSettle(record, id)) return false
    // The use of the id stays that of the take.
    ids.write(key, { ...id, fingerprint: record.fingerprint }, as, record.states, now)
    return true
  }

  reset({ subject, limits }: ResetRequest): void {
    this.#now()
    this.#rows.change(subject, limits, (cells, i, at) => {
      if (this.#rows.layout.cellAt(at).kind !== 'concurrency') close(cells, i)
    })
  }

  /** Returns the time of a call. Settles everything that has ended before anything is checked. */
  #now(): number {
    const now = instantOf(this.#shared.clock)
    this.#shared.ids.endDue(now)
    return now
  }

  /**
   * Removes a few ended entries once per some decisions, whatever their outcome. It handles all tables, because tables
   * without calls have ended rows, too.
   */
  #sweep(now: number): void {
    this.#decisions++
    if (this.#decisions % DECISIONS_PER_STEP !== 0) return
    this.#shared.tables.step(now)
    this.#shared.ids.step(now)
  }
}
