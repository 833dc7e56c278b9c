import { cellOfIdentity, isToSettle, NOT_OPEN, named, ownerOf, repeatedTake, usedLayers } from '@scoregw/quota/internal'
import { notDone, type ReservationId, type SettleRequest, type TakeReply, type TakeRequest } from '@scoregw/quota/store'
import type { Keys, RecordPlace } from '../keys/keys.ts'
import type { Batch } from './batch.ts'
import { chargesOf, type Refund, refundsOfStates } from './charges.ts'
import type { Holds } from './holds.ts'
import { type Caller, called, takeReply } from './operation.ts'
import {
  type Behind,
  cancelledRecord,
  cellIn,
  type IdRecord,
  newMark,
  recordText,
  statesFor,
  storedStates,
} from './record.ts'
import { behindOf, isOpenHold, type RecordChanges } from './record-changes.ts'
import type { Row } from './rows.ts'

/** The id was known, and its key has this value. */
interface FoundKey {
  readonly now: number
  readonly found: Buffer | undefined
}

/** A reservation that begins. */
interface Begun {
  readonly id: ReservationId
  readonly place: RecordPlace
  /** Its record, before the time and the charges are known. */
  readonly record: IdRecord
}

/** Reservations under an id. Each is charged once, and settled once. */
export class TakesUnderIds {
  readonly #keys: Keys
  readonly #calls: Caller
  readonly #changes: RecordChanges
  readonly #holds: Holds

  constructor(calls: Caller, changes: RecordChanges, holds: Holds) {
    this.#keys = changes.keys
    this.#calls = calls
    this.#changes = changes
    this.#holds = holds
  }

  take(request: TakeRequest, id: ReservationId): Promise<TakeReply> {
    return this.#take(request, { id, place: this.#placeOf(request, id), record: this.#begun(request, id) })
  }

  async #take(request: TakeRequest, begun: Begun): Promise<TakeReply> {
    const { id, place } = begun
    const taken = await called<TakeReply | FoundKey>(this.#calls, {
      repeatable: true,
      encode: (batch) => this.#encode(batch, request, begun),
      alone: (calls, until) => {
        const text = recordText(begun.record, this.#behind(request))
        return calls.take(request, until, { place, text, ttlMs: id.ttlMs })
      },
      read: (replay, answer) => {
        const { now } = replay
        const { status, found } = answer
        if (status === 'other_record') return { now, found }
        if (status === 'too_many_holds') return { outcome: 'too_many_holds', now, states: [] }
        const reply = takeReply(replay, answer, request)
        if (reply.outcome !== 'admitted') return reply
        const record = this.#asTaken(request, begun.record, reply)
        this.#changes.remember(place.key, record)
        return { ...reply, ...(record.hold && { endsAt: record.hold.endsAt }) }
      },
      late: (reply) => {
        if ('outcome' in reply && reply.outcome === 'admitted') this.#cancelLate(request, id, reply)
      },
    })
    return 'outcome' in taken ? taken : this.#repeated(request, begun, taken)
  }

  /** Resolves to whether the reservation was open and belonged to this nonce. */
  async settle(request: SettleRequest, id: ReservationId): Promise<boolean> {
    const { as } = request
    const { isDone, result } = await this.#changes.change(this.#placeOf(request, id), (record) => {
      if (record === undefined && as === 'cancelled') {
        return { result: false, change: { after: cancelledRecord(id), keepMs: id.ttlMs } }
      }
      // A hold is ended through its record.
      if (!isToSettle(record, id)) return { result: false }
      const refunds = [...refundsOfStates(request, this.#keys), ...othersRefunds(record, request, this.#keys)]
      return { result: true, change: { after: { ...record, mark: newMark(), state: as }, keepMs: id.ttlMs, refunds } }
    })
    return isDone && result
  }

  #encode(batch: Batch, request: TakeRequest, { id, place, record }: Begun): readonly Row[] {
    const { hold, costs } = request
    const { key, ownerIndex } = place
    const { length: units } = this.#keys.schema.units
    const at = batch.record(key)
    let rows: readonly Row[] = []
    batch.steps(() => {
      batch.expect(place.key, '')
      if (hold !== undefined) {
        batch.step('fewer', batch.index(this.#keys.holds), Number.POSITIVE_INFINITY)
        batch.step('fewer', batch.index(ownerIndex), hold.maxHolds)
      }
      rows = batch.take(request, costs)
      const hasSlots = hold !== undefined && (costs[units] ?? 0) > 0
      if (hasSlots) for (const row of rows) batch.keep(row, -hold.ttlMs)
      const text = recordText(record, this.#behind(request))
      batch.step('record', at, batch.text(text), hold === undefined ? id.ttlMs : -1, 1)
      if (hold === undefined) return
      const name = batch.text(this.#keys.nameOf(key))
      batch.step('index', batch.index(this.#keys.holds), name, -hold.ttlMs, 0)
      batch.step('index', batch.index(ownerIndex), name, -hold.ttlMs, 1)
    })
    return rows
  }

  #behind(request: TakeRequest): Behind {
    const behind = behindOf(this.#keys, request, { of: 'take' })
    return request.hold === undefined ? { of: behind.of, periods: behind.periods } : behind
  }

  /** The record of a take, before the time and the charges are known. */
  #begun(request: TakeRequest, id: ReservationId): IdRecord {
    const { subject, costs, hold } = request
    const { nonce, fingerprint, ttlMs } = id
    const { schema } = this.#keys
    const tables = this.#keys.layersOf(request).map((layer) => this.#keys.table(layer))
    const { by, key: owner } = ownerOf(schema, subject)
    const ofHold = hold && {
      ...{ by, owner, costs: named(schema.units, costs) },
      ...{ takenAt: 0, endsAt: hold.ttlMs, keepMs: ttlMs, charges: [], growths: [] },
    }
    return { mark: newMark(), state: 'reserved', nonce, fingerprint, tables, limits: [], states: [], hold: ofHold }
  }

  /** The same record once they are known. */
  #asTaken(request: TakeRequest, begun: IdRecord, { now, states }: TakeReply): IdRecord {
    const { layout } = this.#keys
    const layers = usedLayers(layout, request)
    const tables = layers.map((layer) => this.#keys.table(layer))
    const limits = layers.map((layer) => layout.rowAt(layer).identities)
    const taken = { ...begun, tables, limits, states: storedStates(states, layers, layout) }
    const { hold } = begun
    if (hold === undefined) return taken
    const charges = chargesOf(request, states, request.costs, this.#keys)
    return { ...taken, hold: { ...hold, takenAt: now, endsAt: now + hold.endsAt, charges } }
  }

  /** The reply to a take under a known id. */
  async #repeated(request: TakeRequest, begun: Begun, known: FoundKey): Promise<TakeReply> {
    const { now } = known
    const { id, place } = begun
    const { record, fault } = await this.#changes.read(known)
    if (fault !== undefined) throw notDone(fault)
    if (record === undefined) return this.#take(request, begun)
    const isDue = isOpenHold(record) && record.hold.endsAt <= now
    if (isDue) await this.#holds.endAt(place)
    const states = statesFor(record, this.#keys)
    return repeatedTake({ ...record, state: isDue ? 'expired' : record.state, states }, id, now)
  }

  /** Cancels an admission that arrived after its caller's deadline. */
  #cancelLate(request: TakeRequest, id: ReservationId, { states }: TakeReply): void {
    const { subject, set, quotas, costs, hold } = request
    const all = costs.slice(0, this.#keys.schema.units.length)
    const settled =
      hold === undefined
        ? this.settle({ subject, set, layers: quotas.layers, states, refunds: all, id, as: 'cancelled' }, id)
        : this.#holds.settle({ subject, set, quotas, id, as: 'cancelled', overrun: 'refuse', maxOverrun: [] })
    settled.catch(() => undefined)
  }

  #placeOf({ subject }: Pick<TakeRequest, 'subject'>, { id }: ReservationId): RecordPlace {
    return this.#keys.recordPlace(subject, id)
  }
}

/** The refunds to windows that the policy lacks, as the policy that wrote the record has them. */
function othersRefunds(record: IdRecord, request: SettleRequest, keys: Keys): Refund[] {
  const { layout, schema } = keys
  return usedLayers(layout, request).flatMap((layer) => {
    const row = keys.nameOf(keys.row(layer, request.subject))
    const table = keys.table(layer)
    const { identities } = layout.rowAt(layer)
    return (record.limits[record.tables.indexOf(table)] ?? []).flatMap((identity) => {
      const cell = identities.includes(identity) ? undefined : cellOfIdentity(identity)
      const amount = request.refunds[schema.units.indexOf(cell?.unit ?? '')] ?? 0
      const { startedAt } = cellIn(record, table, identity)
      return amount === 0 || startedAt === NOT_OPEN ? [] : [{ row, identity, startedAt, amount, closes: false }]
    })
  })
}
