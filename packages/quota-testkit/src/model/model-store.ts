import type { Clock } from '@scoregw/quota'
import type {
  CellSchema,
  EndedHold,
  ExtendRequest,
  GrowRequest,
  HoldRecord,
  HoldRef,
  HoldReply,
  LayerSchema,
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
import { type ModelCosts, ModelCounters, type ModelId, type ModelLimit, type ModelRecord } from './model-counters.ts'
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

/** A limit of a schema, by its position. */
interface Place {
  readonly at: number
  readonly layer: LayerSchema
  readonly cell: CellSchema
  /** What it counts; slots have no unit. */
  readonly unit: string
  /** Which of the schema's calendar windows it is. */
  readonly calendar: number
}

/** A window of a request, at its position. */
export interface PlacedWindow extends ModelLimit {
  readonly at: number
}

/** Slots of a request, at their position. */
export interface PlacedSlots {
  readonly at: number
  readonly name: string
  readonly limit: number
}

/** Whose ids and holds: the member of the subject that has its key, and the key. */
interface Owner {
  readonly by: string
  readonly key: string
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
  readonly model: ModelCounters
  /** The limits by position: of one layer after the other. */
  readonly places: readonly Place[]
  readonly #ended: EndedHold[] = []

  constructor(schema: StoreSchema, model: ModelCounters) {
    this.schema = schema
    this.model = model
    const all = schema.layers.flatMap((layer) => layer.cells.map((cell) => ({ layer, cell })))
    this.places = all.map(({ layer, cell }, at) => ({
      at,
      layer,
      cell,
      unit: schema.units[cell.unit] ?? '',
      calendar: all.slice(0, at).filter((before) => before.cell.kind === 'calendar').length,
    }))
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
    for (const { at, cell } of this.counted(request))
      this.model.windows.refund(this.name(request.subject, at), states[2 * at] ?? -1, refunds[cell.unit] ?? 0)
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
    const amounts = (costs: ModelCosts = {}): number[] => this.schema.units.map((unit) => costs[unit] ?? 0)
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
      const charged = this.places.flatMap(({ at, layer }) => {
        const isOwners = !layer.shared && memberOf(layer) === by
        const charge = isOwners ? record.charged[this.name(subject, at)] : undefined
        return charge === undefined ? [-1, 0] : [charge.startedAt, charge.amount]
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

  /** The limits that count a request, slots too. */
  counted({ set, layers }: Where): Place[] {
    const counts = (at: number): boolean => this.schema.sets[set]?.includes(at) === true
    return this.places.filter(({ at, layer }) => counts(at) && layers.includes(this.schema.layers.indexOf(layer)))
  }

  name(subject: SubjectKeys, at: number): string {
    const { layer, cell } = this.places[at] ?? {}
    return JSON.stringify([layer?.name, layer && keyOf(layer, subject), cell?.identity])
  }

  /** The names of the limits that count, slots too. */
  names(where: Where): string[] {
    return this.counted(where).map(({ at }) => this.name(where.subject, at))
  }

  /** The windows that count; `undefined` where the clock is in none of their periods. */
  windows(where: Where): PlacedWindow[] | undefined {
    const windows: PlacedWindow[] = []
    for (const { at, cell, unit } of this.counted(where)) {
      if (cell.kind === 'concurrency') continue
      const span = this.span(where, at)
      if (span === undefined) return undefined
      windows.push({ at, name: this.name(where.subject, at), span, unit, limit: limitAt(where, at) })
    }
    return windows
  }

  slots(where: Where): PlacedSlots[] {
    const slots = this.counted(where).filter(({ cell }) => cell.kind === 'concurrency')
    return slots.map(({ at }) => ({ at, name: this.name(where.subject, at), limit: limitAt(where, at) }))
  }

  span({ periods = [], rates }: Where, at: number): ModelSpan | undefined {
    const { cell, calendar = 0 } = this.places[at] ?? {}
    const lengthMs = cell?.lengthMs ?? 0
    // A bucket has ended after two lengths.
    if (cell?.kind === 'bucket') return { perMs: lengthMs / 2, rate: rates?.[at] ?? 0 }
    if (cell?.kind !== 'calendar') return { lengthMs }
    const { now } = this
    const [start = 0, end = 0, nextEnd = 0] = periods.slice(3 * calendar)
    if (now < start || now >= nextEnd) return undefined
    return now < end ? { periodStart: start, periodEnd: end } : { periodStart: end, periodEnd: nextEnd }
  }

  view(where: Where): number[] {
    const states = this.places.flatMap(() => [-1, 0])
    for (const { at, name, span } of this.windows(where) ?? []) {
      const open = this.model.windows.open(name, span)
      if (open !== undefined) states.splice(2 * at, 2, open.startedAt, open.charged)
    }
    for (const { at, name } of this.slots(where)) {
      const taken = this.model.slotsTaken(name)
      if (taken > 0) states.splice(2 * at, 2, 0, taken)
    }
    return states
  }
}

function limitAt({ limits }: Where, at: number): number {
  return limits?.[at] ?? Number.POSITIVE_INFINITY
}

/** The member of a subject that is its key in a layer. */
function memberOf({ name, by = name }: LayerSchema): string {
  return by
}

/** A subject's key in a layer; `null`: it has none there. */
function keyOf(layer: LayerSchema, subject: SubjectKeys): string | null {
  if (layer.shared) return ''
  return typeof subject === 'string' ? subject : (subject[memberOf(layer)] ?? null)
}

/** The owner of a subject's ids and holds: its key in the first layer that isn't shared and in which it has one. */
function ownerOf({ layers }: StoreSchema, subject: SubjectKeys): Owner {
  const owners = layers.flatMap((layer) => {
    const key = layer.shared ? null : keyOf(layer, subject)
    return key === null ? [] : [{ by: memberOf(layer), key }]
  })
  const [first] = owners
  if (first === undefined) throw new RangeError('the subject has no key of its own')
  return first
}

/** What a record has, as lists and sweeps name it: without zeros, with the slot. */
function costsOf({ costs, hold }: ModelRecord): ModelCosts {
  const slots = hold !== null && hold.slots.length > 0 ? 1 : 0
  return Object.fromEntries(Object.entries({ ...costs, slots }).filter(([, amount]) => amount > 0))
}

function ended(name: string, record: ModelRecord, endsAt: number): EndedHold {
  const [{ key: owner }] = JSON.parse(name) as [Owner]
  return { owner, fingerprint: record.use, costs: costsOf(record), endsAt }
}
