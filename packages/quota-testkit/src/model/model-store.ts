import type { Clock } from '@scoregw/quota'
import {
  type Amounts,
  amountsIn,
  keyName,
  Layout,
  layerKey,
  type Owner,
  ownerOf,
  periodAt,
} from '@scoregw/quota/internal'
import type {
  EndedHold,
  ExtendRequest,
  GrowRequest,
  HoldRecord,
  HoldRef,
  HoldReply,
  ListHoldsReply,
  ReadReply,
  ReadRequest,
  ResetRequest,
  SettleHoldReply,
  SettleHoldRequest,
  SettleRequest,
  StoreAbilities,
  StoreSchema,
  SubjectKeys,
  SyncCounters,
  SyncHolds,
  SyncStore,
  TakeReply,
  TakeRequest,
} from '@scoregw/quota/store'
import { ModelCounters, type ModelId, type ModelLimit } from './model-counters.ts'
import type { ModelCosts, ModelRecord } from './model-records.ts'
import type { ModelSpan } from './model-windows.ts'

/** Which limits of which layers, and where the request has their numbers. */
export interface Where {
  readonly subject: SubjectKeys
  readonly set: number
  readonly layers: readonly number[]
  readonly limits?: readonly number[] | undefined
  readonly rates?: readonly number[] | undefined
  readonly periods?: readonly number[] | undefined
}

/** What ids were answered with, for those who ask again. */
const answers = new WeakMap<ModelRecord, readonly number[]>()

const ABILITIES: StoreAbilities = {
  calendar: true,
  bucket: true,
  holds: true,
  concurrency: 'all',
  fit: true,
  sets: true,
}

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
    this.layout = new Layout(schema)
    this.model = model
  }

  get now(): number {
    return this.model.clock.now()
  }

  take(request: TakeRequest): TakeReply {
    const { now } = this
    this.end()
    const { subject, set, quotas, costs, hold } = request
    const where = { subject, set, ...quotas, periods: request.periods }
    const windows = this.windows(where)
    if (windows === undefined) return { outcome: 'stale', now, states: [] }
    const id = request.id && this.id(request, request.id)
    const terms = hold && {
      ...hold,
      owner: this.owner(subject),
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

  read(where: ReadRequest): ReadReply {
    const { now } = this
    this.end()
    const isStale = this.windows(where) === undefined
    return isStale ? { now, states: [], isStale } : { now, states: this.view(where) }
  }

  settle(request: SettleRequest): void {
    this.end()
    const { states, refunds, as, id } = request
    if (id && !this.model.settleId(this.id(request, id), as)) return
    for (const at of this.positions(request)) {
      const amount = refunds[this.layout.units[at] ?? 0] ?? 0
      this.model.windows.refund(this.name(request.subject, at), states[2 * at] ?? -1, amount)
    }
  }

  reset({ subject, limits }: ResetRequest): void {
    this.end()
    for (const at of limits) this.model.windows.close(this.name(subject, at))
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

  list(subject: SubjectKeys): ListHoldsReply {
    this.end()
    const { by } = ownerOf(this.schema, subject)
    const holds = this.model.open(this.owner(subject)).map(([name, record, endsAt]): HoldRecord => {
      const [, id] = JSON.parse(name) as [Owner, string]
      const charged = this.layout.layerOf.flatMap((index, at) => {
        const layer = this.schema.layers[index]
        const isOwners = layer !== undefined && !layer.shared && keyName(layer) === by
        const { startedAt, amount } = (isOwners && record.charged[this.name(subject, at)]) || {
          startedAt: -1,
          amount: 0,
        }
        return [startedAt, amount]
      })
      const { holder: nonce, use: fingerprint } = record
      const takenAt = record.hold?.takenAt ?? 0
      return { id, nonce, fingerprint, costs: costsOf(record), takenAt, endsAt, charged }
    })
    return { holds }
  }

  /** Ends holds that are past their end, and remembers them for the next sweep. */
  end(): void {
    const due = this.model.open().filter(([, , endsAt]) => this.now >= endsAt)
    this.model.sweep()
    for (const [name, record, endsAt] of due) this.#ended.push(ended(name, record, endsAt))
  }

  owner(subject: SubjectKeys): string {
    return JSON.stringify(ownerOf(this.schema, subject))
  }

  id({ subject }: Pick<HoldRef, 'subject'>, { id, nonce, fingerprint, ttlMs }: HoldRef['id']): ModelId {
    const name = JSON.stringify([ownerOf(this.schema, subject), id])
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

  /** The positions of the limits that count, those of slots too. */
  positions({ set, layers }: Where): number[] {
    return layers.flatMap((layer) => this.layout.counted[set]?.[layer] ?? [])
  }

  name(subject: SubjectKeys, at: number): string {
    const layer = this.schema.layers[this.layout.layerOf[at] ?? -1]
    return JSON.stringify([layer?.name, layer && layerKey(layer, subject), this.layout.cells[at]?.identity])
  }

  /** The names of the limits that count, those of slots too. */
  names(where: Where): string[] {
    return this.positions(where).map((at) => this.name(where.subject, at))
  }

  isSlots(at: number): boolean {
    return this.layout.cells[at]?.kind === 'concurrency'
  }

  /** The positions of the windows that count. */
  windowsAt(where: Where): number[] {
    return this.positions(where).filter((at) => !this.isSlots(at))
  }

  /** The windows that count; `undefined` where the clock is in none of their periods. */
  windows(where: Where): ModelLimit[] | undefined {
    const windows = this.windowsAt(where).map((at): ModelLimit | undefined => {
      const span = this.span(where, at)
      const unit = this.schema.units[this.layout.units[at] ?? 0] ?? ''
      const limit = where.limits?.[at] ?? Number.POSITIVE_INFINITY
      return span && { name: this.name(where.subject, at), span, unit, limit }
    })
    return windows.every((window) => window !== undefined) ? windows : undefined
  }

  slots(where: Where): { name: string; limit: number }[] {
    return this.positions(where).flatMap((at) => {
      const limit = where.limits?.[at] ?? Number.POSITIVE_INFINITY
      return this.isSlots(at) ? [{ name: this.name(where.subject, at), limit }] : []
    })
  }

  span({ periods, rates }: Where, at: number): ModelSpan | undefined {
    const { layout } = this
    const { kind, lengthMs } = layout.cells[at] ?? { kind: 'rolling', lengthMs: 0 }
    if (kind === 'bucket') return { perMs: layout.cellAt(at).perMs, rate: rates?.[at] ?? 0 }
    if (kind !== 'calendar') return { lengthMs }
    const period = periodAt(this.now, periods, layout.periodsAt(at))
    return period && { periodStart: period.start, periodEnd: period.end }
  }

  view(where: Where): number[] {
    const state = [...this.layout.blank]
    for (const [index, { name, span }] of (this.windows(where) ?? []).entries()) {
      const { startedAt, charged } = this.model.windows.open(name, span) ?? { startedAt: -1, charged: 0 }
      state.splice(2 * (this.windowsAt(where)[index] ?? 0), 2, startedAt, charged)
    }
    for (const at of this.positions(where)) {
      const taken = this.isSlots(at) ? this.model.slotsTaken(this.name(where.subject, at)) : 0
      if (taken > 0) state.splice(2 * at, 2, 0, taken)
    }
    return state
  }
}

/** What a record has, as lists and sweeps name it: without zeros, with the slot. */
function costsOf({ costs, hold }: ModelRecord): Amounts {
  const slots = hold !== null && hold.slots.length > 0 ? 1 : 0
  return Object.fromEntries(Object.entries({ ...costs, slots }).filter(([, amount]) => amount > 0))
}

function ended(name: string, record: ModelRecord, endsAt: number): EndedHold {
  const [{ key: owner }] = JSON.parse(name) as [Owner]
  return { owner, fingerprint: record.use, costs: costsOf(record), endsAt }
}
