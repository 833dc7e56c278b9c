import type { Clock } from '@scoregw/quota'
import type { ModelCharge, ModelHoldPart, ModelRecord, ModelSettlement } from './model-records.ts'
import { type ModelSpan, type ModelWindow, ModelWindows } from './model-windows.ts'

/** Everything that a model of counters knows. Plain data. */
export interface ModelState {
  readonly windows: Record<string, ModelWindow>
  /** Who has the slots of a name: ids. */
  readonly slots: Record<string, readonly string[]>
  readonly records: Record<string, ModelRecord>
}

/** Plain data once more: much faster for so little than a structured clone. */
export function copyOf(state: ModelState): ModelState {
  return JSON.parse(JSON.stringify(state)) as ModelState
}

/** A window that a request is judged by. */
export interface ModelLimit {
  readonly name: string
  readonly span: ModelSpan
  /** Tokens; `Infinity`: unlimited. */
  readonly limit: number
}

/** An id in somebody's hands. */
export interface ModelId {
  /** The id, with all that it belongs to. */
  readonly name: string
  readonly holder: string
  readonly use: string
  readonly ttlMs: number
}

/** What makes a reservation a hold. */
export interface ModelTerms {
  readonly owner: string
  readonly ttlMs: number
  readonly maxHolds: number
  /** The slots that it takes, and how many of each there are. */
  readonly slots: readonly { readonly name: string; readonly limit: number }[]
}

export interface ModelTake {
  readonly cost: number
  readonly windows: readonly ModelLimit[]
  readonly id?: ModelId | undefined
  readonly hold?: ModelTerms | undefined
}

export interface ModelTaken {
  readonly outcome: 'admitted' | 'refused' | 'duplicate' | 'cancelled' | 'conflict' | 'expired' | 'too_many_holds'
  /** Of an admission, also of one that is answered again: where the tokens are. */
  readonly charged: Readonly<Record<string, ModelCharge>>
  readonly endsAt?: number | undefined
}

export interface ModelSettle {
  readonly as: 'committed' | 'cancelled'
  readonly actual?: number | undefined
  readonly overrun: 'refuse' | 'charge' | 'fit'
  readonly maxOverrun: number
  /** Where what is charged in addition goes. */
  readonly windows: readonly ModelLimit[]
}

export type ModelSettled = Partial<ModelSettlement> & {
  readonly outcome: 'settled' | 'above' | 'expired' | 'cancelled' | 'unknown'
  /** Of the commit that settled: what it charged beside the hold's tokens. */
  readonly added?: number
}

export interface ModelMoved {
  readonly outcome: 'held' | 'refused' | 'expired' | 'settled' | 'unknown'
  readonly endsAt?: number | undefined
}

type OpenHold = ModelRecord & { readonly hold: ModelHoldPart }

const NOTHING: ModelSettlement = { charged: 0, uncharged: 0, reserved: 0 }

/** Windows, slots, ids and holds by their names: one atomic step a call, written as plainly as possible. */
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
    const { cost, windows, id, hold } = request
    const known = id && this.#look(id.name)
    if (id && known) return this.#repeated(known, id)
    if (hold && this.open(hold.owner).length >= hold.maxHolds) return { outcome: 'too_many_holds', charged: {} }
    const slots = hold?.slots ?? []
    const hasSlots = slots.every(({ name, limit }) => this.slotsTaken(name) + 1 <= limit)
    if (!hasSlots || !this.fits(windows, cost)) {
      if (cost > 0) this.#moveToThePresent(windows)
      return { outcome: 'refused', charged: {} }
    }
    const charged = this.#charge(windows, cost)
    if (id) this.#remember(id, cost, charged, hold)
    return { outcome: 'admitted', charged, endsAt: hold && this.clock.now() + hold.ttlMs }
  }

  /** Whether every window has room. What costs nothing always has. */
  fits(windows: readonly ModelLimit[], cost: number): boolean {
    return cost === 0 || this.room(windows) >= cost
  }

  /** Tokens that every window has room for. */
  room(windows: readonly ModelLimit[]): number {
    return Math.min(...windows.map(({ name, span, limit }) => limit - (this.windows.look(name, span)?.used ?? 0)))
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

  grow(id: ModelId, tokens: number, windows: readonly ModelLimit[]): ModelMoved {
    const known = this.#ofHolder(id)
    if (typeof known === 'string') return { outcome: known }
    if (!this.fits(windows, tokens)) {
      this.#moveToThePresent(windows)
      return { outcome: 'refused' }
    }
    for (const [name, more] of Object.entries(this.#charge(windows, tokens))) {
      const before = known.charged[name]
      const isSame = before?.startedAt === more.startedAt
      known.charged[name] = isSame ? { ...more, tokens: before.tokens + tokens } : more
    }
    known.tokens += tokens
    return { outcome: 'held', endsAt: known.hold.endsAt }
  }

  /** The end of a hold by its holder. */
  settleHold(id: ModelId, request: ModelSettle): ModelSettled {
    const known = this.#look(id.name)
    if (known === undefined && request.as === 'cancelled') this.#mark(id)
    if (known === undefined || known.holder !== id.holder) return { outcome: 'unknown' }
    return request.as === 'cancelled' ? this.#cancelled(id.name, known) : this.#commit(id.name, known, request)
  }

  /** Ends a reservation under an id that is no hold; whether its tokens go back: only for its holder, and once. */
  settleId(id: ModelId, as: 'committed' | 'cancelled'): boolean {
    const known = this.#look(id.name)
    if (known === undefined && as === 'cancelled') this.#mark(id)
    if (known?.state !== 'reserved' || known.holder !== id.holder) return false
    known.state = as
    known.keptUntil = this.clock.now() + known.ttlMs
    return true
  }

  /** Ends every hold that is past its end; how many there were. */
  sweep(): number {
    const due = Object.entries(this.state.records).filter(([, record]) => this.#isDue(record))
    for (const [name, record] of due) this.#end(name, record, 'expired', null)
    return due.length
  }

  /** The open holds of an owner, the earliest end first, with the names of their ids. */
  open(owner?: string): (readonly [name: string, record: ModelRecord, endsAt: number])[] {
    return Object.entries(this.state.records)
      .flatMap(([name, record]) => {
        const { state, hold } = record
        const isTheirs = hold !== null && (owner === undefined || hold.owner === owner)
        return isTheirs && state === 'reserved' ? [[name, record, hold.endsAt] as const] : []
      })
      .sort(([, , one], [, , other]) => one - other)
  }

  /** Until when ids are remembered that nobody holds any more. */
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

  /** The hold if it is open and the holder's; else why nothing can be done with it. */
  #ofHolder(id: ModelId): OpenHold | 'expired' | 'settled' | 'unknown' {
    const known = this.#look(id.name)
    if (known === undefined || known.holder !== id.holder || !isHold(known)) return 'unknown'
    if (known.state === 'expired') return 'expired'
    return known.state === 'reserved' ? known : 'settled'
  }

  #charge(windows: readonly ModelLimit[], tokens: number): Record<string, ModelCharge> {
    if (tokens === 0) return {}
    const charges = windows.map(({ name, span }): [string, ModelCharge] => [
      name,
      { startedAt: this.windows.charge(name, span, tokens), tokens },
    ])
    return Object.fromEntries(charges)
  }

  #moveToThePresent(windows: readonly ModelLimit[]): void {
    for (const { name } of windows) this.windows.moveToThePresent(name)
  }

  #remember(id: ModelId, tokens: number, charged: Record<string, ModelCharge>, hold: ModelTerms | undefined): void {
    const now = this.clock.now()
    const slots = hold?.slots.map(({ name }) => name) ?? []
    for (const name of slots) this.state.slots[name] = [...(this.state.slots[name] ?? []), id.name]
    this.state.records[id.name] = {
      state: 'reserved',
      holder: id.holder,
      use: id.use,
      ttlMs: id.ttlMs,
      keptUntil: hold ? null : now + id.ttlMs,
      tokens,
      charged,
      hold: hold ? { owner: hold.owner, takenAt: now, endsAt: now + hold.ttlMs, slots } : null,
      settlement: null,
    }
  }

  /** An id that was cancelled before anybody reserved under it. */
  #mark(id: ModelId): void {
    this.#remember(id, 0, {}, undefined)
    this.settleId(id, 'cancelled')
  }

  #cancelled(name: string, known: ModelRecord): ModelSettled {
    if (known.state === 'reserved') this.#end(name, known, 'cancelled', { ...NOTHING, reserved: known.tokens })
    return { outcome: 'settled', ...known.settlement }
  }

  #commit(name: string, known: ModelRecord, { actual, overrun, maxOverrun, windows }: ModelSettle): ModelSettled {
    if (known.state === 'cancelled') return { outcome: 'cancelled' }
    if (known.state === 'committed') return { outcome: 'settled', ...known.settlement }
    const wanted = actual ?? known.tokens
    if (known.state === 'expired') {
      if (overrun !== 'charge') return { outcome: 'expired' }
      return this.#committed(name, known, windows, Math.min(wanted, known.tokens + maxOverrun), wanted)
    }
    if (wanted > known.tokens && overrun === 'refuse') return { outcome: 'above' }
    const more = Math.min(Math.max(0, wanted - known.tokens), maxOverrun)
    const fitting = overrun === 'fit' ? Math.max(0, Math.min(more, this.room(windows))) : more
    return this.#committed(name, known, windows, fitting, wanted)
  }

  /** A commit: more is charged than the hold had, or what is too much goes back. */
  #committed(
    name: string,
    known: ModelRecord,
    windows: readonly ModelLimit[],
    more: number,
    wanted: number,
  ): ModelSettled {
    const reserved = known.tokens
    const had = known.state === 'expired' ? 0 : reserved
    const charged = Math.min(wanted, had) + more
    const settlement = { charged, uncharged: wanted - charged, reserved }
    this.#charge(windows, more)
    if (had > 0 || known.state === 'reserved')
      this.#end(name, known, 'committed', settlement, Math.max(0, had - wanted))
    else this.#close(known, 'committed', settlement)
    return { outcome: 'settled', ...settlement, added: more }
  }

  /** Tokens go back, the slots are free. */
  #end(
    name: string,
    record: ModelRecord,
    state: ModelRecord['state'],
    settlement: ModelSettlement | null,
    giveBack = record.tokens,
  ): void {
    for (const [window, { startedAt, tokens }] of Object.entries(record.charged))
      this.windows.refund(window, startedAt, Math.min(giveBack, tokens))
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

  /** What is known of an id; a hold that is past its end is ended first. */
  #look(name: string): ModelRecord | undefined {
    const record = this.state.records[name]
    if (record === undefined) return undefined
    if (this.#isDue(record)) this.#end(name, record, 'expired', null)
    return record.keptUntil === null || this.clock.now() < record.keptUntil ? record : undefined
  }
}

function isHold(record: ModelRecord): record is OpenHold {
  return record.hold !== null
}
