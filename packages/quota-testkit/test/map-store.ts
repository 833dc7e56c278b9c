import type { Clock } from '@scoregw/quota'
import * as row from '@scoregw/quota/internal'
import type * as store from '@scoregw/quota/store'

/** One window of one counter, which of the costs it counts, and its limit's position. */
export type Cell = readonly [startedAtAndUsed: number[], lengthMs: number, unit: number, at: number]

export interface IdRecord extends store.ReservationId {
  readonly state: 'reserved' | 'committed' | 'cancelled'
  readonly states: readonly number[]
  readonly expiresAt: number
}

export interface MapData {
  readonly clock: Clock
  readonly schema: store.StoreSchema
  readonly layout: row.Layout
  readonly cells: Map<string, number[]>
  readonly ids: Map<string, IdRecord>
}

/** The store that mutants are made from: each rule is a method of its own, two maps, everything kept for ever. */
export function mapStore(clock: Clock, Counters: typeof MapCounters = MapCounters): store.SyncStore {
  const kept: Pick<MapData, 'cells' | 'ids'> = {
    cells: new Map(),
    ids: new Map(),
  }
  return {
    sync: true,
    can: { sets: true },
    open: (schema) => new Counters({ clock, schema, layout: new row.Layout(schema), ...kept }),
  }
}

export class MapCounters implements store.SyncCounters {
  readonly data: MapData

  constructor(data: MapData) {
    this.data = data
  }

  take(request: store.TakeRequest): store.TakeReply {
    const now = this.data.clock.now()
    const { id } = request
    const record = id && this.record(this.idKey(request, id), now)
    const outcome = id && record && this.repeat(record, id)
    if (outcome)
      return {
        outcome,
        now,
        states: outcome === 'admitted' ? record.states : [],
      }
    const reply = this.decide(request, now)
    if (id && reply.outcome === 'admitted') this.remember(this.idKey(request, id), id, 'reserved', reply.states)
    return reply
  }

  /**
   * Looks at every window first, and writes only when all of them have
   * room. Windows of units that cost nothing are left alone.
   */
  decide({ subject, set, quotas, costs }: store.TakeRequest, now: number): store.TakeReply {
    const cells = this.counted(subject, set, quotas.layers)
    const fits = cells.every(([pair, lengthMs, unit, at]) => {
      const cost = costs[unit] ?? 0
      const used = row.usedIn(pair, 0, now - lengthMs)
      return cost === 0 || used + cost <= Number(quotas.limits[at])
    })
    for (const [pair, lengthMs, unit] of cells) {
      const [cost = 0, after] = [costs[unit], now - lengthMs]
      if (cost > 0 && !fits) row.reanchor(pair, 0, after, now)
      if (cost === 0 || !fits) continue
      row.roll(pair, 0, after, now, now)
      row.add(pair, 0, cost)
    }
    return {
      outcome: fits ? 'admitted' : 'refused',
      now,
      states: this.view(cells, now),
    }
  }

  read({ subject, set, layers }: store.ReadRequest): store.ReadReply {
    const now = this.data.clock.now()
    return { now, states: this.view(this.counted(subject, set, layers), now) }
  }

  settle(request: store.SettleRequest): void {
    const { subject, set, layers, states, refunds, id } = request
    if (id && !this.settleId(request, id)) return
    for (const [pair, , unit, at] of this.counted(subject, set, layers))
      row.refund(pair, 0, Number(states[2 * at]), refunds[unit] ?? 0)
  }

  reset({ subject, limits }: store.ResetRequest): void {
    for (const [pair] of this.cells(subject, limits)) row.close(pair, 0)
  }

  /** The cells of a set in some layers. */
  counted(subject: store.SubjectKeys, set: number, layers: readonly number[]): Cell[] {
    const counted = this.data.layout.counted[set] ?? []
    return this.cells(
      subject,
      layers.flatMap((layer) => counted[layer] ?? []),
    )
  }

  /**
   * By names and never by places, so that another schema finds what it
   * knows. As JSON no two keys are one text.
   */
  cells(subject: store.SubjectKeys, limits: readonly number[]): Cell[] {
    const { layout, schema } = this.data
    return limits.flatMap((at) => {
      const layer = schema.layers[layout.layerOf[at] ?? -1]
      const cell = layout.cells[at]
      return layer && cell ? [this.cell([layer.name, row.layerKey(layer, subject)], cell, at)] : []
    })
  }

  cell(names: readonly unknown[], { identity, lengthMs, unit }: store.CellSchema, at: number): Cell {
    const key = JSON.stringify([...names, identity])
    const kept = this.data.cells.get(key)
    const pair = kept ?? [row.CLOSED, row.CLOSED]
    this.data.cells.set(key, pair)
    return [pair, lengthMs, unit, at]
  }

  view(cells: readonly Cell[], now: number): number[] {
    const state = [...this.data.layout.blank]
    for (const [pair, lengthMs, , at] of cells) row.view(pair, 0, now - lengthMs, now, state, 2 * at)
    return state
  }

  repeat(record: IdRecord, { nonce, fingerprint }: store.ReservationId): store.TakeOutcome {
    if (record.fingerprint !== fingerprint) return 'conflict'
    if (record.state === 'cancelled') return 'cancelled'
    return record.nonce === nonce ? 'admitted' : 'duplicate'
  }

  /**
   * Whether this nonce may settle the id; from now on nobody may. A
   * cancel of an unknown one is remembered.
   */
  settleId(request: store.SettleRequest, id: store.ReservationId): boolean {
    const key = this.idKey(request, id)
    const record = this.record(key, this.data.clock.now())
    const settles = record?.state === 'reserved' && record.nonce === id.nonce
    if (settles || (!record && request.as === 'cancelled')) this.remember(key, id, request.as, record?.states ?? [])
    return settles
  }

  record(key: string, now: number): IdRecord | undefined {
    const record = this.data.ids.get(key)
    return record && now < record.expiresAt ? record : undefined
  }

  remember(key: string, id: store.ReservationId, state: IdRecord['state'], states: readonly number[]): void {
    this.data.ids.set(key, {
      ...id,
      state,
      states,
      expiresAt: this.data.clock.now() + id.ttlMs,
    })
  }

  idKey({ subject }: store.TakeRequest | store.SettleRequest, { id }: store.ReservationId): string {
    return JSON.stringify([row.ownerOf(this.data.schema, subject), id])
  }
}
