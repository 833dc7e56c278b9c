import type { Demand } from '../../decision/decide.ts'
import type { Quotas } from '../../policy/limits.ts'
import type { LimitNumbers } from '../../policy/policy.ts'
import { countedSubject } from '../../policy/subject-key.ts'
import { takesSlots } from '../../policy/units.ts'
import type { TakeRequest } from '../../store/quota-store.ts'
import type { Subject } from '../../store/schema.ts'
import type { QuotaRequest } from '../requests.ts'
import type { CompiledOperation } from '../settings/compiled-settings.ts'
import type { LivePeriods } from '../settings/live-periods.ts'
import type { LiveSettings } from '../settings/live-settings.ts'
import type { RequestCheck, ReservationKey } from './check.ts'

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
