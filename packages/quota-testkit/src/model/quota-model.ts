import type {
  Clock,
  Policy,
  QuotaStatus,
  ResetOptions,
  Settings,
  Subject,
  SubjectSettings,
  Violation,
} from '@scoregw/quota'
import {
  type CellsOf,
  enforcedSlots,
  enforcedWindows,
  keyOf,
  type ModelCalendar,
  type ModelCell,
  ModelCells,
  operationOf,
} from './model-cells.ts'
import { ModelCounters, type ModelId, type ModelTaken } from './model-counters.ts'
import { endingAs, type ModelDecision, ModelSight, refusalOf, withHeld } from './model-decision.ts'
import { ModelDocuments } from './model-documents.ts'
import type {
  ModelAnswer,
  ModelCommit,
  ModelOptions,
  ModelRequest,
  ModelReservation,
  ModelReserveRequest,
} from './model-requests.ts'

/** A reservation, as the model remembers it. */
interface Handle {
  /** The model that made it, and settles it. */
  readonly engine: QuotaModel
  readonly request: ModelReserveRequest
  readonly tokens: number
  readonly starts: ReadonlyMap<string, number>
  readonly id: ModelId | undefined
  readonly isHold: boolean
  /** The result of its settlement. */
  settled?: ModelCommit | undefined
}

/** The state that models of several policies share. */
interface Shared {
  readonly idTtlMs: number
  readonly holdTtlMs: number
  readonly calendar: ModelCalendar | undefined
  readonly counters: ModelCounters
  readonly documents: ModelDocuments
  readonly handles: Map<ModelReservation, Handle>
  holders: number
}

/** The unit that policies of random histories count. */
const TOKENS = 'tokens'

const NOTHING: ModelCommit = { charged: 0, uncharged: 0 }

/**
 * A reference model of an engine with its store, written as plainly as possible: one object per window, nothing packed,
 * nothing forgotten, no store.
 *
 * It keeps its own settings, so make the same changes to it. For engines with other policies on the same store, use
 * {@link QuotaModel.under}. The model ends holds exactly on time. If a store takes longer, sweep it before you compare.
 */
export class QuotaModel {
  readonly policy: Policy
  readonly #shared: Shared
  readonly #cells: ModelCells
  readonly #sight: ModelSight

  /** @param shared the state of another model; see {@link under} */
  constructor(policy: Policy, clock: Clock, options: ModelOptions = {}, shared: Shared = newShared(clock, options)) {
    this.policy = policy
    this.#shared = shared
    this.#cells = new ModelCells(policy, shared.documents, clock, shared.calendar)
    this.#sight = new ModelSight(this.#cells, shared.counters)
  }

  /** Makes a model for another policy on the same counters, ids, holds and settings, which are matched by name. */
  under(policy: Policy): QuotaModel {
    return new QuotaModel(policy, this.#shared.counters.clock, {}, this.#shared)
  }

  get settings(): Settings {
    return this.#shared.documents.settings(this.policy)
  }

  /** The names of all plans, in the policy and in the settings. */
  get plans(): readonly string[] {
    return [...Object.keys(this.policy.plans ?? {}), ...Object.keys(this.settings.plans)]
  }

  /** Replaces members of the settings. */
  updateSettings(change: Partial<Settings>): void {
    this.#shared.documents.update(this.policy, change)
  }

  /** Sets one subject's settings in a layer; `undefined` removes them. */
  setSubject(layer: string, key: string, settings: SubjectSettings | undefined): void {
    this.#shared.documents.setSubject(this.policy, [layer, key], settings, this.#shared.counters.clock.now())
  }

  /** Whether an operation takes a slot. It then needs a reservation. */
  takesSlot(operation: string): boolean {
    return this.#cells.takesSlot(operation)
  }

  consume(request: ModelRequest): ModelDecision {
    return this.#decide(request, (cells, cost) => this.#take(cells, cost))[0]
  }

  peek(request: ModelRequest): ModelDecision {
    return this.#decide(request, (cells, cost) => {
      const slots = this.takesSlot(request.operation) ? enforcedSlots(cells) : []
      const { counters } = this.#shared
      const hasSlots = slots.every(({ name, limit }) => counters.slotsTaken(name) + 1 <= limit)
      const isAdmitted = hasSlots && counters.fits(enforcedWindows(cells), { [TOKENS]: cost })
      return { outcome: isAdmitted ? 'admitted' : 'refused', charged: {} }
    })[0]
  }

  /** Reserves tokens, with an id if one is given. Each call is a separate holder. */
  reserve(request: ModelReserveRequest): ModelReservation {
    const { operation, id: text, ttlMs } = request
    const slot = this.takesSlot(operation)
    const isHold = ttlMs !== undefined || slot
    this.#shared.holders++
    const id = text === undefined && !isHold ? undefined : this.#idOf(request, String(this.#shared.holders))
    const [decision, taken] = this.#decide(
      request,
      (cells, cost) => this.#take(cells, cost, id, isHold ? request : undefined),
      id !== undefined,
    )
    const { outcome, charged, endsAt } = taken
    if (outcome === 'too_many_holds') throw new RangeError('the model binds nobody to a number of holds')
    if (outcome === 'refused') return { status: 'refused', decision }
    if (outcome !== 'admitted') return { status: outcome }
    const reservation: ModelReservation = { status: 'reserved', decision, endsAt }
    const starts = new Map(Object.entries(charged).map(([name, { startedAt }]) => [name, startedAt]))
    this.#shared.handles.set(reservation, { engine: this, request, tokens: decision.cost, starts, id, isHold })
    return reservation
  }

  /** Commits a reservation. Later calls return the first result. */
  commit(reservation: ModelReservation, actual?: number): ModelAnswer<ModelCommit> {
    return this.#settle(reservation, 'committed', actual)
  }

  /** Refunds a reservation, unless it is settled. */
  cancel(reservation: ModelReservation): ModelAnswer<undefined> {
    const answer = this.#settle(reservation, 'cancelled')
    return 'code' in answer ? answer : { value: undefined }
  }

  /** Changes when a hold expires. */
  extend(reservation: ModelReservation, ttlMs: number): ModelAnswer<number> {
    const { id, isHold } = this.#handle(reservation)
    if (id === undefined || !isHold) return { code: 'hold_required' }
    const { outcome, endsAt } = this.#now().extend(id, ttlMs)
    return outcome === 'held' && endsAt !== undefined ? { value: endsAt } : { code: 'reservation_expired' }
  }

  /** Grows a hold, if it fits. */
  add(reservation: ModelReservation, tokens: number): ModelAnswer<ModelDecision> {
    const { engine, request, id, isHold } = this.#handle(reservation)
    return id === undefined || !isHold ? { code: 'hold_required' } : engine.#grow(id, request, tokens)
  }

  /** The subject's open holds, by expiry. */
  holds(subject: Subject): readonly { readonly tokens: number; readonly endsAt: number }[] {
    const open = this.#now().open(this.#ownerOf(subject))
    return open.map(([, { costs }, endsAt]) => ({ tokens: costs[TOKENS] ?? 0, endsAt }))
  }

  reset(subject: Subject, { layer, category }: ResetOptions = {}): void {
    const counters = this.#now()
    for (const each of this.policy.layers) {
      if (layer === undefined ? each.shared : each.name !== layer) continue
      for (const name of this.policy.categories) {
        if (category !== undefined && category !== name) continue
        for (const window of this.#cells.windowNames(each, { subject, category: name })) counters.windows.close(window)
      }
    }
  }

  status(subject: Subject, plan?: string): QuotaStatus {
    const { clock } = this.#now()
    const own = this.policy.layers.find(({ shared }) => !shared)?.name
    const open = this.#now()
      .open(this.#ownerOf(subject))
      .map(([, record]) => record)
    const windows = this.policy.categories.map((category) => {
      const cells = this.#cells.of({ subject, category, plan })
      const shown = this.#sight.show(cells)
      return [category, withHeld(shown, cells, open, own)] as const
    })
    return {
      subject,
      now: clock.now(),
      settingsVersion: this.#shared.documents.version,
      windows: Object.fromEntries(windows),
    }
  }

  /** The future instants at which windows or holds end, or ids are forgotten. */
  ends(of: 'window' | 'id' | 'hold'): number[] {
    const counters = this.#now()
    const ends = {
      window: () => counters.windows.ends(),
      id: () => counters.forgets(),
      hold: () => counters.open().map(([, , end]) => end),
    }[of]()
    const now = counters.clock.now()
    return [...new Set(ends)].filter((end) => end > now).sort((a, b) => a - b)
  }

  /** Whether a clock that steps back this far returns to a time when forgotten ids were still known. */
  remembersAgain(backMs: number): boolean {
    const now = this.#shared.counters.clock.now()
    return this.#shared.counters.forgets().some((until) => now - backMs < until && until <= now)
  }

  /** The counters, after everything that has expired was ended. */
  #now(): ModelCounters {
    this.#shared.counters.sweep()
    return this.#shared.counters
  }

  #handle(reservation: ModelReservation): Handle {
    const handle = this.#shared.handles.get(reservation)
    if (handle === undefined) throw new RangeError('nothing is reserved')
    return handle
  }

  #settle(reservation: ModelReservation, as: 'committed' | 'cancelled', actual?: number): ModelAnswer<ModelCommit> {
    const handle = this.#shared.handles.get(reservation)
    if (handle === undefined) return { value: NOTHING }
    const isAbove = !handle.isHold && as === 'committed' && (actual ?? 0) > handle.tokens
    if (isAbove) return { code: 'commit_above_reservation' }
    if (handle.settled !== undefined) return { value: handle.settled }
    const answer = handle.isHold ? handle.engine.#settleHold(handle, as, actual) : this.#settlePlain(handle, as, actual)
    if ('value' in answer) handle.settled = answer.value
    return answer
  }

  #settlePlain(
    { tokens, id, starts }: Handle,
    as: 'committed' | 'cancelled',
    actual = tokens,
  ): ModelAnswer<ModelCommit> {
    const spent = as === 'cancelled' ? 0 : actual
    const counters = this.#now()
    // With nothing to refund, the engine doesn't call the store.
    const isSettledInStore = as === 'cancelled' || spent < tokens
    if (isSettledInStore && (id === undefined || counters.settleId(id, as)))
      for (const [name, startedAt] of starts) counters.windows.refund(name, startedAt, tokens - spent)
    return { value: { charged: spent, uncharged: 0 } }
  }

  #settleHold({ request, id }: Handle, as: 'committed' | 'cancelled', actual?: number): ModelAnswer<ModelCommit> {
    if (id === undefined) throw new RangeError('a hold without an id')
    const { overrun = 'refuse', maxOverrun = 0 } = operationOf(this.policy, request.operation)
    const windows = enforcedWindows(this.#cells.of(this.#cellsOf(request)))
    const settled = this.#now().settleHold(id, {
      as,
      actual: actual === undefined ? {} : { [TOKENS]: actual },
      overrun,
      maxOverrun: { [TOKENS]: maxOverrun },
      windows,
    })
    if (as === 'cancelled') return { value: NOTHING }
    if (settled.outcome === 'above') return { code: 'commit_above_reservation' }
    if (settled.outcome === 'cancelled') return { code: 'reservation_cancelled' }
    if (settled.outcome !== 'settled') return { code: 'reservation_expired' }
    return { value: { charged: settled.charged?.[TOKENS] ?? 0, uncharged: settled.uncharged?.[TOKENS] ?? 0 } }
  }

  #grow(id: ModelId, request: ModelReserveRequest, tokens: number): ModelAnswer<ModelDecision> {
    let isOver = false
    const [decision] = this.#decide(
      { ...request, cost: tokens },
      (cells) => {
        const { outcome } = this.#now().grow(id, { [TOKENS]: tokens }, enforcedWindows(cells))
        isOver = outcome !== 'held' && outcome !== 'refused'
        return { outcome: outcome === 'refused' ? 'refused' : 'admitted', charged: {} }
      },
      true,
      false,
    )
    return isOver ? { code: 'reservation_expired' } : { value: decision }
  }

  #take(cells: readonly ModelCell[], cost: number, id?: ModelId, hold?: ModelReserveRequest): ModelTaken {
    const terms = hold && {
      owner: this.#ownerOf(hold.subject),
      ttlMs: hold.ttlMs ?? this.#shared.holdTtlMs,
      maxHolds: Number.POSITIVE_INFINITY,
      slots: this.takesSlot(hold.operation) ? enforcedSlots(cells) : [],
    }
    return this.#now().take({ costs: { [TOKENS]: cost }, windows: enforcedWindows(cells), id, hold: terms })
  }

  /**
   * Makes one decision. Returns it with the counters' reply.
   *
   * @param take whether to charge, or only to read
   * @param alwaysUseStore whether to use the store even if the cost is 0
   * @param slot whether it needs a slot
   */
  #decide(
    request: ModelRequest,
    take: (cells: readonly ModelCell[], cost: number) => ModelTaken,
    alwaysUseStore = false,
    slot = this.takesSlot(request.operation),
  ): [decision: ModelDecision, taken: ModelTaken] {
    const { subject, operation } = request
    const of = this.#cellsOf(request)
    const cost = this.#costOf(request)
    const { clock } = this.#now()
    const base = {
      subject,
      operation,
      category: of.category,
      cost,
      now: clock.now(),
      settingsVersion: this.#shared.documents.version,
    }
    const cells = this.#cells.of(of)
    if (cost === 0 && !alwaysUseStore && !slot) {
      const windows = this.#sight.showUncounted(cells)
      return [
        { ...base, allowed: true, source: 'free', shadowed: [], windows },
        { outcome: 'admitted', charged: {} },
      ]
    }
    const needed = { cost, slot }
    const violations = this.#sight.violations(cells, needed, true)
    const shadowed = this.#sight.violations(cells, needed, false)
    const taken = take(cells, cost)
    const common = { ...base, source: 'store' as const, shadowed, windows: this.#sight.show(cells) }
    // A peek charges nothing, so the bucket is as the violation saw it.
    const isCharged = Object.keys(taken.charged).length > 0
    const until = (violation: Violation): number | undefined => {
      if (isCharged) return this.#sight.chargedUntil(cells, violation)
      return violation.kind === 'bucket' ? violation.resetAt : undefined
    }
    if (taken.outcome !== 'refused') return [{ ...endingAs(common, until), allowed: true }, taken]
    const layers = this.policy.layers.map(({ name }) => name)
    const ends = this.#cells.endsOf(subject)
    const roomAt = ends.length === 0 ? undefined : this.#sight.roomAt(ends, (at) => this.#cells.of(of, at), cost)
    return [{ ...common, allowed: false, ...refusalOf(violations, layers, base.now, roomAt) }, taken]
  }

  #cellsOf({ subject, operation, plan }: ModelRequest): CellsOf {
    return { subject, category: operationOf(this.policy, operation).category, plan }
  }

  #costOf({ operation, cost }: ModelRequest): number {
    return cost ?? this.settings.prices[operation] ?? operationOf(this.policy, operation).cost
  }

  /**
   * What the id belongs to, and what it is used for. The price isn't part of it, because it may change between
   * attempts.
   */
  #idOf({ subject, operation, cost, id }: ModelReserveRequest, holder: string): ModelId {
    const text = id === undefined ? ['nonce', holder] : ['id', id]
    const name = JSON.stringify([this.#ownerOf(subject), ...text])
    return { name, holder, use: JSON.stringify([operation, cost ?? null]), ttlMs: this.#shared.idTtlMs }
  }

  /** The owner of ids and holds: the first layer that isn't shared, and the subject's key there. */
  #ownerOf(subject: Subject): string {
    const first = this.policy.layers.find((layer) => !layer.shared)
    if (first === undefined) throw new RangeError('a policy without a layer of its own')
    return JSON.stringify([first.name, keyOf(first, subject)])
  }
}

function newShared(clock: Clock, { idTtlMs = 600_000, holdTtlMs = 60_000, calendar }: ModelOptions): Shared {
  const counters = new ModelCounters(clock)
  return { idTtlMs, holdTtlMs, calendar, counters, documents: new ModelDocuments(), handles: new Map(), holders: 0 }
}
