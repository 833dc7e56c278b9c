import type { Decision } from '../decision/decision.ts'
import { QuotaError } from '../errors/quota-error.ts'
import { noSuchName } from '../options/names.ts'
import type { Quotas } from '../policy/limits.ts'
import type { Policy } from '../policy/policy.ts'
import { isFree, takesSlots } from '../policy/units.ts'
import type { Answer, ReadRequest, TakeReply } from '../store/quota-store.ts'
import type { ReservationId } from '../store/schema.ts'
import { type Subject, storeSchema } from '../store/schema.ts'
import { systemStopwatch } from '../time/clock.ts'
import { askHolds, holdsAdmin, type QuotaHolds } from './admin/holds-admin.ts'
import { type QuotaSettings, type SettingsInForce, settingsAdmin } from './admin/settings-admin.ts'
import { type QuotaSubjects, subjectAdmin } from './admin/subject-admin.ts'
import { NO_TERMS } from './decide/check.ts'
import type { TakeDemand } from './decide/demands.ts'
import { type Answering, direct, LATER, promised, unavailable } from './decide/driver.ts'
import { NoAnswer, Takes } from './decide/takes.ts'
import type { EngineParts } from './engine-parts.ts'
import type { QuotaEvent, QuotaListener } from './events.ts'
import type { Quota, QuotaWithin, SyncQuota } from './quota.ts'
import type {
  HeldReservation,
  QuotaRequest,
  QuotaStatus,
  Reservation,
  ReserveRequest,
  ResetOptions,
  ResumedReservation,
  RunResult,
  StatusOptions,
  SyncReservation,
} from './requests.ts'
import { HoldWatch, handleOf, orAborted } from './reservations/handle.ts'
import { holdOfToken } from './reservations/hold-token.ts'

/** Since when callers wait for the very first read of the settings, and why it failed. */
interface FirstRead {
  readonly askedAt: number
  /** Never `undefined` where it failed. */
  readonly error?: unknown
}

/** Every engine: one step follows the other at once where all stores answer at once, else as they answer. */
export class QuotaEngine implements Quota {
  readonly sync: boolean
  readonly policy: Policy
  readonly holdTtlMs: number | undefined
  readonly settings: QuotaSettings
  readonly subjects: QuotaSubjects
  readonly holds: QuotaHolds
  readonly #parts: EngineParts
  readonly #watch: HoldWatch
  readonly #decided: (demand: TakeDemand, reply: TakeReply | NoAnswer) => Decision
  #closing: Promise<void> | undefined

  constructor(parts: EngineParts) {
    const { policy, settingsStore: store, live, factorStore, clock, calendar } = parts
    this.#parts = parts
    this.sync = parts.driver.sync
    this.policy = policy
    this.holdTtlMs = parts.check.holdTtlMs
    this.#decided = (demand, reply) => parts.decisions.of(demand, reply)
    this.settings = settingsAdmin(policy, store, live, factorStore !== undefined)
    this.subjects = subjectAdmin({ policy, store, live, settings: this.settings, clock, calendar })
    this.holds = holdsAdmin(parts, () => this.#requireOpen())
    this.#watch = new HoldWatch(() => this.holds.sweep())
  }

  consume(request: QuotaRequest): Promise<Decision> {
    return promised(() => (request.signal === undefined ? this.consuming(request) : this.#consumeOrAbort(request)))
  }

  peek(request: QuotaRequest): Promise<Decision> {
    return promised(() => this.peeking(request))
  }

  reserve(request: ReserveRequest): Promise<Reservation> {
    return promised(() => {
      const { signal } = request
      signal?.throwIfAborted()
      const reservation = this.reserving(request, promised)
      return signal === undefined ? reservation : orAborted(Promise.resolve(reservation), signal)
    })
  }

  status(subject: Subject, options?: StatusOptions): Promise<QuotaStatus> {
    return promised(() => this.reading(subject, options))
  }

  protected consuming(request: QuotaRequest): Answer<Decision> {
    this.#requireOpen()
    if (this.#parts.live.loaded) return this.#consumed(request, undefined)
    return LATER.chain(this.#firstRead(), (first) => this.#consumed(request, first))
  }

  #consumed(request: QuotaRequest, first: FirstRead | undefined): Answer<Decision> {
    const { check, live, demands, decisions, reports } = this.#parts
    const operation = check.operation(request, live.compiled)
    check.consumable(operation)
    const demand = demands.of(request, operation, NO_TERMS, reports.start())
    if (isFree(demand.price) && first?.error === undefined) return decisions.free(demand)
    return this.#take(demand, this.#decided, first)
  }

  protected peeking(request: QuotaRequest): Answer<Decision> {
    this.#requireOpen()
    return this.#parts.calls.ready((askedAt) => this.#peeked(request, askedAt))
  }

  #peeked(request: QuotaRequest, askedAt: number): Answer<Decision> {
    const { check, live, demands, decisions, calls, periods } = this.#parts
    const operation = check.operation(request, live.compiled)
    const demand = demands.of(request, operation, NO_TERMS, undefined)
    if (isFree(demand.price) && !takesSlots(demand.price)) return decisions.free(demand)
    const { subject, plan, category } = demand
    const under = (quotas: Quotas): Answer<Decision> => {
      let asked = demand
      const request = (): ReadRequest => {
        if (!asked.isRead || asked.periods !== periods.of(quotas)) asked = demands.under(asked, quotas)
        return { subject, categories: [category], layers: quotas.layers, periods: asked.periods }
      }
      return calls.read(request, askedAt, (_, reply) => decisions.peeked(asked, reply))
    }
    if (demand.isRead) return under(demand.quotas)
    return calls.quotasOf(subject, plan, askedAt, (byCategory) => under(byCategory[category]!))
  }

  /** @param answering how the calls of the handle answer */
  protected reserving(request: ReserveRequest, answering: Answering): Answer<Reservation> {
    this.#requireOpen()
    if (this.#parts.live.loaded) return this.#reserved(request, answering, undefined)
    return LATER.chain(this.#firstRead(), (first) => this.#reserved(request, answering, first))
  }

  #reserved(request: ReserveRequest, answering: Answering, first: FirstRead | undefined): Answer<Reservation> {
    const { check, live, demands, reservations, reports } = this.#parts
    const operation = check.operation(request, live.compiled)
    const terms = check.terms(request, operation)
    const demand = demands.of(request, operation, terms, reports.start())
    const isUnasked = isFree(demand.price) && terms.id === undefined && first?.error === undefined
    if (isUnasked) return reservations.free(demand, answering)
    return this.#take(demand, (asked, reply) => reservations.of(asked, reply, answering), first)
  }

  protected reading(subject: Subject, { plan }: StatusOptions = {}): Answer<QuotaStatus> {
    this.#requireOpen()
    const { calls, check, driver, periods, decisions } = this.#parts
    return calls.ready((askedAt) => {
      check.subject(subject, plan)
      return calls.quotasOf(subject, plan, askedAt, (quotas) => {
        const held = calls.holdsOf(subject, askedAt)
        const [any] = quotas as [Quotas]
        const categories = [...quotas.keys()]
        const request = () => ({ subject, categories, layers: any.layers, periods: periods.of(any) })
        return calls.read(request, askedAt, (asked, reply) =>
          driver.chain(held, (holds) => decisions.status(subject, quotas, asked, reply, holds)),
        )
      })
    })
  }

  #take<T>(
    demand: TakeDemand,
    next: (demand: TakeDemand, reply: TakeReply | NoAnswer) => T,
    first: FirstRead | undefined,
  ): Answer<T> {
    if (first?.error !== undefined) return next(demand, new NoAnswer(first.error, true))
    return this.#parts.takes.take<T>(demand, next, first?.askedAt)
  }

  async run<T>(
    request: ReserveRequest,
    work: (reservation: HeldReservation) => T | PromiseLike<T>,
  ): Promise<RunResult<T>> {
    const reservation = await this.reserve(request)
    if (reservation.status === 'refused') return { allowed: false, status: 'refused', decision: reservation.decision }
    if (reservation.status !== 'reserved') return { allowed: false, status: reservation.status }
    const stop = reservation.keepAlive()
    let value: T
    try {
      value = await work(reservation)
    } catch (error) {
      stop()
      // The caller gets what the work threw; tokens whose cancel failed stay charged.
      await reservation.cancel().catch(() => undefined)
      throw error
    }
    stop()
    await reservation.commit()
    return { allowed: true, decision: reservation.decision, value }
  }

  async resume(token: string): Promise<ResumedReservation> {
    this.#requireOpen()
    const parts = this.#parts
    const { subject, category, operation, plan, id, nonce, fingerprint, slot, ttlMs } = holdOfToken(token)
    const index = this.policy.categories.indexOf(category)
    if (index === -1 || !Object.hasOwn(this.policy.operations, operation)) {
      const message = `token: a hold of "${operation}" in "${category}", which this policy does not have`
      throw new QuotaError('invalid_token', message)
    }
    parts.check.subject(subject)
    await promised(() => parts.calls.ready(() => undefined))
    const reservationId: ReservationId = { id, nonce, fingerprint, ttlMs: parts.check.idTtlMs }
    const ref = { subject, category: index, id: reservationId }
    // A read: no end is moved to now or earlier.
    const { outcome, now, endsAt = now } = await askHolds(parts.calls, (holds) => holds.extend({ ...ref, ttlMs: 0 }))
    if (outcome === 'unknown') {
      throw new QuotaError('reservation_expired', 'nothing is known of this hold, or not any more')
    }
    const hold = parts.hold({ ...ref, operation, plan, slot, ttlMs }, endsAt)
    return handleOf(parts.driver, hold, promised, {
      status: 'resumed',
      subject,
      operation,
    } as const) as ResumedReservation
  }

  async reset(subject: Subject, { layer, category }: ResetOptions = {}): Promise<void> {
    this.#requireOpen()
    const { check, calls, driver } = this.#parts
    const layers = this.policy.layers.flatMap(({ name, shared }, index) =>
      (layer === undefined ? !shared : name === layer) ? [index] : [],
    )
    const categories = this.policy.categories.flatMap((name, index) =>
      category === undefined || name === category ? [index] : [],
    )
    const layerNames = this.policy.layers.map(({ name }) => name)
    if (layers.length === 0) throw noSuch('layer', layer, layerNames)
    if (categories.length === 0) throw noSuch('category', category, this.policy.categories)
    check.subject(subject)
    const request = { subject, layers, categories }
    await promised(() =>
      calls.call(
        driver,
        () => calls.reset(request),
        () => undefined,
      ),
    )
  }

  within(transaction: unknown): QuotaWithin {
    this.#requireOpen()
    const { store, settingsStore, live, periods, deadlineMs, demands, check, calls, decisions, reports } = this.#parts
    const counters = store.sync ? undefined : store.within?.(storeSchema(this.policy), transaction)
    if (counters === undefined) {
      const message = 'within: this store has no transactions; see what each store can in its page'
      throw new QuotaError('store_unsupported', message)
    }
    const settings = settingsStore.within?.(transaction)
    // What comes late is a part of the transaction all the same, and goes with it.
    const late = (): void => undefined
    const inTransaction = { counters, sync: false, keepsTime: true, settings, late }
    const takes = new Takes({ live, periods, demands, deadlineMs, ...inTransaction })
    const consume = (request: QuotaRequest): Answer<Decision> => {
      const operation = check.operation(request, live.compiled)
      check.consumable(operation)
      const demand = demands.of(request, operation, NO_TERMS, reports.start())
      if (isFree(demand.price)) return decisions.free(demand)
      return takes.take(demand, (asked, reply) => {
        if (!(reply instanceof NoAnswer)) return decisions.of(asked, reply)
        throw unavailable(reply.error, reply.ofSettings ? 'the settings store' : undefined)
      })
    }
    const once = (request: QuotaRequest): Answer<Decision> => {
      this.#requireOpen()
      if (live.loaded) return consume(request)
      return calls.call(
        LATER,
        () => live.ready(settings),
        () => consume(request),
        'the settings store',
      )
    }
    return { consume: (request) => promised(() => once(request)) }
  }

  inForce(): SettingsInForce {
    const { live } = this.#parts
    return { settings: live.compiled.settings, adaptiveFactor: live.factorHundredths / 100 }
  }

  on<E extends QuotaEvent>(event: E, listener: QuotaListener<E>): () => void {
    const { events, store } = this.#parts
    const off = events.on(event, listener)
    if (event === 'holdEnded' && store.can?.holds === true) this.#watch.start()
    return () => {
      off()
      if (!events.hears('holdEnded')) this.#watch.stop()
    }
  }

  async ready(): Promise<void> {
    this.#requireOpen()
    const { calls, live } = this.#parts
    await promised(() => calls.ready(() => undefined))
    await live.factorSettled()
  }

  close(): Promise<void> {
    this.#watch.stop()
    this.#closing ??= this.#parts.close()
    return this.#closing
  }

  /** A consumption that can be taken back until the signal is too late: a reservation that is never settled. */
  #consumeOrAbort(request: QuotaRequest): Answer<Decision> {
    request.signal!.throwIfAborted()
    if (this.sync) return this.consuming(request)
    const { live, check } = this.#parts
    if (live.loaded) check.consumable(check.operation(request, live.compiled))
    const { ttlMs: _, ...plain }: ReserveRequest = request
    return LATER.chain(this.reserve(plain), (reservation) => reservation.decision as Decision)
  }

  async #firstRead(): Promise<FirstRead> {
    const askedAt = systemStopwatch()
    try {
      await this.#parts.live.ready()
      return { askedAt }
    } catch (error) {
      return { askedAt, error }
    }
  }

  #requireOpen(): void {
    if (this.#closing !== undefined)
      throw new QuotaError('quota_closed', 'the engine is closed; close it after all work has finished')
  }
}

/** An engine all of whose stores answer at once: every question can be answered without waiting. */
export class SyncQuotaEngine extends QuotaEngine implements SyncQuota {
  override readonly sync = true

  consumeSync(request: QuotaRequest): Decision {
    return this.consuming(request) as Decision
  }

  peekSync(request: QuotaRequest): Decision {
    return this.peeking(request) as Decision
  }

  reserveSync(request: ReserveRequest): SyncReservation {
    return this.reserving(request, direct) as unknown as SyncReservation
  }

  statusSync(subject: Subject, options?: StatusOptions): QuotaStatus {
    return this.reading(subject, options) as QuotaStatus
  }
}

function noSuch(what: string, name: string | undefined, names: readonly string[]): QuotaError {
  return new QuotaError('invalid_reset', `no ${what} ${noSuchName(name, names, 'the policy has')}`)
}
