import { QuotaError } from '../../errors/quota-error.ts'
import type { Answer, Counters, TakeReply } from '../../store/quota-store.ts'
import type { SettingsReader } from '../../store/settings-store.ts'
import { systemStopwatch } from '../../time/clock.ts'
import type { LivePeriods } from '../settings/live-periods.ts'
import type { LiveSettings } from '../settings/live-settings.ts'
import type { Demands, TakeDemand } from './demands.ts'
import { MAX_CATCH_UPS, MAX_STALE, otherSettings, withinTime } from './store-call.ts'

/** The store threw, did not answer in time, or had no room. */
export class StoreFailure {
  readonly outcome = 'failed'
  readonly error: unknown
  /** Whether it was the settings that could not be read. */
  readonly ofSettings: boolean

  constructor(error: unknown, ofSettings = false) {
    this.error = error
    this.ofSettings = ofSettings
  }
}

/** What a store replied to a demand, and the demand under the settings and periods that it was decided by. */
export interface Taken {
  readonly demand: TakeDemand
  readonly reply: TakeReply | StoreFailure
}

/** The very first read of the settings, for which a request waited. */
export interface FirstRead {
  /** Since when, by the machine's stopwatch. */
  readonly startedAt: number
  /** Never `undefined` where it failed. */
  readonly error?: unknown
}

export interface TakesDeps {
  readonly live: LiveSettings
  readonly periods: LivePeriods
  readonly demands: Demands
  readonly counters: Counters
  /** Whether the counters are synchronous. */
  readonly sync: boolean
  /** Whether the counters keep the deadline themselves. */
  readonly keepsTime: boolean
  readonly deadlineMs: number
  /** Reads the settings as a part of the transaction that the counters are in. */
  readonly settings?: SettingsReader | undefined
  /** Called with an admission that arrived after the deadline, when its caller had been answered. */
  readonly late: (demand: TakeDemand, reply: TakeReply) => void
}

/** The attempts of one take. */
interface Attempts {
  /** Since when its caller waits, by the machine's stopwatch; absent while only a store is awaited that keeps the deadline. */
  startedAt: number | undefined
  /** Whether settings are awaited, so that a failure names their store. */
  waitsForSettings: boolean
  stalePeriods: number
  staleSettings: number
}

/** Calls `take` of the counters under the settings and periods in force, and repeats it while the reply is stale. */
export class Takes {
  readonly #deps: TakesDeps

  constructor(deps: TakesDeps) {
    this.#deps = deps
  }

  /** For synchronous counters and settings: only periods can be stale. Never throws: a failure is a {@link StoreFailure}. */
  takeSync(first: TakeDemand): Taken {
    const { counters, periods } = this.#deps
    if (first.settingsError !== undefined) return failed(first, first.settingsError, true)
    let demand = first
    try {
      for (let tries = 1; ; tries++) {
        const reply = counters.take(demand) as TakeReply
        if (reply.outcome !== 'stale') {
          periods.advanceTo(reply.now)
          return { demand, reply }
        }
        if (reply.settingsRevision !== undefined) throw otherSettings()
        demand = this.#withPeriodsAt(reply.now, demand, tries)
      }
    } catch (error) {
      return failed(demand, error)
    }
  }

  /**
   * For all other stores: reads the subject's settings unless they are cached, and reads stale settings again, all within
   * the deadline. Never rejects: a failure is a {@link StoreFailure}.
   *
   * @param read the first read of the settings, if the caller waited for it
   */
  async take(first: TakeDemand, read?: FirstRead): Promise<Taken> {
    const { counters, sync, keepsTime, periods } = this.#deps
    const settingsError = first.settingsError ?? read?.error
    if (settingsError !== undefined) return failed(first, settingsError, true)
    const startedAt = read?.startedAt ?? (keepsTime && first.hasSubjectSettings ? undefined : systemStopwatch())
    const attempts: Attempts = { startedAt, waitsForSettings: false, stalePeriods: 0, staleSettings: 0 }
    let demand = first
    try {
      for (;;) {
        if (!demand.hasSubjectSettings) demand = await this.#withSubjectSettings(demand, attempts)
        const reply = sync ? (counters.take(demand) as TakeReply) : await this.#reply(demand, attempts)
        if (reply.outcome !== 'stale') {
          periods.advanceTo(reply.now)
          return { demand, reply }
        }
        demand = await this.#caughtUp(demand, reply, attempts)
      }
    } catch (error) {
      return failed(demand, error, attempts.waitsForSettings)
    }
  }

  async #withSubjectSettings(demand: TakeDemand, attempts: Attempts): Promise<TakeDemand> {
    const { live, settings, demands } = this.#deps
    const { subject, plan, category } = demand
    attempts.waitsForSettings = true
    const quotas =
      live.cached(subject, plan) ??
      live.quotasOf(await this.#inTime(live.fetch(subject, settings), attempts), plan, subject)
    attempts.waitsForSettings = false
    return demands.withQuotas(demand, quotas[category]!)
  }

  /** The demand after a stale reply: under other periods, or under other settings, which are read first. */
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

  /** The demand under the periods at the store's time, which was outside those of the demand. */
  #withPeriodsAt(now: number, demand: TakeDemand, tries: number): TakeDemand {
    const { periods, demands } = this.#deps
    if (tries === MAX_STALE) throw tooFast("the store's clock was turned", 'its periods could be computed')
    periods.resetTo(now)
    return demands.withQuotas(demand, demand.quotas)
  }

  /** The reply, within the deadline; an admission that arrives later is refunded. */
  #reply(demand: TakeDemand, attempts: Attempts): Answer<TakeReply> {
    const { counters, late } = this.#deps
    const answer = counters.take(demand)
    if (attempts.startedAt === undefined) return answer
    return this.#inTime(answer, attempts, (reply) => {
      if (reply.outcome === 'admitted') late(demand, reply)
    })
  }

  /** @throws {QuotaError} `store_error` when the rest of the deadline has passed */
  #inTime<T>(answer: Answer<T>, { startedAt = 0 }: Attempts, late?: (value: T) => void): Promise<T> {
    return withinTime(answer, Math.max(0, this.#deps.deadlineMs - (systemStopwatch() - startedAt)), late)
  }
}

function failed(demand: TakeDemand, error: unknown, ofSettings = false): Taken {
  return { demand, reply: new StoreFailure(error, ofSettings) }
}

function tooFast(what: string, until: string): QuotaError {
  return new QuotaError('store_error', `${what} faster than ${until}`)
}
