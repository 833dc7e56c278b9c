import type { Clock, Policy, QuotaStatus, Refusal, Settings, Subject, SubjectSettings } from '@scoregw/quota'
import type { ModelNumbers } from './effective-limit.ts'
import { enforcedSlots, enforcedWindows, type ModelCalendar, type ModelCell, ModelCells } from './model-cells.ts'
import { isFree, type ModelCost, named, operationOf, priceOf, shown, whole } from './model-costs.ts'
import { type ModelCharge, type ModelCosts, ModelCounters, type ModelId, type ModelTaken } from './model-counters.ts'
import { byName, endingAs, type ModelDecision, ModelSight, refusalOf, refusedBy, withHeld } from './model-decision.ts'
import { type ModelChange, ModelDocuments } from './model-documents.ts'
import { counterOf, isSubjectOf, keyOf, layerOf, ownerOf, ownLayer } from './model-names.ts'
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
  readonly costs: ModelCosts
  readonly charged: Readonly<Record<string, ModelCharge>>
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

/** How one decision is made. */
interface Deciding {
  readonly costs: ModelCosts
  readonly slot: boolean
  /** Charges, or only reads. */
  readonly take: (cells: readonly ModelCell[]) => Pick<ModelTaken, 'outcome' | 'charged'>
  readonly kind: 'take' | 'peek' | 'growth'
  /** Whether counters are used even if it costs nothing. */
  readonly alwaysUseStore?: boolean
}

const NOTHING = { outcome: 'admitted', charged: {} } as const

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
    return [...Object.keys(this.policy.plans), ...Object.keys(this.settings.plans)]
  }

  /** Replaces members of the settings. In objects by name, only the names that are there. */
  updateSettings(change: ModelChange): void {
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
    const [costs, slot] = [this.#costsOf(request), this.takesSlot(request.operation)]
    const take = (cells: readonly ModelCell[]) => this.#now().take({ costs, windows: enforcedWindows(cells) })
    return this.#decide(request, { kind: 'take', costs, slot, take })[0]
  }

  peek(request: ModelRequest): ModelDecision {
    const [costs, slot] = [this.#costsOf(request), this.takesSlot(request.operation)]
    const take = (cells: readonly ModelCell[]) => {
      const { counters } = this.#shared
      const hasSlots = enforcedSlots(cells).every(({ name, limit }) => counters.slotsTaken(name) + 1 <= limit)
      const isAdmitted = hasSlots && counters.fits(enforcedWindows(cells), costs)
      return { outcome: isAdmitted ? ('admitted' as const) : ('refused' as const), charged: {} }
    }
    return this.#decide(request, { kind: 'peek', costs, slot, take })[0]
  }

  /** Reserves, with an id if one is given. Each call is a separate holder. */
  reserve(request: ModelReserveRequest): ModelReservation {
    const { operation, id: text, ttlMs, subject } = request
    const slot = this.takesSlot(operation)
    const isHold = ttlMs !== undefined || slot
    this.#shared.holders++
    const id = text === undefined && !isHold ? undefined : this.#idOf(request, String(this.#shared.holders))
    const costs = this.#costsOf(request)
    let endsAt: number | undefined
    const take = (cells: readonly ModelCell[]): ModelTaken => {
      const slots = slot ? enforcedSlots(cells) : []
      const terms = { ttlMs: ttlMs ?? this.#shared.holdTtlMs, maxHolds: Number.POSITIVE_INFINITY, slots }
      const hold = isHold ? { ...terms, owner: ownerOf(this.policy, subject) } : undefined
      const taken = this.#now().take({ costs, windows: enforcedWindows(cells), id, hold })
      endsAt = taken.endsAt
      return taken
    }
    const [decision, taken] = this.#decide(request, {
      kind: 'take',
      costs,
      slot,
      take,
      alwaysUseStore: id !== undefined,
    })
    const { outcome, charged } = taken
    if (outcome === 'too_many_holds') throw new RangeError('the model binds nobody to a number of holds')
    if (outcome === 'refused') return { status: 'refused', decision }
    if (outcome !== 'admitted') return { status: outcome }
    const reservation: ModelReservation = { status: 'reserved', decision, endsAt }
    this.#shared.handles.set(reservation, { engine: this, request, costs, charged, id, isHold })
    return reservation
  }

  /** Continues a hold that any model of the same state reserved. */
  resume(reservation: ModelReservation): ModelAnswer<ModelReservation> {
    const { request, costs, charged, id } = this.#handle(reservation)
    if (id === undefined) throw new RangeError('not a hold')
    if (!Object.hasOwn(this.policy.operations, request.operation)) return { code: 'invalid_token' }
    if (!isSubjectOf(this.policy, request.subject)) return { code: 'invalid_subject' }
    const own = { ...this.#idOf(request, id.holder), holder: id.holder, use: id.use }
    const { outcome } = this.#now().extend(own, 0)
    if (outcome === 'unknown') return { code: 'reservation_expired' }
    const resumed: ModelReservation = { status: 'resumed' }
    this.#shared.handles.set(resumed, { engine: this, request, costs, charged, id: own, isHold: true })
    return { value: resumed }
  }

  /** Commits a reservation. Later calls return the first result. */
  commit(reservation: ModelReservation, actual?: ModelCost): ModelAnswer<ModelCommit> {
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
  add(reservation: ModelReservation, cost: ModelCost): ModelAnswer<ModelDecision> {
    const { engine, request, id, isHold } = this.#handle(reservation)
    return id === undefined || !isHold ? { code: 'hold_required' } : engine.#grow(id, request, cost)
  }

  /** The subject's open holds, by expiry. */
  holds(subject: Subject): readonly { readonly cost: ReturnType<typeof shown>; readonly endsAt: number }[] {
    const open = this.#now().open(ownerOf(this.policy, subject))
    return open.map(([, { costs }, endsAt]) => ({ cost: shown(this.policy, costs), endsAt }))
  }

  /** Resets limits by name; without names, every limit of the subject's own. Slots stay taken. */
  reset(subject: Subject, limits?: readonly string[]): void {
    for (const rule of this.policy.limits) {
      const layer = layerOf(this.policy, rule)
      const isMeant = limits === undefined ? !layer.shared : limits.includes(rule.name)
      if (isMeant && keyOf(layer, subject) !== null) this.#now().windows.close(counterOf(layer, subject, rule))
    }
  }

  status(subject: Subject, plan?: string, limits?: ModelNumbers): QuotaStatus {
    const { clock } = this.#now()
    const open = this.#now().open(ownerOf(this.policy, subject))
    const records = open.map(([, record]) => record)
    const cells = this.#cells.of({ subject, plan, limits })
    return {
      subject,
      now: clock.now(),
      settingsVersion: this.#shared.documents.version,
      limits: byName(withHeld(this.#sight.show(cells), cells, records, ownLayer(this.policy, subject).name)),
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

  #settle(reservation: ModelReservation, as: 'committed' | 'cancelled', actual?: ModelCost): ModelAnswer<ModelCommit> {
    const handle = this.#shared.handles.get(reservation)
    if (handle === undefined) return { value: this.#committed({}) }
    const { engine, isHold, costs } = handle
    const given = actual === undefined ? {} : named(this.policy, actual)
    const isAbove = Object.entries(given).some(([unit, amount]) => amount > (costs[unit] ?? 0))
    if (!isHold && as === 'committed' && isAbove) return { code: 'commit_above_reservation' }
    if (handle.settled !== undefined) return { value: handle.settled }
    const answer = isHold ? engine.#settleHold(handle, as, given) : engine.#settlePlain(handle, as, given)
    if ('value' in answer) handle.settled = answer.value
    return answer
  }

  #committed(charged: ModelCosts = {}, uncharged: ModelCosts = {}): ModelCommit {
    return { charged: shown(this.policy, charged), uncharged: shown(this.policy, uncharged) }
  }

  #settlePlain(
    { costs, id, charged }: Handle,
    as: 'committed' | 'cancelled',
    actual: ModelCosts,
  ): ModelAnswer<ModelCommit> {
    const spent = as === 'cancelled' ? whole(this.policy) : whole(this.policy, actual, costs)
    const left = (unit: string): number => (costs[unit] ?? 0) - (spent[unit] ?? 0)
    const counters = this.#now()
    // With nothing to refund, the engine doesn't call the store.
    const isSettledInStore = as === 'cancelled' || Object.keys(costs).some((unit) => left(unit) > 0)
    if (isSettledInStore && (id === undefined || counters.settleId(id, as)))
      for (const [name, { startedAt, unit }] of Object.entries(charged))
        counters.windows.refund(name, startedAt, left(unit))
    return { value: this.#committed(spent) }
  }

  #settleHold({ request, id }: Handle, as: 'committed' | 'cancelled', actual: ModelCosts): ModelAnswer<ModelCommit> {
    if (id === undefined) throw new RangeError('a hold without an id')
    const { overrun = 'refuse', maxOverrun } = operationOf(this.policy, request.operation)
    const settled = this.#now().settleHold(id, {
      as,
      actual,
      overrun,
      maxOverrun: whole(this.policy, maxOverrun),
      windows: enforcedWindows(this.#cells.of(request)),
    })
    if (as === 'cancelled') return { value: this.#committed() }
    if (settled.outcome === 'above') return { code: 'commit_above_reservation' }
    if (settled.outcome === 'cancelled') return { code: 'reservation_cancelled' }
    if (settled.outcome !== 'settled') return { code: 'reservation_expired' }
    return { value: this.#committed(settled.charged, settled.uncharged) }
  }

  #grow(id: ModelId, request: ModelReserveRequest, cost: ModelCost): ModelAnswer<ModelDecision> {
    let isOver = false
    const costs = whole(this.policy, cost)
    const take = (cells: readonly ModelCell[]) => {
      const { outcome } = this.#now().grow(id, costs, enforcedWindows(cells))
      isOver = outcome !== 'held' && outcome !== 'refused'
      return { outcome: outcome === 'refused' ? ('refused' as const) : ('admitted' as const), charged: {} }
    }
    const [decision] = this.#decide(request, { kind: 'growth', costs, slot: false, take, alwaysUseStore: true })
    return isOver ? { code: 'reservation_expired' } : { value: decision }
  }

  /** Makes one decision. Returns it with the counters' reply. */
  #decide(
    request: ModelRequest,
    { kind, costs, slot, take, alwaysUseStore = false }: Deciding,
  ): [decision: ModelDecision, taken: Pick<ModelTaken, 'outcome' | 'charged'>] {
    const { subject, operation } = request
    const now = this.#now().clock.now()
    const settingsVersion = this.#shared.documents.version
    const base = { subject, operation, cost: shown(this.policy, costs), now, settingsVersion }
    const cells = this.#cells.of(request)
    const needed = { costs, slot: slot && cells.some((cell) => cell.kind === 'concurrency') }
    const uncounted = { shadowed: [], limits: byName(this.#sight.showUncounted(cells)) }
    const blocking = kind === 'growth' ? [] : this.#sight.blocking(request, needed)
    const [first] = blocking
    if (first !== undefined) {
      const members = { ...uncounted, ...refusedBy(blocking, first, now) }
      return [
        { ...base, allowed: false, source: 'blocked', ...members },
        { outcome: 'refused', charged: {} },
      ]
    }
    if (isFree(costs) && !alwaysUseStore && !slot)
      return [{ ...base, allowed: true, source: 'free', ...uncounted }, NOTHING]
    const refusals = this.#sight.refusals(cells, needed, true)
    const shadowed = this.#sight.refusals(cells, needed, false)
    const taken = take(cells)
    const limits = this.#sight.show(cells)
    const common = { ...base, source: 'store' as const, limits: byName(limits) }
    // A peek charges nothing, so the bucket is as the refusal saw it.
    const until = (refusal: Refusal): number | undefined => {
      if (kind !== 'peek') return this.#sight.chargedUntil(cells, refusal)
      return refusal.kind === 'bucket' ? refusal.resetAt : undefined
    }
    if (taken.outcome !== 'refused') {
      return [{ ...common, shadowed: endingAs(shadowed, limits, until), allowed: true }, taken]
    }
    const ends = this.#cells.endsOf(subject)
    const roomAt = ends.length === 0 ? undefined : this.#sight.roomAt(ends, (at) => this.#cells.of(request, at), needed)
    const members = refusalOf(refusals, this.policy, now, roomAt)
    return [{ ...common, shadowed, allowed: false, ...members }, taken]
  }

  #costsOf({ operation, cost }: ModelRequest): ModelCosts {
    return whole(
      this.policy,
      cost,
      priceOf(this.policy, this.settings.prices[operation] as ModelCost | undefined, operation),
    )
  }

  /**
   * What the id belongs to, and what it is used for. The price isn't part of it, because it may change between
   * attempts.
   */
  #idOf({ subject, operation, cost, id }: ModelReserveRequest, holder: string): ModelId {
    const text = id === undefined ? ['nonce', holder] : ['id', id]
    const name = JSON.stringify([ownerOf(this.policy, subject), ...text])
    return { name, holder, use: JSON.stringify([operation, cost ?? null]), ttlMs: this.#shared.idTtlMs }
  }
}

function newShared(clock: Clock, { idTtlMs = 600_000, holdTtlMs = 60_000, calendar }: ModelOptions): Shared {
  const counters = new ModelCounters(clock)
  return { idTtlMs, holdTtlMs, calendar, counters, documents: new ModelDocuments(), handles: new Map(), holders: 0 }
}
