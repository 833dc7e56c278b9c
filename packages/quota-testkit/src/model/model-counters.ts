import type { Clock } from '@scoregw/quota'
import { type ModelSpan, type ModelWindow, ModelWindows } from './model-windows.ts'

/** Amounts by unit. */
export type ModelCosts = Readonly<Record<string, number>>

/** Where a part of a hold was charged: a window by its name and start. */
export interface ModelCharge {
  readonly startedAt: number
  readonly amount: number
  readonly unit: string
}

/** The result of a commit. A repeat returns it again. */
export interface ModelSettlement {
  readonly charged: ModelCosts
  readonly uncharged: ModelCosts
  readonly reserved: ModelCosts
}

/** The record of an id, as plain data. */
export interface ModelRecord {
  state: 'reserved' | 'committed' | 'cancelled' | 'expired'
  /** Who reserved with it. */
  readonly holder: string
  /** The use of the id. Another use is a conflict. */
  readonly use: string
  /** How long it is remembered after its last use, in milliseconds. */
  readonly ttlMs: number
  /** `null`: until its hold ends. */
  keptUntil: number | null
  /** Its current amounts, without refunds. */
  costs: ModelCosts
  /** By window: what was charged to its latest opening. */
  charged: Record<string, ModelCharge>
  /** Present for a hold. */
  hold: ModelHoldPart | null
  settlement: ModelSettlement | null
}

/** The part of a record that only holds have. */
interface ModelHoldPart {
  /** Whose hold: the first layer that isn't shared, and the subject's key there. */
  readonly owner: string
  readonly takenAt: number
  endsAt: number
  /** The names of its slots. */
  readonly slots: readonly string[]
}

/** The whole state of a counter model, as plain data. */
export interface ModelState {
  readonly windows: Record<string, ModelWindow>
  /** The ids that have slots, by name. */
  readonly slots: Record<string, readonly string[]>
  readonly records: Record<string, ModelRecord>
}

/** Copies state. For so little data, this is much faster than a structured clone. */
export function copyOf(state: ModelState): ModelState {
  return JSON.parse(JSON.stringify(state)) as ModelState
}

/** A window that decides a request. */
export interface ModelLimit {
  readonly name: string
  readonly span: ModelSpan
  /** The unit that it counts. */
  readonly unit: string
  /** `Infinity`: unlimited. */
  readonly limit: number
}

/** An id and its holder. */
export interface ModelId {
  /** The full name of the id. */
  readonly name: string
  readonly holder: string
  readonly use: string
  readonly ttlMs: number
}

/** The hold part of a reservation. */
export interface ModelHold {
  readonly owner: string
  readonly ttlMs: number
  readonly maxHolds: number
  /** The slots to take, and how many exist of each. */
  readonly slots: readonly { readonly name: string; readonly limit: number }[]
}

export interface ModelTake {
  /** Amounts by unit. Units that are missing cost nothing. */
  readonly costs: ModelCosts
  readonly windows: readonly ModelLimit[]
  readonly id?: ModelId | undefined
  readonly hold?: ModelHold | undefined
}

export interface ModelTaken {
  readonly outcome: 'admitted' | 'refused' | 'duplicate' | 'cancelled' | 'conflict' | 'expired' | 'too_many_holds'
  /** Where the tokens were charged. Present for admissions, repeats included. */
  readonly charged: Readonly<Record<string, ModelCharge>>
  readonly endsAt?: number | undefined
}

export interface ModelSettle {
  readonly as: 'committed' | 'cancelled'
  /** The actual cost. Units that are missing keep what the hold has. */
  readonly actual: ModelCosts
  readonly overrun: 'refuse' | 'charge' | 'fit'
  readonly maxOverrun: ModelCosts
  /** Windows for the additional charge. */
  readonly windows: readonly ModelLimit[]
}

export type ModelSettled = Partial<ModelSettlement> & {
  readonly outcome: 'settled' | 'above' | 'expired' | 'cancelled' | 'unknown'
  /** The charge of the commit above the hold. Only the commit that settled has it. */
  readonly added?: ModelCosts
}

export interface ModelMoved {
  readonly outcome: 'held' | 'refused' | 'expired' | 'settled' | 'unknown'
  readonly endsAt?: number | undefined
}

type OpenHold = ModelRecord & { readonly hold: ModelHoldPart }

const NOTHING: ModelSettlement = { charged: {}, uncharged: {}, reserved: {} }

/** Windows, slots, ids and holds by name. Each call is one atomic step, written as plainly as possible. */
export class ModelCounters {
  readonly clock: Clock
  readonly state: ModelState
  readonly windows: ModelWindows

  constructor(clock: Clock, state: ModelState = { windows: {}, slots: {}, records: {} }) {
    this.clock = clock
    this.state = state
    this.windows = new ModelWindows(clock, state.windows)
  }

  take(request: ModelTake): ModelTaken {
    const { costs, windows, id, hold } = request
    const known = id && this.#record(id.name)
    if (id && known) return this.#repeated(known, id)
    if (hold && this.open(hold.owner).length >= hold.maxHolds) return { outcome: 'too_many_holds', charged: {} }
    const slots = hold?.slots ?? []
    const hasSlots = slots.every(({ name, limit }) => this.slotsTaken(name) + 1 <= limit)
    if (!hasSlots || !this.fits(windows, costs)) {
      this.#moveToThePresent(windows, costs)
      return { outcome: 'refused', charged: {} }
    }
    const charged = this.#charge(windows, costs)
    if (id) this.#remember(id, costs, charged, hold)
    return { outcome: 'admitted', charged, endsAt: hold && this.clock.now() + hold.ttlMs }
  }

  /** Whether each window has room for the demand in its unit. A cost of 0 always fits. */
  fits(windows: readonly ModelLimit[], costs: ModelCosts): boolean {
    return Object.entries(costs).every(([unit, cost]) => cost === 0 || this.room(windows, unit) >= cost)
  }

  /** The room that all windows of a unit have. */
  room(windows: readonly ModelLimit[], of: string): number {
    const ofUnit = windows.filter(({ unit }) => unit === of)
    return Math.min(...ofUnit.map(({ name, span, limit }) => limit - (this.windows.open(name, span)?.used ?? 0)))
  }

  slotsTaken(name: string): number {
    return this.state.slots[name]?.length ?? 0
  }

  extend(id: ModelId, ttlMs: number): ModelMoved {
    const known = this.#ofHolder(id)
    if (typeof known === 'string') return { outcome: known }
    known.hold.endsAt = Math.max(known.hold.endsAt, this.clock.now() + ttlMs)
    return { outcome: 'held', endsAt: known.hold.endsAt }
  }

  grow(id: ModelId, costs: ModelCosts, windows: readonly ModelLimit[]): ModelMoved {
    const known = this.#ofHolder(id)
    if (typeof known === 'string') return { outcome: known }
    if (!this.fits(windows, costs)) {
      this.#moveToThePresent(windows, costs)
      return { outcome: 'refused' }
    }
    const grown = eachUnit([known.costs, costs], (unit) => (known.costs[unit] ?? 0) + (costs[unit] ?? 0))
    if (Object.values(grown).some((amount) => amount > Number.MAX_SAFE_INTEGER)) return { outcome: 'refused' }
    for (const [name, more] of Object.entries(this.#charge(windows, costs))) {
      const before = known.charged[name]
      const isSame = before?.startedAt === more.startedAt
      known.charged[name] = isSame ? { ...more, amount: before.amount + more.amount } : more
    }
    known.costs = grown
    return { outcome: 'held', endsAt: known.hold.endsAt }
  }

  /** Settles a hold for its holder. */
  settleHold(id: ModelId, request: ModelSettle): ModelSettled {
    const known = this.#record(id.name)
    if (known === undefined && request.as === 'cancelled') this.#mark(id)
    // An id that was cancelled before anything was held under it is no hold.
    if (known?.holder !== id.holder || !isHold(known)) return { outcome: 'unknown' }
    return request.as === 'cancelled' ? this.#cancelled(id.name, known) : this.#commit(id.name, known, request)
  }

  /**
   * Ends a reservation with an id that isn't a hold. Returns whether its tokens are refunded: only to its holder, once.
   */
  settleId(id: ModelId, as: 'committed' | 'cancelled'): boolean {
    const known = this.#record(id.name)
    if (known === undefined && as === 'cancelled') this.#mark(id)
    if (known?.state !== 'reserved' || known.holder !== id.holder) return false
    known.state = as
    known.keptUntil = this.clock.now() + known.ttlMs
    return true
  }

  /** Ends each expired hold. Returns how many there were. */
  sweep(): number {
    const due = Object.entries(this.state.records).filter(([, record]) => this.#isDue(record))
    for (const [name, record] of due) this.#end(name, record, 'expired', null)
    return due.length
  }

  /** The open holds of an owner with the names of their ids, by expiry. */
  open(owner?: string): (readonly [name: string, record: ModelRecord, endsAt: number])[] {
    return Object.entries(this.state.records)
      .flatMap(([name, record]) => {
        const { state, hold } = record
        const isTheirs = hold !== null && (owner === undefined || hold.owner === owner)
        return isTheirs && state === 'reserved' ? [[name, record, hold.endsAt] as const] : []
      })
      .sort(([, , one], [, , other]) => one - other)
  }

  /** When ids without an open hold are forgotten. */
  forgets(): number[] {
    return Object.values(this.state.records).flatMap(({ keptUntil }) => (keptUntil === null ? [] : [keptUntil]))
  }

  #repeated(known: ModelRecord, id: ModelId): ModelTaken {
    const nothing = { charged: {} }
    if (known.use !== id.use) return { outcome: 'conflict', ...nothing }
    if (known.state === 'cancelled') return { outcome: 'cancelled', ...nothing }
    if (known.holder !== id.holder) return { outcome: 'duplicate', ...nothing }
    if (known.state === 'expired') return { outcome: 'expired', ...nothing }
    return { outcome: 'admitted', charged: known.charged, endsAt: known.hold?.endsAt }
  }

  /** The hold, if it is open and belongs to the holder; otherwise the reason why not. */
  #ofHolder(id: ModelId): OpenHold | 'expired' | 'settled' | 'unknown' {
    const known = this.#record(id.name)
    if (known === undefined || known.holder !== id.holder || !isHold(known)) return 'unknown'
    if (known.state === 'expired') return 'expired'
    return known.state === 'reserved' ? known : 'settled'
  }

  #charge(windows: readonly ModelLimit[], costs: ModelCosts): Record<string, ModelCharge> {
    const charges: Record<string, ModelCharge> = {}
    for (const { name, span, unit } of windows) {
      const amount = costs[unit] ?? 0
      if (amount > 0) charges[name] = { startedAt: this.windows.charge(name, span, amount), amount, unit }
    }
    return charges
  }

  #moveToThePresent(windows: readonly ModelLimit[], costs: ModelCosts): void {
    for (const { name, unit } of windows) if ((costs[unit] ?? 0) > 0) this.windows.moveToThePresent(name)
  }

  #remember(id: ModelId, costs: ModelCosts, charged: Record<string, ModelCharge>, hold: ModelHold | undefined): void {
    const now = this.clock.now()
    const slots = hold?.slots.map(({ name }) => name) ?? []
    for (const name of slots) this.state.slots[name] = [...(this.state.slots[name] ?? []), id.name]
    this.state.records[id.name] = {
      state: 'reserved',
      holder: id.holder,
      use: id.use,
      ttlMs: id.ttlMs,
      keptUntil: hold ? null : now + id.ttlMs,
      costs,
      charged,
      hold: hold ? { owner: hold.owner, takenAt: now, endsAt: now + hold.ttlMs, slots } : null,
      settlement: null,
    }
  }

  /** Marks an id as cancelled that was never reserved. */
  #mark(id: ModelId): void {
    this.#remember(id, {}, {}, undefined)
    this.settleId(id, 'cancelled')
  }

  #cancelled(name: string, known: ModelRecord): ModelSettled {
    if (known.state === 'reserved') this.#end(name, known, 'cancelled', { ...NOTHING, reserved: known.costs })
    return { outcome: 'settled', ...known.settlement }
  }

  #commit(name: string, known: ModelRecord, request: ModelSettle): ModelSettled {
    const { actual, overrun, maxOverrun, windows } = request
    if (known.state === 'cancelled') return { outcome: 'cancelled' }
    if (known.state === 'committed') return { outcome: 'settled', ...known.settlement }
    const isLate = known.state === 'expired'
    if (isLate && overrun !== 'charge') return { outcome: 'expired' }
    const reserved = known.costs
    const units = [reserved, actual]
    const wanted = eachUnit(units, (unit) => actual[unit] ?? reserved[unit] ?? 0)
    const above = eachUnit(units, (unit) => Math.max(0, (wanted[unit] ?? 0) - (reserved[unit] ?? 0)))
    if (!isLate && overrun === 'refuse' && isAny(above)) return { outcome: 'above' }
    const within = eachUnit(units, (unit) => (isLate ? 0 : Math.min(wanted[unit] ?? 0, reserved[unit] ?? 0)))
    const added = eachUnit(units, (unit) => {
      const most = (isLate ? (reserved[unit] ?? 0) : 0) + (maxOverrun[unit] ?? 0)
      const more = Math.min((wanted[unit] ?? 0) - (within[unit] ?? 0), most)
      return overrun === 'fit' ? Math.max(0, Math.min(more, this.room(windows, unit))) : more
    })
    const charged = eachUnit(units, (unit) => (within[unit] ?? 0) + (added[unit] ?? 0))
    const uncharged = eachUnit(units, (unit) => (wanted[unit] ?? 0) - (charged[unit] ?? 0))
    const settlement = { charged, uncharged, reserved }
    this.#charge(windows, added)
    if (isLate) this.#close(known, 'committed', settlement)
    else this.#end(name, known, 'committed', settlement, (unit) => (reserved[unit] ?? 0) - (within[unit] ?? 0))
    return { outcome: 'settled', ...settlement, added }
  }

  /** Ends a hold: refunds at most these amounts by unit, and frees its slots. */
  #end(
    name: string,
    record: ModelRecord,
    state: ModelRecord['state'],
    settlement: ModelSettlement | null,
    most: (unit: string) => number = () => Number.POSITIVE_INFINITY,
  ): void {
    for (const [window, { startedAt, amount, unit }] of Object.entries(record.charged))
      this.windows.refund(window, startedAt, Math.min(most(unit), amount))
    for (const slot of record.hold?.slots ?? [])
      this.state.slots[slot] = (this.state.slots[slot] ?? []).filter((each) => each !== name)
    this.#close(record, state, settlement)
  }

  #close(record: ModelRecord, state: ModelRecord['state'], settlement: ModelSettlement | null): void {
    record.state = state
    record.settlement = settlement
    record.keptUntil = this.clock.now() + record.ttlMs
  }

  #isDue({ state, hold }: ModelRecord): boolean {
    return hold !== null && state === 'reserved' && this.clock.now() >= hold.endsAt
  }

  /** The record of an id. An expired hold is ended first. */
  #record(name: string): ModelRecord | undefined {
    const record = this.state.records[name]
    if (record === undefined) return undefined
    if (this.#isDue(record)) this.#end(name, record, 'expired', null)
    return record.keptUntil === null || this.clock.now() < record.keptUntil ? record : undefined
  }
}

function isHold(record: ModelRecord): record is OpenHold {
  return record.hold !== null
}

/** Computes an amount for each unit that occurs. */
function eachUnit(all: readonly ModelCosts[], amount: (unit: string) => number): ModelCosts {
  const units = new Set(all.flatMap((costs) => Object.keys(costs)))
  return Object.fromEntries([...units].map((unit) => [unit, amount(unit)]))
}

function isAny(costs: ModelCosts): boolean {
  return Object.values(costs).some((amount) => amount > 0)
}
