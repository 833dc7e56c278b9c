import type { Clock } from '@scoregw/quota'
import {
  type Amounts,
  amountsIn,
  type EndedHold,
  type ExtendRequest,
  type GrowRequest,
  type HoldRecord,
  type HoldRef,
  type HoldReply,
  idOwnerKey,
  Layout,
  type ListHoldsReply,
  layerKey,
  periodAt,
  type ReadReply,
  type ReadRequest,
  type ResetRequest,
  type SettleHoldReply,
  type SettleHoldRequest,
  type SettleRequest,
  type StoreAbilities,
  type StoreSchema,
  type Subject,
  type SyncCounters,
  type SyncHolds,
  type SyncStore,
  type TakeReply,
  type TakeRequest,
} from '@scoregw/quota/store'
import { ModelCounters, type ModelId, type ModelLimit } from '../src/model/model-counters.ts'
import type { ModelCosts, ModelRecord } from '../src/model/model-records.ts'
import type { ModelSpan } from '../src/model/model-windows.ts'

/** Which cells of which rows, and where the request has their periods. */
export interface Where {
  readonly subject: Subject
  readonly category: number
  readonly layers: readonly number[]
  readonly limits?: readonly number[] | undefined
  readonly rates?: readonly number[] | undefined
  readonly periods?: readonly number[] | undefined
}

/** What ids were answered with, for those who ask again. */
const answers = new WeakMap<ModelRecord, readonly number[]>()

const ABILITIES: StoreAbilities = { calendar: true, bucket: true, holds: true, concurrency: 'all', fit: true }

/** The model as a store: it can all that a store can, and is what stores with one fault are made of. */
export function modelStore(
  clock: Clock,
  Counters: typeof ModelledCounters = ModelledCounters,
  Model: typeof ModelCounters = ModelCounters,
): SyncStore {
  const model = new Model(clock)
  return { sync: true, can: ABILITIES, open: (schema) => new Counters(schema, model) }
}

export class ModelledCounters implements SyncCounters {
  readonly schema: StoreSchema
  readonly layout: Layout
  readonly model: ModelCounters
  readonly #ended: EndedHold[] = []

  constructor(schema: StoreSchema, model: ModelCounters) {
    this.schema = schema
    this.layout = new Layout(schema.cells)
    this.model = model
  }

  get now(): number {
    return this.model.clock.now()
  }

  take(request: TakeRequest): TakeReply {
    const { now } = this
    this.end()
    const { subject, category, quotas, costs, hold } = request
    const where = { subject, category, ...quotas, periods: request.periods }
    const windows = this.windows(where)
    if (windows === undefined) return { outcome: 'stale', now, states: [] }
    const id = request.id && this.id(request, request.id)
    const terms = hold && {
      ...hold,
      owner: idOwnerKey(this.schema, subject),
      slots: costs.at(-1) === 1 ? this.slots(where) : [],
    }
    const { outcome, endsAt } = this.model.take({ costs: this.named(costs), windows, id, hold: terms })
    if (outcome !== 'admitted' && outcome !== 'refused') return { outcome, now, states: [] }
    const record = id && this.model.state.records[id.name]
    const before = record && answers.get(record)
    if (before !== undefined && outcome === 'admitted') return { outcome, now, states: before, endsAt }
    const states = this.view(where)
    if (record !== undefined && outcome === 'admitted') answers.set(record, states)
    return { outcome, now, states, endsAt }
  }

  read({ subject, categories, layers, periods }: ReadRequest): ReadReply {
    const { now } = this
    this.end()
    const wheres = categories.map((category) => ({ subject, category, layers, periods }))
    const isStale = wheres.some((where) => this.windows(where) === undefined)
    return isStale ? { now, states: [], isStale } : { now, states: wheres.map((where) => this.view(where)) }
  }

  settle(request: SettleRequest): void {
    this.end()
    const { subject, category, layers, states, refunds, as, id } = request
    if (id && !this.model.settleId(this.id(request, id), as)) return
    for (const [at, name] of this.names({ subject, category, layers }).entries()) {
      const { unit } = this.layout.cells[at % this.layout.size] ?? { unit: 0 }
      this.model.windows.refund(name, states[2 * at] ?? -1, refunds[unit] ?? 0)
    }
  }

  reset({ subject, categories, layers }: ResetRequest): void {
    this.end()
    for (const category of categories)
      for (const name of this.names({ subject, category, layers })) this.model.windows.close(name)
  }

  readonly holds: SyncHolds = {
    extend: (request) => this.extend(request),
    grow: (request) => this.grow(request),
    settle: (request) => this.settleHold(request),
    list: ({ subject }) => this.list(subject),
    sweep: () => {
      this.end()
      return { ended: this.#ended.splice(0), open: this.model.open().length }
    },
  }

  extend(request: ExtendRequest): HoldReply {
    this.end()
    return { ...this.model.extend(this.id(request, request.id), request.ttlMs), now: this.now, states: [] }
  }

  grow(request: GrowRequest): HoldReply {
    const { now } = this
    this.end()
    const where = { ...request, ...request.quotas }
    const windows = this.windows(where)
    if (windows === undefined) return { outcome: 'stale', now, states: [] }
    const moved = this.model.grow(this.id(request, request.id), this.named(request.costs), windows)
    const isDecided = moved.outcome === 'held' || moved.outcome === 'refused'
    return { ...moved, now, states: isDecided ? this.view(where) : [] }
  }

  settleHold(request: SettleHoldRequest): SettleHoldReply {
    const { now } = this
    this.end()
    const where = { ...request, ...request.quotas }
    const windows = this.windows(where)
    const amounts = (costs: ModelCosts = {}): readonly number[] => amountsIn(this.schema.units, costs)
    const nothing = { now, charged: amounts(), uncharged: amounts(), reserved: amounts(), states: [] }
    if (windows === undefined) return { outcome: 'stale', ...nothing }
    const { outcome, charged, uncharged, reserved, added } = this.model.settleHold(this.id(request, request.id), {
      ...request,
      actual: this.actual(request.actual),
      maxOverrun: this.named(request.maxOverrun),
      windows,
    })
    const settled = { charged: amounts(charged), uncharged: amounts(uncharged), reserved: amounts(reserved) }
    const isAdded = added !== undefined && Object.values(added).some((amount) => amount > 0)
    return { outcome, now, ...settled, added: added && amounts(added), states: isAdded ? this.view(where) : [] }
  }

  list(subject: Subject): ListHoldsReply {
    this.end()
    const holds = this.model.open(idOwnerKey(this.schema, subject)).flatMap(([name, record, endsAt]): HoldRecord[] => {
      const [categoryName, , id] = JSON.parse(name) as [string, string, string]
      const category = this.schema.categories.indexOf(categoryName)
      if (category < 0) return []
      const layers = [this.schema.layers.findIndex(({ shared }) => !shared)]
      const charged = this.names({ subject, category, layers }).flatMap((window) => {
        const { startedAt, amount } = record.charged[window] ?? { startedAt: -1, amount: 0 }
        return [startedAt, amount]
      })
      const { holder: nonce, use: fingerprint } = record
      const takenAt = record.hold?.takenAt ?? 0
      return [{ category, id, nonce, fingerprint, costs: costsOf(record), takenAt, endsAt, charged }]
    })
    return { now: this.now, holds }
  }

  /** Ends holds that are past their end, and remembers them for the next sweep. */
  end(): void {
    const due = this.model.open().filter(([, , endsAt]) => this.now >= endsAt)
    this.model.sweep()
    for (const [name, record, endsAt] of due) this.#ended.push(ended(name, record, endsAt))
  }

  id(request: Pick<HoldRef, 'subject' | 'category'>, { id, nonce, fingerprint, ttlMs }: HoldRef['id']): ModelId {
    const category = this.schema.categories[request.category]
    const name = JSON.stringify([category, idOwnerKey(this.schema, request.subject), id])
    return { name, holder: nonce, use: fingerprint, ttlMs }
  }

  /** As {@link named}; units of which nothing is said are left out. */
  actual(amounts: readonly (number | undefined)[] = []): ModelCosts {
    const said = this.schema.units.map((unit, at) => [unit, amounts[at]] as const)
    return Object.fromEntries(said.filter((each): each is [string, number] => each[1] !== undefined))
  }

  /** Every amount by the name of its unit, those of 0 too; slots have no part in it. */
  named(amounts: readonly number[]): ModelCosts {
    return Object.fromEntries(this.schema.units.map((unit, at) => [unit, amounts[at] ?? 0]))
  }

  /** The names of all cells, those of slots too. */
  names({ subject, category, layers }: Where): string[] {
    return layers.flatMap((index) => {
      const layer = this.schema.layers[index]
      if (layer === undefined) return []
      const row = [layer.name, this.schema.categories[category], layerKey(layer, subject)]
      return this.schema.cells.map(({ identity }) => JSON.stringify([...row, identity]))
    })
  }

  /** The windows in the order of a state; `undefined` where the clock is in none of their periods. */
  windows(where: Where): ModelLimit[] | undefined {
    const { layout } = this
    const names = this.names(where)
    const windows = where.layers.flatMap((_, slot) =>
      this.spans(where, slot).map((span, window): ModelLimit | undefined => {
        const at = layout.limitAt(slot, window)
        const unit = this.schema.units[layout.units[window] ?? 0] ?? ''
        return span && { name: names[at] ?? '', span, unit, limit: where.limits?.[at] ?? Number.POSITIVE_INFINITY }
      }),
    )
    return windows.every((window) => window !== undefined) ? windows : undefined
  }

  slots(where: Where): { name: string; limit: number }[] {
    const { layout } = this
    const names = this.names(where)
    return where.layers.flatMap((_, slot) => {
      const at = layout.limitAt(slot, layout.width)
      return layout.hasSlots ? [{ name: names[at] ?? '', limit: where.limits?.[at] ?? Number.POSITIVE_INFINITY }] : []
    })
  }

  spans({ periods, rates }: Where, slot: number): (ModelSpan | undefined)[] {
    const { layout } = this
    return layout.lengthsMs.map((lengthMs, window) => {
      const calendar = layout.calendars.indexOf(window)
      const perMs = layout.persMs[window] ?? 0
      if (perMs > 0) return { perMs, rate: rates?.[layout.limitAt(slot, window)] ?? 0 }
      if (calendar < 0) return { lengthMs }
      const period = periodAt(this.now, periods, layout.periodsAt(slot) + 3 * calendar)
      return period && { periodStart: period.start, periodEnd: period.end }
    })
  }

  view(where: Where): number[] {
    const state: number[] = []
    const { layout } = this
    for (const [at, { name, span }] of (this.windows(where) ?? []).entries()) {
      const cell = layout.cellAt(Math.floor(at / layout.width), at % layout.width)
      const { startedAt, charged } = this.model.windows.open(name, span) ?? { startedAt: -1, charged: 0 }
      state.splice(cell, 2, startedAt, charged)
      const isLast = at % layout.width === layout.width - 1
      if (layout.hasSlots && isLast) state.push(...this.viewSlots(where, Math.floor(at / layout.width)))
    }
    return state
  }

  viewSlots(where: Where, slot: number): [number, number] {
    const name = this.names(where)[this.layout.limitAt(slot, this.layout.width)] ?? ''
    const slots = this.model.state.slots[name]
    return slots === undefined || slots.length === 0 ? [-1, 0] : [0, slots.length]
  }
}

/** What a record has, as lists and sweeps name it: without zeros, with the slot. */
function costsOf({ costs, hold }: ModelRecord): Amounts {
  const slots = hold !== null && hold.slots.length > 0 ? 1 : 0
  return Object.fromEntries(Object.entries({ ...costs, slots }).filter(([, amount]) => amount > 0))
}

function ended(name: string, record: ModelRecord, endsAt: number): EndedHold {
  const [category, owner] = JSON.parse(name) as [string, string]
  return { category, owner, fingerprint: record.use, costs: costsOf(record), endsAt }
}
