import type {
  ExtendRequest,
  GrowRequest,
  HoldRecord,
  HoldRef,
  HoldReply,
  HoldTerms,
  ListHoldsReply,
  ListHoldsRequest,
  SettleHoldReply,
  SettleHoldRequest,
  SweepReply,
  SyncHolds,
} from '../store/hold-port.ts'
import type { TakeReply, TakeRequest } from '../store/quota-store.ts'
import type { ReservationId } from '../store/reservation-id.ts'
import { idOwnerKey, type Subject } from '../store/schema.ts'
import { instantOf } from '../time/clock.ts'
import { NOT_OPEN } from '../windows/window.ts'
import { type HoldFacts, type HoldRow, type IdRecord, idKey, NEVER } from './id-records.ts'
import type { RowDecisions, RowReply } from './row-decisions.ts'
import { PAIRS } from './row-table.ts'
import type { MemoryShared } from './shared.ts'

type OpenRecord = IdRecord & { readonly hold: HoldFacts }

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

  /** A take under an id that nobody used, of tokens and slots that can be given back by themselves. */
  take(
    request: TakeRequest & { readonly id: ReservationId; readonly hold: HoldTerms },
    key: string,
    now: number,
  ): TakeReply {
    const { subject, category, id, hold, cost, quotas } = request
    const { book } = this.#shared
    const { schema } = this.#rows
    const owner = idOwnerKey(schema, subject)
    const hasRoom = book.of(owner).size < hold.maxHolds
    if (!hasRoom) return { outcome: 'too_many_holds', now, states: [] }
    const reply = this.#rows.decide(request, now)
    if (reply.outcome !== 'admitted') return reply
    const endsAt = now + hold.ttlMs
    book.putOpen(key, {
      state: 'reserved',
      nonce: id.nonce,
      fingerprint: id.fingerprint,
      states: reply.states,
      expiresAt: NEVER,
      hold: {
        category: schema.categories[category]!,
        owner,
        tokens: cost,
        slot: hold.slot,
        takenAt: now,
        endsAt,
        ttlMs: id.ttlMs,
        rows: this.#rowsOf(subject, category, quotas.layers, cost, hold.slot),
      },
    })
    return { ...reply, endsAt }
  }

  extend({ ttlMs, ...ref }: ExtendRequest): HoldReply {
    const now = this.#now()
    const { key, record } = this.#find(ref, now)
    if (!isOpen(record)) return { outcome: outcomeOf(record), now, states: [] }
    const endsAt = Math.max(record.hold.endsAt, now + ttlMs)
    this.#shared.book.putOpen(key, { ...record, hold: { ...record.hold, endsAt } })
    return { outcome: 'held', now, endsAt, states: [] }
  }

  grow({ tokens, quotas, periods, ...ref }: GrowRequest): HoldReply {
    const now = this.#now()
    const { key, record } = this.#find(ref, now)
    if (!isOpen(record)) return { outcome: outcomeOf(record), now, states: [] }
    const { subject, category } = ref
    const reply = this.#rows.decide({ subject, category, quotas, periods, cost: tokens }, now)
    if (reply.outcome !== 'admitted') return { ...reply, outcome: reply.outcome }
    const { hold } = record
    const rows = merged(hold.rows, this.#rowsOf(subject, category, quotas.layers, tokens, false))
    this.#shared.book.putOpen(key, { ...record, hold: { ...hold, tokens: hold.tokens + tokens, rows } })
    return { outcome: 'held', now, endsAt: hold.endsAt, states: reply.states }
  }

  settle(request: SettleHoldRequest): SettleHoldReply {
    const now = this.#now()
    const { key, record } = this.#find(request, now)
    const nothing = { now, charged: 0, uncharged: 0, reserved: 0, states: [] }
    if (request.as === 'cancelled') {
      if (record === 'unreserved') this.#shared.ids.write(key, request.id, 'cancelled', [], now)
      if (isOpen(record)) {
        this.#shared.book.close(key, record, 'cancelled', now, { giveBack: record.hold.tokens })
      }
      return { ...nothing, outcome: record === 'unknown' ? 'unknown' : 'settled' }
    }
    if (record === 'unknown' || record === 'unreserved') return { ...nothing, outcome: 'unknown' }
    const { answer, tokens } = record.hold
    if (answer !== undefined) return { ...nothing, ...answer, outcome: 'settled' }
    if (record.state === 'cancelled') return { ...nothing, outcome: 'cancelled' }
    return this.#commit(request, key, record, request.actual ?? tokens, now)
  }

  /** A commit of what is open, or a late one. */
  #commit(request: SettleHoldRequest, key: string, record: OpenRecord, actual: number, now: number): SettleHoldReply {
    const { tokens } = record.hold
    const { overrun, maxOverrun } = request
    const isLate = record.state === 'expired'
    const nothing = { now, charged: 0, uncharged: 0, reserved: tokens, states: [] }
    if (isLate && overrun !== 'charge') return { ...nothing, outcome: 'expired' }
    if (!isLate && actual > tokens && overrun === 'refuse') return { ...nothing, outcome: 'above' }
    const within = isLate ? 0 : Math.min(actual, tokens)
    const excess = Math.min(actual - within, isLate ? tokens + maxOverrun : maxOverrun)
    const more = excess > 0 ? this.#overrun(request, excess, now) : { added: 0, states: [] }
    if (more === undefined) return { ...nothing, outcome: 'stale' }
    const charged = within + more.added
    const answer = { charged, uncharged: actual - charged, reserved: tokens }
    const giveBack = isLate ? 0 : tokens - within
    this.#shared.book.close(key, record, 'committed', now, { giveBack, answer })
    // Looked at once more: the slots are free by now.
    const states = excess > 0 ? (this.#rows.look(request, now) ?? []) : []
    return { ...answer, outcome: 'settled', now, added: more.added, states }
  }

  /** Charges what is above a hold, in the windows that are open now; `undefined`: the clock is outside of the periods. */
  #overrun(
    { subject, category, quotas, periods, overrun }: SettleHoldRequest,
    excess: number,
    now: number,
  ): { readonly added: number; readonly states: RowReply['states'] } | undefined {
    const request = { subject, category, quotas, periods }
    const room = overrun === 'fit' ? this.#rows.room({ ...request, cost: excess }, now) : excess
    if (room === undefined) return undefined
    const added = Math.min(excess, room)
    const { outcome, states } = this.#rows.force({ ...request, cost: added }, now)
    return outcome === 'stale' ? undefined : { added, states }
  }

  list({ subject }: ListHoldsRequest): ListHoldsReply {
    const now = this.#now()
    const { book, ids } = this.#shared
    const { schema } = this.#rows
    const holds = [...book.of(idOwnerKey(schema, subject))].flatMap((key): HoldRecord[] => {
      const record = ids.find(key, now)
      const category = schema.categories.indexOf(record?.hold?.category ?? '')
      if (!isOpen(record) || category === -1) return []
      const { tokens, slot, takenAt, endsAt } = record.hold
      const [, , id] = JSON.parse(key) as [string, string, string]
      const { nonce, fingerprint } = record
      const charged = this.#chargedOf(record.hold, category)
      return [{ category, id, nonce, fingerprint, tokens, slot, takenAt, endsAt, charged }]
    })
    return { now, holds: holds.sort((a, b) => a.endsAt - b.endsAt) }
  }

  sweep(): SweepReply {
    this.#now()
    const { book } = this.#shared
    return { ended: book.drain(), open: book.size }
  }

  /** The instant of a call. Whatever finds a hold past its end finds it settled. */
  #now(): number {
    const now = instantOf(this.#shared.clock)
    this.#shared.book.endDue(now)
    return now
  }

  #find({ subject, category, id }: HoldRef, now: number): { readonly key: string; readonly record: Found } {
    const key = idKey(this.#rows.schema, subject, category, id)
    const record = this.#shared.ids.find(key, now)
    if (record === undefined) return { key, record: 'unreserved' }
    const { hold } = record
    return { key, record: record.nonce !== id.nonce || hold === undefined ? 'unknown' : { ...record, hold } }
  }

  /** What was charged just now to the rows of some layers, in the order of each table's cells. */
  #rowsOf(
    subject: Subject,
    category: number,
    layers: readonly number[],
    tokens: number,
    slot: boolean,
  ): readonly HoldRow[] {
    const { schema, layout } = this.#rows
    return layers.map((layer) => {
      const { table, places } = this.#rows.viewOf(layer, category)
      const key = this.#rows.keyOf(layer, subject)
      const row = table.find(key)
      const charged = table.cells.flatMap(() => [NOT_OPEN, 0])
      for (const [cell, place] of places.entries()) {
        const taken = cell < layout.width ? tokens : Number(slot)
        if (taken > 0) [charged[2 * place], charged[2 * place + 1]] = [row![PAIRS + 2 * place]!, taken]
      }
      return { layer: schema.layers[layer]!.name, key, charged }
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

function isOpen(record: Found | IdRecord | undefined): record is OpenRecord {
  return typeof record === 'object' && record.state === 'reserved' && record.hold !== undefined
}

function outcomeOf(record: Found): 'unknown' | 'expired' | 'settled' {
  if (record === 'unknown' || record === 'unreserved') return 'unknown'
  return record.state === 'expired' ? 'expired' : 'settled'
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
