import type {
  ExtendRequest,
  GrowRequest,
  HoldRecord,
  HoldRef,
  HoldReply,
  HoldTerms,
  ListHoldsReply,
  ListHoldsRequest,
  Settled,
  SettleHoldOutcome,
  SettleHoldReply,
  SettleHoldRequest,
  SweepReply,
  SyncHolds,
} from '../store/hold-port.ts'
import type { TakeReply, TakeRequest } from '../store/quota-store.ts'
import { idOwnerKey, type ReservationId } from '../store/schema.ts'
import { type Clock, instantOf } from '../time/clock.ts'
import { MAX_USED, NOT_OPEN } from '../windows/row.ts'
import { type Amounts, amountsIn, named } from '../windows/units.ts'
import { type HoldFacts, type HoldRow, type IdRecords, idKey, isOpen, NEVER, type OpenRecord } from './id-records.ts'
import type { RowDecisions, RowRequest } from './row-decisions.ts'
import type { Tables } from './row-table.ts'

/** What the counters of every schema on one store share. */
export interface MemoryShared {
  readonly clock: Clock
  readonly maxSubjects: number
  readonly maxIds: number
  readonly tables: Tables
  readonly ids: IdRecords
}

/** What a settle finds of a hold: its record, or why there is nothing to settle. */
type Found = OpenRecord | 'unknown' | 'unreserved'

/** The holds of one schema in a memory store. */
export class MemoryHolds implements SyncHolds {
  readonly #shared: MemoryShared
  readonly #rows: RowDecisions

  constructor(shared: MemoryShared, rows: RowDecisions) {
    this.#shared = shared
    this.#rows = rows
  }

  /** A take under an id that is not used yet, of what goes back by itself at the end. */
  take(request: TakeRequest, id: ReservationId, hold: HoldTerms, key: string, now: number): TakeReply {
    const { subject, category, costs } = request
    const { ids } = this.#shared
    const { schema } = this.#rows
    const owner = idOwnerKey(schema, subject)
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
        category: schema.categories[category]!,
        owner,
        costs: named(schema.units, costs),
        takenAt: now,
        endsAt,
        ttlMs: id.ttlMs,
        rows: this.#rowsOf(request, reply.states),
        answer: undefined,
        key,
        at: 0,
      },
    })
    return { outcome: 'admitted', now, states: reply.states, endsAt }
  }

  extend({ ttlMs, ...ref }: ExtendRequest): HoldReply {
    const now = this.#now()
    const record = this.#find(ref, now)
    if (!isOpen(record)) return { outcome: outcomeOf(record), now, states: [] }
    const endsAt = Math.max(record.hold.endsAt, now + ttlMs)
    this.#shared.ids.extend(record, endsAt)
    return { outcome: 'held', now, endsAt, states: [] }
  }

  grow({ costs, quotas, periods, ...ref }: GrowRequest): HoldReply {
    const now = this.#now()
    const record = this.#find(ref, now)
    if (!isOpen(record)) return { outcome: outcomeOf(record), now, states: [] }
    const { subject, category } = ref
    const request = { subject, category, quotas, periods, costs }
    const { hold } = record
    const grown = sum(hold.costs, named(this.#rows.schema.units, costs))
    // Larger sums are not exact, and no store could read them back.
    if (Object.values(grown).some((amount) => amount > MAX_USED)) {
      const { outcome, states } = this.#rows.decide({ ...request, costs: costs.map(() => 0) }, now)
      return { outcome: outcome === 'stale' ? 'stale' : 'refused', now, states }
    }
    const reply = this.#rows.decide(request, now)
    if (reply.outcome !== 'admitted') return { ...reply, outcome: reply.outcome }
    const rows = merged(hold.rows, this.#rowsOf(request, reply.states))
    hold.rows = rows
    hold.costs = grown
    return { outcome: 'held', now, endsAt: hold.endsAt, states: reply.states }
  }

  settle(request: SettleHoldRequest): SettleHoldReply {
    const now = this.#now()
    const { ids } = this.#shared
    const record = this.#find(request, now)
    const settled = (outcome: SettleHoldOutcome, answer: Partial<Settled<Amounts>> = {}): SettleHoldReply => {
      return { ...this.#settled(answer), outcome, now, states: NO_STATES }
    }
    if (request.as === 'cancelled') {
      if (record === 'unreserved') ids.write(this.#keyOf(request), request.id, 'cancelled', NO_STATES, now)
      if (isOpen(record)) ids.close(record, 'cancelled', now)
      return settled(record === 'unknown' ? 'unknown' : 'settled')
    }
    if (record === 'unknown' || record === 'unreserved') return settled('unknown')
    const { answer, costs } = record.hold
    if (record.state === 'committed') return settled('settled', answer ?? { charged: costs, reserved: costs })
    return record.state === 'cancelled' ? settled('cancelled') : this.#commit(request, record, now)
  }

  /** What a record says that a commit came to, in the schema's units. */
  #settled({ charged = {}, uncharged = {}, reserved = {} }: Partial<Settled<Amounts>>): Settled {
    const { units } = this.#rows.schema
    return {
      charged: amountsIn(units, charged),
      uncharged: amountsIn(units, uncharged),
      reserved: amountsIn(units, reserved),
    }
  }

  /** A commit of an open hold, or a late one: unit by unit. */
  #commit(request: SettleHoldRequest, record: OpenRecord, now: number): SettleHoldReply {
    const { units } = this.#rows.schema
    const { costs } = record.hold
    const reserved = amountsIn(units, costs)
    const { overrun, maxOverrun } = request
    const actual = reserved.map((amount, u) => request.actual?.[u] ?? amount)
    const isLate = record.state === 'expired'
    const within = isLate ? reserved.map(() => 0) : actual.map((amount, u) => Math.min(amount, reserved[u]!))
    const most = isLate ? maxOverrun.map((amount, u) => reserved[u]! + amount) : maxOverrun
    const isAbove = actual.some((amount, u) => amount > within[u]!)
    const nothing = (outcome: 'expired' | 'above' | 'stale'): SettleHoldReply => {
      return { ...this.#settled({ reserved: costs }), outcome, now, states: NO_STATES }
    }
    if (isLate && overrun !== 'charge') return nothing('expired')
    if (!isLate && isAbove && overrun === 'refuse') return nothing('above')
    const excess = actual.map((amount, u) => Math.min(amount - within[u]!, most[u]!))
    const isMore = excess.some((amount) => amount > 0)
    const added = isMore ? this.#overrun(request, excess, now) : excess
    if (added === undefined) return nothing('stale')
    const charged = within.map((amount, u) => amount + added[u]!)
    const uncharged = actual.map((amount, u) => amount - charged[u]!)
    const isAsReserved = charged.every((amount, u) => amount === reserved[u] && uncharged[u] === 0)
    const answer = isAsReserved
      ? undefined
      : { charged: named(units, charged), uncharged: named(units, uncharged), reserved: costs }
    const giveBack = (unit: string): number => {
      const u = units.indexOf(unit)
      return u === -1 ? 0 : reserved[u]! - within[u]!
    }
    this.#shared.ids.close(record, 'committed', now, giveBack, answer)
    // Read again: the slots are free by now.
    const states = isMore ? (this.#rows.read(request, now) ?? []) : NO_STATES
    return { charged, uncharged, reserved, added, outcome: 'settled', now, states }
  }

  /** Charges the amount above a hold, in the windows open now; `undefined`: the clock is outside of the periods. */
  #overrun(
    { subject, category, quotas, periods, overrun }: SettleHoldRequest,
    excess: readonly number[],
    now: number,
  ): readonly number[] | undefined {
    const request = { subject, category, quotas, periods, costs: [...excess, 0] }
    const room = overrun === 'fit' ? this.#rows.room(request, now) : excess.map(() => Number.POSITIVE_INFINITY)
    if (room === undefined) return undefined
    const added = excess.map((amount, u) => Math.min(amount, room[u]!))
    const { outcome } = this.#rows.force({ ...request, costs: [...added, 0] }, now)
    return outcome === 'stale' ? undefined : added
  }

  list({ subject }: ListHoldsRequest): ListHoldsReply {
    const now = this.#now()
    const { schema } = this.#rows
    const open = this.#shared.ids.openOf(idOwnerKey(schema, subject))
    const holds = open.flatMap(({ nonce, fingerprint, hold }): HoldRecord[] => {
      const category = schema.categories.indexOf(hold.category)
      if (category === -1) return []
      const { costs, takenAt, endsAt } = hold
      const [, , id] = JSON.parse(hold.key) as [string, string, string]
      return [{ category, id, nonce, fingerprint, costs, takenAt, endsAt, charged: this.#chargedOf(hold, category) }]
    })
    return { now, holds: holds.sort((a, b) => a.endsAt - b.endsAt) }
  }

  sweep(): SweepReply {
    this.#now()
    const { ids } = this.#shared
    return { ended: ids.drain(), open: ids.open }
  }

  /** The instant of a call. Whatever finds a hold past its end finds it settled. */
  #now(): number {
    const now = instantOf(this.#shared.clock)
    this.#shared.ids.endDue(now)
    return now
  }

  #find(ref: HoldRef, now: number): Found {
    const record = this.#shared.ids.find(this.#keyOf(ref), now)
    if (record === undefined) return 'unreserved'
    return record.nonce !== ref.id.nonce || record.hold === undefined ? 'unknown' : (record as OpenRecord)
  }

  #keyOf({ subject, category, id }: HoldRef): string {
    return idKey(this.#rows.schema, subject, category, id)
  }

  /** What a request was charged in its rows, in the order of each table's cells. @param states after it */
  #rowsOf({ subject, category, quotas: { layers }, costs }: RowRequest, states: readonly number[]): readonly HoldRow[] {
    const { schema, layout } = this.#rows
    return layers.map((layer, slot) => {
      const { table, offsets } = this.#rows.viewOf(layer, category)
      const charged = table.blank.slice()
      for (let c = 0; c < offsets.length; c++) {
        const taken = costs[layout.units[c]!]!
        if (taken === 0) continue
        charged[offsets[c]!] = states[layout.cellAt(slot, c)]!
        charged[offsets[c]! + 1] = taken
      }
      return { layer: schema.layers[layer]!.name, key: this.#rows.keyOf(layer, subject), charged }
    })
  }

  /** What a hold has in the first own layer, in the order of the schema's cells. */
  #chargedOf({ rows }: HoldFacts, category: number): readonly number[] {
    const { schema, layout } = this.#rows
    const layer = schema.layers.findIndex(({ shared }) => !shared)
    const row = rows.find((each) => each.layer === schema.layers[layer]!.name)
    if (row === undefined) return Array.from({ length: layout.size }, () => [NOT_OPEN, 0]).flat()
    const { places } = this.#rows.viewOf(layer, category)
    return places.flatMap((place) => [row.charged[2 * place] ?? NOT_OPEN, row.charged[2 * place + 1] ?? 0])
  }
}

const NO_STATES: readonly number[] = []

function outcomeOf(record: Found): 'unknown' | 'expired' | 'settled' {
  if (record === 'unknown' || record === 'unreserved') return 'unknown'
  return record.state === 'expired' ? 'expired' : 'settled'
}

/** The sum of two amounts of each unit. */
function sum(a: Amounts, b: Amounts): Amounts {
  const units = new Set([...Object.keys(a), ...Object.keys(b)])
  return Object.fromEntries([...units].map((unit) => [unit, (a[unit] ?? 0) + (b[unit] ?? 0)]))
}

/**
 * What a hold has after it grew. Of each window it knows one opening: a newer one means that the older has ended, so that
 * nothing can go back there.
 */
function merged(before: readonly HoldRow[], added: readonly HoldRow[]): readonly HoldRow[] {
  const untouched = before.filter(({ layer, key }) => !added.some((row) => row.layer === layer && row.key === key))
  const grown = added.map((row) => {
    const old = before.find(({ layer, key }) => layer === row.layer && key === row.key)
    if (old === undefined) return row
    const charged = [...row.charged]
    for (let i = 0; i < charged.length; i += 2) {
      const [startedAt, tokens] = [old.charged[i], old.charged[i + 1]]
      if (startedAt === undefined || tokens === undefined) continue
      if (charged[i + 1] === 0) [charged[i], charged[i + 1]] = [startedAt, tokens]
      else if (charged[i] === startedAt) charged[i + 1]! += tokens
    }
    return { ...row, charged }
  })
  return [...untouched, ...grown]
}
