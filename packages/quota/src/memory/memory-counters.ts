import { QuotaError } from '../errors/quota-error.ts'
import type {
  ExtendRequest,
  GrowRequest,
  HoldOptions,
  HoldRecord,
  HoldRef,
  HoldReply,
  ListHoldsReply,
  ListHoldsRequest,
  Settled,
  SettleHoldOutcome,
  SettleHoldReply,
  SettleHoldRequest,
  SweepReply,
  SyncHolds,
} from '../store/hold-port.ts'
import {
  answerToKeep,
  commitAnswer,
  extendedEnd,
  grownCharge,
  grownCosts,
  holdOutcome,
  isToSettle,
  planSettlement,
  repeatedTake,
  settledAmounts,
} from '../store/hold-rules.ts'
import type {
  ReadReply,
  ReadRequest,
  ResetRequest,
  SettleRequest,
  SyncCounters,
  TakeReply,
  TakeRequest,
} from '../store/quota-store.ts'
import { keyName, ownerOf, type ReservationId, type StoreSchema } from '../store/subjects.ts'
import { type Clock, instantOf } from '../time/clock.ts'
import { type Amounts, named } from '../windows/identity.ts'
import { close, NOT_OPEN, refund, startIn } from '../windows/row.ts'
import {
  type HoldFacts,
  type HoldRow,
  type IdRecord,
  type IdRecords,
  idKey,
  NEVER,
  type OpenRecord,
} from './id-records.ts'
import { RowDecisions, type RowRequest } from './row-decisions.ts'
import type { Tables } from './row-table.ts'

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
    const now = begun(this.#shared)
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
    const now = begun(this.#shared)
    const states = this.#rows.read({ subject, set, quotas: { layers, limits: [] }, periods }, now)
    return states === undefined ? { now, states: [], isStale: true } : { now, states }
  }

  settle(request: SettleRequest): void {
    const { states, refunds, id } = request
    const now = begun(this.#shared)
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
    begun(this.#shared)
    this.#rows.change(subject, limits, (cells, i, at) => {
      if (this.#rows.layout.cellAt(at).kind !== 'concurrency') close(cells, i)
    })
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

/** State that the counters of all schemas on a store share. */
export interface MemoryShared {
  readonly clock: Clock
  readonly maxSubjects: number
  readonly maxIds: number
  readonly tables: Tables
  readonly ids: IdRecords
}

/** Returns the time of a call. Settles everything that has ended before anything is checked. */
function begun({ clock, ids }: MemoryShared): number {
  const now = instantOf(clock)
  ids.endDue(now)
  return now
}

/** The holds of one schema in a memory store. */
class MemoryHolds implements SyncHolds {
  readonly #shared: MemoryShared
  readonly #rows: RowDecisions

  constructor(shared: MemoryShared, rows: RowDecisions) {
    this.#shared = shared
    this.#rows = rows
  }

  /** Handles a take with a new id whose charge is refunded at the end. */
  take(request: TakeRequest, id: ReservationId, hold: HoldOptions, key: string, now: number): TakeReply {
    const { subject, costs } = request
    const { ids } = this.#shared
    const { schema } = this.#rows
    const owner = ownerOf(schema, subject)
    const hasRoom = ids.openOf(owner).length < hold.maxHolds
    if (!hasRoom) return { outcome: 'too_many_holds', now, states: [] }
    const reply = this.#rows.decide(request, now)
    if (reply.outcome !== 'admitted') return reply
    const endsAt = now + hold.ttlMs
    ids.putOpen({
      state: 'reserved',
      nonce: id.nonce,
      fingerprint: id.fingerprint,
      states: reply.states,
      expiresAt: NEVER,
      hold: {
        by: owner.by,
        owner: owner.key,
        costs: named(schema.units, costs),
        takenAt: now,
        endsAt,
        ttlMs: id.ttlMs,
        rows: this.#rowsOf(request, reply.states),
        answer: undefined,
        key,
      },
      at: -1,
    })
    return { outcome: 'admitted', now, states: reply.states, endsAt }
  }

  extend({ ttlMs, ...ref }: ExtendRequest): HoldReply {
    const now = begun(this.#shared)
    const record = this.#find(ref, now)
    const outcome = holdOutcome(record, ref.id)
    if (outcome !== 'held') return { outcome, now, states: [] }
    const endsAt = extendedEnd((record as OpenRecord).hold, ttlMs, now)
    this.#shared.ids.extend(record as OpenRecord, endsAt)
    return { outcome: 'held', now, endsAt, states: [] }
  }

  grow({ set, costs, quotas, periods, ...ref }: GrowRequest): HoldReply {
    const now = begun(this.#shared)
    const record = this.#find(ref, now)
    const outcome = holdOutcome(record, ref.id)
    if (outcome !== 'held') return { outcome, now, states: [] }
    const request = { subject: ref.subject, set, quotas, periods, costs }
    const { hold } = record as OpenRecord
    const grown = grownCosts(hold.costs, named(this.#rows.schema.units, costs))
    if (grown === undefined) {
      const { outcome: seen, states } = this.#rows.decide({ ...request, costs: costs.map(() => 0) }, now)
      return { outcome: seen === 'stale' ? 'stale' : 'refused', now, states }
    }
    const reply = this.#rows.decide(request, now)
    if (reply.outcome !== 'admitted') return { ...reply, outcome: reply.outcome }
    hold.rows = merged(hold.rows, this.#rowsOf(request, reply.states))
    hold.costs = grown
    return { outcome: 'held', now, endsAt: hold.endsAt, states: reply.states }
  }

  settle(request: SettleHoldRequest): SettleHoldReply {
    const now = begun(this.#shared)
    const { ids } = this.#shared
    const { units } = this.#rows.schema
    const record = this.#find(request, now)
    const plan = planSettlement(request, record, units)
    const reply = (outcome: SettleHoldOutcome, settled: Partial<Settled<Amounts>> = {}): SettleHoldReply => {
      return { outcome, now, states: NO_STATES, ...settledAmounts(settled, units) }
    }
    if (plan.does === 'nothing') return reply(plan.outcome, plan.settled)
    if (plan.does === 'mark') ids.write(this.#keyOf(request), request.id, 'cancelled', NO_STATES, now)
    if (plan.does === 'cancel') ids.close(record as OpenRecord, 'cancelled', now)
    if (plan.does !== 'commit') return reply('settled')
    const { hold } = record as OpenRecord
    const added = plan.isMore ? this.#overrun(request, plan.excess, now) : plan.excess
    if (added === undefined) return reply('stale', { reserved: hold.costs })
    const settled = commitAnswer(plan, added)
    ids.close(record as OpenRecord, 'committed', now, plan.mostBack, answerToKeep(settled, hold, units))
    // Read again, because the slots are free now.
    const states = plan.isMore ? (this.#rows.read(request, now) ?? []) : NO_STATES
    // Spread last: in V8, adding members after a spread takes a microsecond.
    return { added, outcome: 'settled', now, states, ...settled }
  }

  /** Charges the amount above a hold to the windows open now; `undefined`: the clock is outside the periods. */
  #overrun(
    { subject, set, quotas, periods, overrun }: SettleHoldRequest,
    excess: readonly number[],
    now: number,
  ): readonly number[] | undefined {
    const request = { subject, set, quotas, periods, costs: [...excess, 0] }
    const room = overrun === 'fit' ? this.#rows.room(request, now) : excess.map(() => Number.POSITIVE_INFINITY)
    if (room === undefined) return undefined
    const added = excess.map((amount, u) => Math.min(amount, room[u]!))
    const { outcome } = this.#rows.force({ ...request, costs: [...added, 0] }, now)
    return outcome === 'stale' ? undefined : added
  }

  list({ subject }: ListHoldsRequest): ListHoldsReply {
    begun(this.#shared)
    const { schema } = this.#rows
    const open = this.#shared.ids.openOf(ownerOf(schema, subject))
    const holds = open.map(({ nonce, fingerprint, hold }): HoldRecord => {
      const { costs, takenAt, endsAt } = hold
      const [, , id] = JSON.parse(hold.key) as [string, string, string]
      return { id, nonce, fingerprint, costs, takenAt, endsAt, charged: this.#chargedOf(hold) }
    })
    return { holds: holds.sort((a, b) => a.endsAt - b.endsAt) }
  }

  sweep(): SweepReply {
    begun(this.#shared)
    const { ids } = this.#shared
    return { ended: ids.drain(), open: ids.open }
  }

  #find(ref: HoldRef, now: number): IdRecord | undefined {
    return this.#shared.ids.find(this.#keyOf(ref), now)
  }

  #keyOf({ subject, id }: HoldRef): string {
    return idKey(ownerOf(this.#rows.schema, subject), id)
  }

  /** Returns a request's charges by row, in the order of each table's cells. @param states after it */
  #rowsOf({ subject, set, quotas: { layers }, costs }: RowRequest, states: readonly number[]): readonly HoldRow[] {
    return this.#rows.countedIn(set, layers).map(({ layer, name, table, cells }) => {
      const charged = table.blank.slice()
      for (const { at, unit, offset } of cells) {
        const taken = costs[unit] ?? 0
        if (taken === 0) continue
        charged[offset] = startIn(states, 2 * at)
        charged[offset + 1] = taken
      }
      return { layer: name, key: this.#rows.keyOf(layer, subject), charged }
    })
  }

  /** Returns a hold's charges by limit, in its owner's layers. Its keys in others may differ from the caller's. */
  #chargedOf({ rows, by }: HoldFacts): readonly number[] {
    return this.#rows.schema.layers.flatMap((layer, index) => {
      const isOwners = !layer.shared && keyName(layer) === by
      const row = isOwners ? rows.find((each) => each.layer === layer.name) : undefined
      if (row === undefined) return layer.cells.flatMap(() => [NOT_OPEN, 0])
      const { places } = this.#rows.viewOf(index)
      return places.flatMap((place) => [row.charged[2 * place] ?? NOT_OPEN, row.charged[2 * place + 1] ?? 0])
    })
  }
}

const NO_STATES: readonly number[] = []

/** Returns a hold's rows after it has grown. */
function merged(before: readonly HoldRow[], added: readonly HoldRow[]): readonly HoldRow[] {
  const untouched = before.filter(({ layer, key }) => !added.some((row) => row.layer === layer && row.key === key))
  const grown = added.map((row) => {
    const old = before.find(({ layer, key }) => layer === row.layer && key === row.key)
    if (old === undefined) return row
    const charged = [...row.charged]
    for (let i = 0; i < charged.length; i += 2) {
      const [startedAt, tokens] = [old.charged[i], old.charged[i + 1]]
      if (startedAt === undefined || tokens === undefined) continue
      ;[charged[i], charged[i + 1]] = grownCharge([startedAt, tokens], [charged[i]!, charged[i + 1]!])
    }
    return { ...row, charged }
  })
  return [...untouched, ...grown]
}
