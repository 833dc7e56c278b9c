import type { Decision } from '../decision/decision.ts'
import { QuotaError } from '../errors/quota-error.ts'
import { kindOf } from '../errors/shown.ts'
import { noSuchName } from '../options/faults.ts'
import { ALL, limitNames, type PlacedLimit, placedLimits } from '../policy/cells.ts'
import type { Policy } from '../policy/policy.ts'
import { type Counting, isFree, takesSlots } from '../policy/units.ts'
import type { ResetRequest, SyncStore } from '../store/quota-store.ts'
import type { SyncSettingsStore } from '../store/settings-store.ts'
import { hasKey, type ReservationId, type Subject } from '../store/subjects.ts'
import { callHolds, holdsAdmin, type QuotaHolds } from './admin/holds-admin.ts'
import { type QuotaSettings, settingsAdmin } from './admin/settings-admin.ts'
import { type QuotaSubjects, subjectAdmin } from './admin/subject-admin.ts'
import { NO_KEY } from './decide/check.ts'
import { answered, CallDeadline, type Run, runAsync, runSync, type Task, unavailable } from './decide/store-call.ts'
import { type Purpose, Takes } from './decide/takes.ts'
import { EngineComponents } from './engine-components.ts'
import type { QuotaEvent, QuotaListener } from './events.ts'
import type { ParsedQuotaOptions, QuotaOptions } from './options.ts'
import { openDoor, type Quota, type QuotaInTransaction, type SyncQuota } from './quota.ts'
import {
  callOptions,
  type HeldReservation,
  type QuotaRequest,
  type QuotaStatus,
  type Reservation,
  type ReserveRequest,
  type ResumedReservation,
  type RunResult,
  type SyncReservation,
} from './requests.ts'
import { checkWork, HoldWatch, orAborted, resumedHandle, worked } from './reservations/handle.ts'
import { HoldHandle } from './reservations/hold.ts'
import { holdOfToken } from './reservations/hold-token.ts'

/**
 * The implementation of all engines. Takes have a synchronous and an asynchronous form. All other operations are tasks.
 */
class QuotaEngine implements Quota {
  readonly sync: boolean
  readonly policy: Policy
  readonly holdTtlMs: number | undefined
  readonly settings: QuotaSettings
  readonly subjects: QuotaSubjects
  readonly holds: QuotaHolds
  readonly #components: EngineComponents
  /** Runs tasks: with synchronous stores, without waiting. */
  readonly #run: Run
  readonly #watch: HoldWatch
  readonly #consumption: Purpose<QuotaRequest, Decision>
  readonly #reservation: Purpose<ReserveRequest, Reservation>
  readonly #syncReservation: Purpose<ReserveRequest, Reservation>
  #closing: Promise<void> | undefined

  constructor(components: EngineComponents) {
    const { policy, settingsStore: store, live, clock, calendar } = components
    this.#components = components
    this.sync = components.sync
    this.#run = components.sync ? runSync : runAsync
    this.policy = policy
    this.holdTtlMs = components.check.holdTtlMs
    this.settings = settingsAdmin(components)
    this.subjects = subjectAdmin({ policy, store, live, settings: this.settings, clock, calendar })
    this.holds = holdsAdmin(components, () => this.#requireOpen())
    this.#watch = new HoldWatch(() => this.holds.sweep())
    this.#consumption = components.decisions.consumption
    this.#reservation = components.reservations.purpose(runAsync)
    this.#syncReservation = components.reservations.purpose(runSync)
    openDoor(this, {
      demand: (request) => this.#reservation.demand(request),
      attempt: (request) => (this.sync ? this.#takeSync(request, this.#reservation) : this.reserve(request)),
      peek: (request) => this.#run(this.#peeking(request)),
      began: (begin) => components.events.emit('waiting', begin),
      ended: (end) => components.events.emit('waited', end),
    })
  }

  consume(request: QuotaRequest): Promise<Decision> {
    if (request?.signal !== undefined) return this.#consumeOrAbort(request)
    return this.#take(request, this.#consumption)
  }

  /** {@link consume} over synchronous stores. */
  protected consumingSync(request: QuotaRequest): Decision {
    return this.#takeSync(request, this.#consumption)
  }

  // Not `async`: the caller gets the promise that `takes` made, not a second one.
  #take<R, T>(request: R, purpose: Purpose<R, T>): Promise<T> {
    if (this.sync) return this.#takeNow(request, purpose)
    return this.#closing === undefined ? this.#components.takes.take(request, purpose) : Promise.reject(closed())
  }

  async #takeNow<R, T>(request: R, purpose: Purpose<R, T>): Promise<T> {
    return this.#takeSync(request, purpose)
  }

  #takeSync<R, T>(request: R, purpose: Purpose<R, T>): T {
    this.#requireOpen()
    return this.#components.takes.takeSync(request, purpose)
  }

  async peek(request: QuotaRequest, options?: Parameters<Quota['peek']>[1]): Promise<Decision> {
    const { reportsRefusal = false } = callOptions('peek()', options, ['reportsRefusal'])
    const startedAtMs = reportsRefusal ? this.#components.reports.start() : undefined
    const decision = await this.#run(this.#peeking(request))
    if (reportsRefusal && !decision.allowed) {
      const { reports } = this.#components
      reports.decided(decision, { operation: decision.operation }, startedAtMs)
    }
    return decision
  }

  /** {@link peek} over synchronous stores. */
  protected peekingSync(request: QuotaRequest): Decision {
    return runSync(this.#peeking(request))
  }

  *#peeking(request: QuotaRequest): Task<Decision> {
    this.#requireOpen()
    const { check, live, demands, decisions, calls } = this.#components
    const startedAt = yield* calls.ready()
    let demand = demands.of(request, check.operation(request, live.compiled), NO_KEY, undefined)
    if (!demand.hasSubjectSettings)
      demand = demands.withQuotas(demand, yield* calls.quotasOf(demand.subject, demand, startedAt))
    const blocked = decisions.blocked(demand)
    if (blocked !== undefined) return blocked
    if (isFree(demand.price) && !takesSlots(demand.price)) return decisions.free(demand)
    return decisions.peeked(demand, yield* calls.read(demand, startedAt))
  }

  reserve(request: ReserveRequest): Promise<Reservation> {
    return request?.signal === undefined ? this.#take(request, this.#reservation) : this.#reserveOrAbort(request)
  }

  /** {@link reserve} over synchronous stores. */
  protected reservingSync(request: ReserveRequest): Reservation {
    return this.#takeSync(request, this.#syncReservation)
  }

  async #reserveOrAbort(request: ReserveRequest): Promise<Reservation> {
    request.signal!.throwIfAborted()
    return orAborted(this.reserve({ ...request, signal: undefined }), request.signal!)
  }

  async status(subject: Subject, options?: Pick<QuotaRequest, 'plan' | 'limits'>): Promise<QuotaStatus> {
    return this.#run(this.#reading(subject, options))
  }

  /** {@link status} over synchronous stores. */
  protected readingSync(subject: Subject, options?: Pick<QuotaRequest, 'plan' | 'limits'>): QuotaStatus {
    return runSync(this.#reading(subject, options))
  }

  *#reading(given: Subject, options?: Pick<QuotaRequest, 'plan' | 'limits'>): Task<QuotaStatus> {
    this.#requireOpen()
    const { calls, check, store, decisions } = this.#components
    const startedAt = yield* calls.ready()
    const { subject, ...terms } = check.status(given, options)
    const quotas = yield* calls.quotasOf(subject, terms, startedAt)
    const listed = calls.holdsOf(subject, startedAt)
    const read = yield* calls.read({ subject, set: ALL, quotas }, startedAt)
    return decisions.status(quotas, read, yield* answered(store.sync, listed))
  }

  async run<T>(
    request: ReserveRequest,
    work: (reservation: HeldReservation) => T | PromiseLike<T>,
  ): Promise<RunResult<T>> {
    checkWork(request, work)
    const reservation = await this.reserve(request)
    if (reservation.status === 'refused') return { allowed: false, status: 'refused', decision: reservation.decision }
    if (reservation.status !== 'reserved') return { allowed: false, status: reservation.status }
    return worked(reservation, work)
  }

  async resume(token: string): Promise<ResumedReservation> {
    this.#requireOpen()
    const components = this.#components
    const { subject, operation, plan, numbers, id, nonce, fingerprint, slot, ttlMs } = holdOfToken(token)
    const set = placedLimits(this.policy).setOf.get(operation)
    if (set === undefined) {
      throw new QuotaError('invalid_token', `token: a hold of "${operation}", which this policy does not have`)
    }
    components.check.subject(subject)
    await runAsync(components.calls.ready())
    const reservationId: ReservationId = { id, nonce, fingerprint, ttlMs: components.check.idTtlMs }
    const ref = { subject, id: reservationId }
    // Reading doesn't change when a window ends.
    const {
      outcome,
      now,
      endsAt = now,
    } = await callHolds(components.calls, (holds) => holds.extend({ ...ref, ttlMs: 0 }))
    if (outcome === 'unknown') {
      throw new QuotaError('reservation_expired', 'unknown hold: this store never had it, or its record has expired')
    }
    const identity = { ...ref, set, operation, plan, numbers, slot, ttlMs }
    return resumedHandle(new HoldHandle(components, identity, endsAt), subject, operation)
  }

  async reset(subject: Subject, options?: Parameters<Quota['reset']>[1]): Promise<void> {
    this.#requireOpen()
    const { limits: named } = callOptions('reset()', options, ['limits'])
    if (named !== undefined && !Array.isArray(named)) {
      throw new QuotaError('invalid_reset', `limits: expected an array of names, got ${kindOf(named)}`)
    }
    const names = limitNames(this.policy)
    const unknown = named?.find((name) => !names.includes(name))
    if (unknown !== undefined) {
      throw new QuotaError('invalid_reset', `no limit ${noSuchName(unknown, names, 'the policy has')}`)
    }
    const keyed = this.#components.check.subject(subject)
    const isReset = ({ rule, ofLayer }: PlacedLimit): boolean =>
      hasKey(ofLayer, keyed) && (named === undefined ? !ofLayer.shared : named.includes(rule.name))
    const limits = placedLimits(this.policy).limits.filter(isReset)
    await runAsync(this.#resetting({ subject: keyed, limits: limits.map(({ at }) => at) }))
  }

  *#resetting(request: ResetRequest & { readonly subject: Subject }): Task<void> {
    const { calls, freed } = this.#components
    yield* calls.reset(request)
    freed(request.subject)
  }

  inTransaction(transaction: unknown): QuotaInTransaction {
    this.#requireOpen()
    const { store, settingsStore, live, periods, demands, calls, decisions } = this.#components
    const counters = store.sync ? undefined : store.inTransaction?.(placedLimits(this.policy).schema, transaction)
    if (counters === undefined) {
      const message =
        'inTransaction: this store has no transactions; docs/guide/stores.md lists what each store supports'
      throw new QuotaError('store_unsupported', message)
    }
    const settings = settingsStore.inTransaction?.(transaction)
    // A late charge is part of the transaction, and is rolled back with it.
    const late = (): void => undefined
    // The transaction already has its connection.
    const deadline = new CallDeadline(this.#components.deadline.ms)
    const common = { live, periods, demands, deadline, counters, settings, late }
    const takes = new Takes({ ...common, sync: false, keepsTime: true })
    const inTransaction: Purpose<QuotaRequest, Decision> = {
      ...this.#consumption,
      of(demand, reply) {
        if (reply.outcome !== 'failed') return decisions.of(demand, reply)
        throw unavailable(reply.error, reply.ofSettings ? 'the settings store' : undefined)
      },
    }
    const consume = async (request: QuotaRequest): Promise<Decision> => {
      this.#requireOpen()
      if (!live.loaded) await runAsync(calls.call(() => live.ready(settings), 'the settings store'))
      return takes.take(request, inTransaction)
    }
    return { consume }
  }

  on<E extends QuotaEvent>(event: E, listener: QuotaListener<E>): () => void {
    const { events, store } = this.#components
    const off = events.on(event, listener)
    if (OF_ENDED_HOLDS.includes(event) && store.can?.holds === true) this.#watch.start()
    return () => {
      off()
      if (!OF_ENDED_HOLDS.some((each) => events.hasListeners(each))) this.#watch.stop()
    }
  }

  async ready(): Promise<void> {
    this.#requireOpen()
    const { calls, live } = this.#components
    await runAsync(calls.ready())
    await live.factorSettled()
  }

  close(): Promise<void> {
    this.#watch.stop()
    this.#closing ??= this.#components.close()
    return this.#closing
  }

  /** Consumes by a reservation, which is refunded if the signal aborts first. Its commit calls no store. */
  async #consumeOrAbort(request: QuotaRequest): Promise<Decision> {
    request.signal!.throwIfAborted()
    if (this.sync) return this.consumingSync(request)
    const { check, live } = this.#components
    check.consumable(check.operation(request, live.compiled), request)
    const reservation = await this.reserve(request)
    if (reservation.status === 'reserved') await reservation.commit()
    return reservation.decision as Decision
  }

  #requireOpen(): void {
    if (this.#closing !== undefined) throw closed()
  }
}

/** An engine over synchronous stores: every call can return its result directly. */
class SyncQuotaEngine extends QuotaEngine implements SyncQuota {
  override readonly sync = true

  consumeSync(request: QuotaRequest): Decision {
    return this.consumingSync(request)
  }

  peekSync(request: QuotaRequest): Decision {
    return this.peekingSync(request)
  }

  reserveSync(request: ReserveRequest): SyncReservation {
    return this.reservingSync(request) as unknown as SyncReservation
  }

  statusSync(subject: Subject, options?: Pick<QuotaRequest, 'plan' | 'limits'>): QuotaStatus {
    return this.readingSync(subject, options)
  }
}

/** Events that need polling for ended holds. */
const OF_ENDED_HOLDS: readonly QuotaEvent[] = ['holdEnded', 'freed']

function closed(): QuotaError {
  return new QuotaError('quota_closed', 'the engine is closed; close it after all work has finished')
}

/** Options of an engine with synchronous stores. */
export interface SyncQuotaOptions<Operation extends string = string, C extends Counting = Counting>
  extends QuotaOptions<Operation, C> {
  readonly store?: SyncStore | undefined
  readonly settingsStore?: SyncSettingsStore | undefined
}

/** Makes an engine from parsed options. */
export function quotaOf(options: ParsedQuotaOptions): Quota {
  const components = new EngineComponents(options)
  const { store, settingsStore } = components
  return store.sync && settingsStore.sync ? new SyncQuotaEngine(components) : new QuotaEngine(components)
}

/** Whether an engine has the `...Sync` calls. */
export function isSyncQuota<Operation extends string, C extends Counting>(
  quota: Quota<Operation, C>,
): quota is SyncQuota<Operation, C> {
  return quota.sync
}
