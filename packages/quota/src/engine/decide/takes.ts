import type { Demand } from '../../decision/decide.ts'
import { QuotaError } from '../../errors/quota-error.ts'
import type { Quotas } from '../../policy/limits.ts'
import type { LimitNumbers } from '../../policy/policy.ts'
import { takesSlots } from '../../policy/units.ts'
import type { Answer, Counters, TakeReply, TakeRequest } from '../../store/quota-store.ts'
import type { SettingsReader } from '../../store/settings-store.ts'
import { countedSubject, type Subject } from '../../store/subjects.ts'
import { systemStopwatch } from '../../time/clock.ts'
import type { QuotaRequest } from '../requests.ts'
import type { CompiledOperation } from '../settings/compiled-settings.ts'
import type { LiveSettings } from '../settings/live-settings.ts'
import type { LivePeriods } from '../settings/live-subjects.ts'
import type { RequestCheck, ReservationKey } from './check.ts'
import { type CallDeadline, MAX_CATCH_UPS, MAX_STALE, otherSettings } from './store-call.ts'

/** A request for stores. The same object serves until its decision is shown. */
export interface TakeDemand extends Demand, TakeRequest {
  readonly subject: Subject
  /** The cost of the request, slots included. {@link costs} has no slots if no applying layer limits them. */
  readonly price: readonly number[]
  /** When the request started, by the stopwatch; `undefined` while no listener measures decisions. */
  readonly startedAtMs: number | undefined
  /** Whether the quotas are the subject's. Before its settings are read, they are the defaults. */
  readonly hasSubjectSettings: boolean
  /** Why a synchronous store couldn't read the subject's settings. */
  readonly settingsError: unknown
}

/** Makes demands with the current settings. */
export class Demands {
  readonly #live: LiveSettings
  readonly #periods: LivePeriods
  readonly #check: Pick<RequestCheck, 'cost' | 'numbers'>

  constructor(live: LiveSettings, periods: LivePeriods, check: Pick<RequestCheck, 'cost' | 'numbers'>) {
    this.#live = live
    this.#check = check
    this.#periods = periods
  }

  /** @throws {QuotaError} `invalid_cost`, `invalid_request` */
  of(
    request: QuotaRequest,
    { name, set, costs }: CompiledOperation,
    { id, hold }: ReservationKey,
    startedAtMs: number | undefined,
  ): TakeDemand {
    const { subject, plan } = request
    const price = this.#check.cost(request, costs)
    const numbers = this.#check.numbers(request.limits)
    return this.#made(countedSubject(subject), name, set, price, plan, numbers, id, hold, startedAtMs)
  }

  /** Returns another demand of the same operation, with the current settings. */
  more({ subject, operation, set, plan, numbers }: TakeDemand, costs: readonly number[]): TakeDemand {
    return this.#made(subject, operation, set, costs, plan, numbers, undefined, undefined, undefined)
  }

  #made(
    subject: Subject,
    operation: string,
    set: number,
    price: readonly number[],
    plan: string | undefined,
    numbers: LimitNumbers | undefined,
    id: TakeDemand['id'],
    hold: TakeDemand['hold'],
    startedAtMs: number | undefined,
  ): TakeDemand {
    const live = this.#live
    let cached: Quotas | undefined
    let settingsError: unknown
    try {
      cached = live.cached(subject, { plan, numbers })
    } catch (error) {
      settingsError = error
    }
    const quotas = cached ?? live.compiled.defaults
    // Every decision runs this. A single object shape is fastest.
    return {
      subject,
      operation,
      set,
      costs: quotas.slotless?.includes(set) === true ? slotless(price) : price,
      plan,
      numbers,
      quotas,
      periods: this.#periods.of(quotas),
      settingsVersion: live.compiled.settings.version,
      settingsRevision: live.revision,
      id,
      hold,
      price,
      startedAtMs,
      hasSubjectSettings: cached !== undefined,
      settingsError,
    }
  }

  /** Returns the demand with different quotas, and the current settings and periods. */
  withQuotas(demand: TakeDemand, quotas: Quotas): TakeDemand {
    const live = this.#live
    return {
      ...demand,
      costs: quotas.slotless?.includes(demand.set) === true ? slotless(demand.price) : demand.price,
      quotas,
      periods: this.#periods.of(quotas),
      settingsVersion: live.compiled.settings.version,
      settingsRevision: live.revision,
      hasSubjectSettings: true,
    }
  }
}

/** Removes the slot from a price. A hold takes none if no applying layer limits them. */
function slotless(price: readonly number[]): readonly number[] {
  return takesSlots(price) ? price.with(-1, 0) : price
}

/** The store failed: an error, no reply in time, or no room. */
export class StoreFailure {
  readonly outcome = 'failed'
  readonly error: unknown
  /** Whether the settings could not be read. */
  readonly ofSettings: boolean

  constructor(error: unknown, ofSettings = false) {
    this.error = error
    this.ofSettings = ofSettings
  }
}

/** The store's reply to a demand, or its failure. */
export type Replied = TakeReply | StoreFailure

/** A kind of take, such as `consume`. It makes a demand from a request `R`, and a result `T` from the reply. */
export interface Purpose<R, T> {
  /** Makes the demand with the current settings, so call it after they were read. Throws for an invalid request. */
  demand(request: R): TakeDemand
  /** Returns the result if the counters needn't be called. `undefined` also while that isn't known. */
  free(demand: TakeDemand): T | undefined
  /** Makes the result. @param demand with the settings and periods that decided it */
  of(demand: TakeDemand, reply: Replied): T
}

interface TakesDeps {
  readonly live: LiveSettings
  readonly periods: LivePeriods
  readonly demands: Demands
  readonly counters: Counters
  /** Whether the counters are synchronous. */
  readonly sync: boolean
  /** Whether the store of the counters enforces the deadline itself. */
  readonly keepsTime: boolean
  readonly deadline: CallDeadline
  /** Reads the settings in the counters' transaction. */
  readonly settings?: SettingsReader | undefined
  /** Called with an admission that arrived after the deadline, when its caller had already got a response. */
  readonly late: (demand: TakeDemand, reply: TakeReply) => void
}

/** State of one take and its attempts. */
interface Attempts {
  /**
   * When its caller started to wait, by the system stopwatch. Absent while it only waits for a store that enforces the
   * deadline.
   */
  startedAt: number | undefined
  /** Whether it is waiting for settings, so that an error names their store. */
  waitsForSettings: boolean
  stalePeriods: number
  staleSettings: number
}

/** Calls `take` of the counters with the current settings and periods. Repeats it while the reply is stale. */
export class Takes {
  readonly #deps: TakesDeps

  constructor(deps: TakesDeps) {
    this.#deps = deps
  }

  /**
   * For synchronous counters and settings. Throws what the purpose throws. A store's error becomes a {@link
   * StoreFailure}.
   */
  takeSync<R, T>(request: R, purpose: Purpose<R, T>): T {
    let demand = purpose.demand(request)
    const free = purpose.free(demand)
    if (free !== undefined) return free
    if (demand.settingsError !== undefined) return purpose.of(demand, new StoreFailure(demand.settingsError, true))
    const { counters, periods } = this.#deps
    let reply: Replied
    let tries = 0
    do {
      try {
        reply = counters.take(demand) as TakeReply
        if (reply.outcome === 'stale') demand = this.#withOtherPeriods(demand, reply, ++tries)
        else periods.advanceTo(reply.now)
      } catch (error) {
        reply = new StoreFailure(error)
      }
    } while (reply.outcome === 'stale')
    return purpose.of(demand, reply)
  }

  /** With synchronous stores, only periods can be stale. */
  #withOtherPeriods(demand: TakeDemand, { now, settingsRevision }: TakeReply, tries: number): TakeDemand {
    if (settingsRevision !== undefined) throw otherSettings()
    return this.#withPeriodsAt(now, demand, tries)
  }

  /**
   * For all other stores. Reads the subject's settings if they aren't cached, and stale settings again, within the
   * deadline. Rejects with what the purpose throws. A store's error becomes a {@link StoreFailure}.
   */
  take<R, T>(request: R, purpose: Purpose<R, T>): Promise<T> {
    return this.#deps.live.loaded ? this.#taken(request, purpose) : this.#takenFirst(request, purpose)
  }

  async #takenFirst<R, T>(request: R, purpose: Purpose<R, T>): Promise<T> {
    const startedAt = systemStopwatch()
    try {
      await this.#deps.live.ready()
    } catch (error) {
      return purpose.of(purpose.demand(request), new StoreFailure(error, true))
    }
    return this.#taken(request, purpose, startedAt)
  }

  /**
   * The whole take in one `async` function, because awaiting another one would cost one more promise.
   *
   * @param startedAt when the caller started to wait for the first read of the settings, by the system stopwatch;
   * absent if it didn't
   */
  async #taken<R, T>(request: R, purpose: Purpose<R, T>, startedAt?: number): Promise<T> {
    let demand = purpose.demand(request)
    const free = purpose.free(demand)
    if (free !== undefined) return free
    const { counters, sync, periods } = this.#deps
    const attempts = this.#attempts(demand, startedAt)
    let reply: Replied
    do {
      try {
        if (!demand.hasSubjectSettings) {
          demand = await this.#withSubjectSettings(demand, attempts)
          const known = purpose.free(demand)
          if (known !== undefined) return known
        }
        reply = sync ? (counters.take(demand) as TakeReply) : await this.#reply(demand, attempts)
        if (reply.outcome === 'stale') demand = await this.#caughtUp(demand, reply, attempts)
        else periods.advanceTo(reply.now)
      } catch (error) {
        reply = new StoreFailure(error, attempts.waitsForSettings)
      }
    } while (reply.outcome === 'stale')
    return purpose.of(demand, reply)
  }

  #attempts({ hasSubjectSettings }: TakeDemand, waitsSince: number | undefined): Attempts {
    const isUntimed = this.#deps.keepsTime && hasSubjectSettings
    const startedAt = waitsSince ?? (isUntimed ? undefined : systemStopwatch())
    return { startedAt, waitsForSettings: false, stalePeriods: 0, staleSettings: 0 }
  }

  async #withSubjectSettings(demand: TakeDemand, attempts: Attempts): Promise<TakeDemand> {
    const { live, settings, demands } = this.#deps
    const { subject } = demand
    attempts.waitsForSettings = true
    if (demand.settingsError !== undefined) throw demand.settingsError
    const quotas =
      live.cached(subject, demand) ??
      live.quotasOf(await this.#inTime(live.fetch(subject, settings), attempts), demand, subject)
    attempts.waitsForSettings = false
    return demands.withQuotas(demand, quotas)
  }

  /** Returns the demand after a stale reply: with other periods, or with other settings after reading them. */
  async #caughtUp(demand: TakeDemand, { now, settingsRevision }: TakeReply, attempts: Attempts): Promise<TakeDemand> {
    if (settingsRevision === undefined && demand.periods !== undefined) {
      attempts.stalePeriods++
      return this.#withPeriodsAt(now, demand, attempts.stalePeriods)
    }
    const { live, settings } = this.#deps
    attempts.stalePeriods = 0
    attempts.staleSettings++
    if (attempts.staleSettings > MAX_CATCH_UPS) throw tooFast('the settings changed', 'they could be read')
    attempts.startedAt ??= systemStopwatch()
    attempts.waitsForSettings = true
    await this.#inTime(live.catchUp(settingsRevision ?? '', settings), attempts)
    return { ...demand, hasSubjectSettings: false }
  }

  /** Returns the demand with the periods at the store's time. */
  #withPeriodsAt(now: number, demand: TakeDemand, tries: number): TakeDemand {
    const { periods, demands } = this.#deps
    if (tries === MAX_STALE) throw tooFast("the store's clock was turned", 'its periods could be computed')
    periods.resetTo(now)
    return demands.withQuotas(demand, demand.quotas)
  }

  /** Returns the reply, within the deadline. An admission that arrives later is refunded. */
  #reply(demand: TakeDemand, attempts: Attempts): Answer<TakeReply> {
    const { counters, late } = this.#deps
    const answer = counters.take(demand)
    if (attempts.startedAt === undefined) return answer
    return this.#inTime(answer, attempts, (reply) => {
      if (reply.outcome === 'admitted') late(demand, reply)
    })
  }

  /** @throws {QuotaError} `store_error` after the rest of the deadline */
  #inTime<T>(answer: Answer<T>, { startedAt = 0 }: Attempts, late?: (value: T) => void): Promise<T> {
    return this.#deps.deadline.within(answer, startedAt, late)
  }
}

function tooFast(what: string, until: string): QuotaError {
  return new QuotaError('store_error', `${what} faster than ${until}`)
}
