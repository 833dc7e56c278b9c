import { QuotaError } from '../../errors/quota-error.ts'
import type { Quotas } from '../../policy/limits.ts'
import type { AsyncHolds, HoldRecord, SyncHolds } from '../../store/hold-port.ts'
import type { Answer, Counters, ReadReply, ReadRequest, ResetRequest, SettleRequest } from '../../store/quota-store.ts'
import type { Subject } from '../../store/schema.ts'
import { systemStopwatch } from '../../time/clock.ts'
import type { LivePeriods } from '../settings/live-periods.ts'
import type { LiveSettings } from '../settings/live-settings.ts'
import { type Asked, type Driver, LATER, MAX_STALE, NOW, unavailable } from './driver.ts'

const NO_HOLDS: readonly HoldRecord[] = []

type Holds = SyncHolds | AsyncHolds

export interface CounterCallsParts {
  readonly counters: Counters
  /** How the counters answer, and how the settings do. */
  readonly driver: Driver
  readonly settingsDriver: Driver
  /** Whether the counters answer in time by themselves. */
  readonly keepsTime: boolean
  readonly deadlineMs: number
  readonly live: LiveSettings
  readonly periods: LivePeriods
}

/** All calls to the counters but takes: in time, and with errors as callers see them. */
export class CounterCalls {
  readonly #parts: CounterCallsParts

  constructor(parts: CounterCallsParts) {
    this.#parts = parts
  }

  /** Goes on once the settings were read for the first time, with the instant from which the caller waits. */
  ready<T>(next: (askedAt: number) => Answer<T>): Answer<T> {
    const { live, driver, settingsDriver } = this.#parts
    if (live.loaded) return next(driver.sync && settingsDriver.sync ? 0 : systemStopwatch())
    const askedAt = systemStopwatch()
    return LATER.guard(
      () => live.ready(),
      () => next(askedAt),
      (error) => {
        throw unavailable(error, 'the settings store')
      },
    )
  }

  /** A subject's quotas by category. @param askedAt as of {@link ready} */
  quotasOf<T>(
    subject: Subject,
    plan: string | undefined,
    askedAt: number,
    next: (quotas: readonly Quotas[]) => Answer<T>,
  ): Answer<T> {
    const { live, settingsDriver } = this.#parts
    const read = (): Answer<readonly Quotas[]> =>
      live.known(subject, plan) ??
      LATER.chain(live.fetch(subject), (settings) => live.quotasOf(settings, plan, subject))
    return this.call(settingsDriver, read, next, 'the settings store', askedAt)
  }

  /**
   * Reads counters, again where their clock is outside of the periods.
   *
   * @param request made for each try
   * @param askedAt as of {@link ready}
   */
  read<T>(
    request: () => ReadRequest,
    askedAt: number,
    next: (request: ReadRequest, reply: ReadReply) => Answer<T>,
    tries = 1,
  ): Answer<T> {
    const { counters, driver, periods } = this.#parts
    const asked = request()
    const answered = (reply: ReadReply): Answer<T> => {
      if (reply.isStale !== true || tries === MAX_STALE) return next(asked, reply)
      periods.stale(reply.now)
      return this.read(request, askedAt, next, tries + 1)
    }
    return this.call(driver, () => counters.read(asked), answered, undefined, askedAt)
  }

  /** The open holds of a subject, read beside its windows; their failure is the caller's to see when it goes on. */
  holdsOf(subject: Subject, askedAt: number): Answer<readonly HoldRecord[]> {
    const { counters, driver } = this.#parts
    const { holds } = counters
    if (holds === undefined) return NO_HOLDS
    const listed = this.call(
      driver,
      () => holds.list({ subject }),
      (reply) => reply.holds,
      undefined,
      askedAt,
    )
    if (!driver.sync) (listed as Promise<unknown>).catch(() => undefined)
    return listed
  }

  /** @throws {QuotaError} `holds_unsupported` */
  holds<A, B>(call: (holds: Holds) => Answer<A>, next: (reply: A) => Answer<B>): Answer<B> {
    const { counters, driver, keepsTime } = this.#parts
    const { holds } = counters
    if (holds === undefined) {
      throw new QuotaError('holds_unsupported', 'this store has no holds; see what each store can in its page')
    }
    return this.call(driver, () => call(holds), next, undefined, keepsTime ? undefined : systemStopwatch())
  }

  /**
   * Calls the holds under the quotas that are in force for a subject, again where they know other settings, or where their
   * clock is outside of the periods.
   *
   * @param request made for each try
   */
  holdsInForce<Q, A extends { readonly outcome: string; readonly now: number }, B>(
    of: { readonly subject: Subject; readonly plan?: string | undefined; readonly category: number },
    request: (quotas: Quotas) => Q,
    call: (holds: Holds, request: Q) => Answer<A>,
    next: (request: Q, reply: A) => Answer<B>,
    tries = 1,
  ): Answer<B> {
    const { live, periods } = this.#parts
    const send = (asked: Q): Answer<B> =>
      this.holds(
        (holds) => call(holds, asked),
        (reply): Answer<B> => {
          if (reply.outcome !== 'stale') return next(asked, reply)
          if (tries === MAX_STALE)
            throw unavailable(new QuotaError('store_error', 'settings and clock changed too fast'))
          const again = (): Answer<B> => this.holdsInForce(of, request, call, next, tries + 1)
          const { settingsRevision } = reply as { readonly settingsRevision?: string | undefined }
          if (settingsRevision !== undefined) {
            return this.call(LATER, () => live.catchUp(settingsRevision), again, 'the settings store')
          }
          periods.stale(reply.now)
          return again()
        },
      )
    return this.ready((askedAt) =>
      this.quotasOf(of.subject, of.plan, askedAt, (all) => send(request(all[of.category]!))),
    )
  }

  /** Ends a reservation that is no hold. */
  settle(request: SettleRequest): Answer<void> {
    return this.#inTime(this.#parts.counters.settle(request))
  }

  reset(request: ResetRequest): Answer<void> {
    return this.#inTime(this.#parts.counters.reset(request))
  }

  /**
   * Calls a store; what goes wrong is `quota_unavailable`.
   *
   * @param askedAt since when the caller waits, by the machine's stopwatch; absent: the store keeps time
   */
  call<A, B>(
    driver: Driver,
    call: () => Answer<A>,
    next: (value: A) => Answer<B>,
    of?: Asked,
    askedAt?: number,
  ): Answer<B> {
    const { deadlineMs } = this.#parts
    const timed =
      askedAt === undefined || driver === NOW
        ? call
        : () => driver.inTime(call, Math.max(0, deadlineMs - (systemStopwatch() - askedAt)))
    return driver.guard(timed, next, (error) => {
      throw unavailable(error, of)
    })
  }

  #inTime(answer: Answer<void>): Answer<void> {
    const { keepsTime, deadlineMs } = this.#parts
    return keepsTime ? answer : LATER.inTime(() => answer, deadlineMs)
  }
}
