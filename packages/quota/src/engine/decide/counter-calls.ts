import { QuotaError } from '../../errors/quota-error.ts'
import type { Quotas } from '../../policy/limits.ts'
import type { AsyncHolds, HoldRecord, SyncHolds } from '../../store/hold-port.ts'
import type {
  Answer,
  Counters,
  ReadReply,
  ReadRequest,
  ResetRequest,
  SettleRequest,
  StoreAbilities,
} from '../../store/quota-store.ts'
import type { Subject } from '../../store/subjects.ts'
import { systemStopwatch } from '../../time/clock.ts'
import type { RequestTerms } from '../settings/compiled-settings.ts'
import type { LiveSettings } from '../settings/live-settings.ts'
import type { LivePeriods } from '../settings/live-subjects.ts'
import {
  type CallDeadline,
  MAX_STALE,
  otherSettings,
  runAsync,
  runSync,
  type StoreName,
  type Task,
  unavailable,
  unsupported,
} from './store-call.ts'

const NO_HOLDS: readonly HoldRecord[] = []

type Holds = SyncHolds | AsyncHolds

/** A call of the store: its request, the last one if it was repeated, and the reply. */
export interface Call<Q, A> {
  readonly request: Q
  readonly reply: A
}

/** Whose counters are read: with `set`, an index of the schema's `sets`. */
interface ReadOf {
  readonly subject: Subject
  readonly set: number
  readonly quotas: Quotas
}

interface CounterCallsDeps {
  readonly counters: Counters
  readonly can: StoreAbilities | undefined
  /** Whether the counters and the settings are synchronous. */
  readonly sync: boolean
  readonly settingsSync: boolean
  /** Whether the store of the counters enforces the deadline itself. */
  readonly keepsTime: boolean
  readonly deadline: CallDeadline
  readonly live: LiveSettings
  readonly periods: LivePeriods
}

/** All calls to the counters except takes. They enforce the deadline, and throw errors for callers. */
export class CounterCalls {
  readonly #deps: CounterCallsDeps

  constructor(deps: CounterCallsDeps) {
    this.#deps = deps
  }

  /** Waits until the settings have been read. @returns when the caller started to wait, by the system stopwatch */
  *ready(): Task<number> {
    const { live, sync, settingsSync } = this.#deps
    // Synchronous stores can't be late, so the stopwatch isn't read for them.
    const startedAt = sync && settingsSync ? 0 : systemStopwatch()
    if (!live.loaded) yield* this.call(() => live.ready(), 'the settings store')
    return startedAt
  }

  /** Returns a subject's quotas. @param startedAt see {@link ready} */
  *quotasOf(subject: Subject, terms: RequestTerms, startedAt: number): Task<Quotas> {
    const { live } = this.#deps
    let cached: Quotas | undefined
    try {
      cached = live.cached(subject, terms)
    } catch (error) {
      throw unavailable(error, 'the settings store')
    }
    if (cached !== undefined) return cached
    const settings = yield* this.call(() => live.fetch(subject), 'the settings store', startedAt)
    return live.quotasOf(settings, terms, subject)
  }

  /**
   * Reads counters. Repeats it while their clock is outside the request's periods. @param startedAt see {@link ready}
   */
  *read({ subject, set, quotas }: ReadOf, startedAt: number): Task<Call<ReadRequest, ReadReply>> {
    const { counters, periods } = this.#deps
    for (let tries = 1; ; tries++) {
      const request = { subject, set, layers: quotas.layers, periods: periods.of(quotas) }
      const reply = yield* this.#answer(() => counters.read(request), startedAt)
      if (reply.isStale !== true || tries === MAX_STALE) return { request, reply }
      periods.resetTo(reply.now)
    }
  }

  /** Starts reading a subject's open holds. An error of an asynchronous store is thrown where the result is awaited. */
  holdsOf(subject: Subject, startedAt: number): Answer<readonly HoldRecord[]> {
    const { counters, sync } = this.#deps
    const { holds } = counters
    if (holds === undefined) return NO_HOLDS
    if (sync) return runSync(this.#listed(holds, subject, startedAt))
    const listed = runAsync(this.#listed(holds, subject, startedAt))
    listed.catch(() => undefined)
    return listed
  }

  *#listed(holds: Holds, subject: Subject, startedAt: number): Task<readonly HoldRecord[]> {
    return (yield* this.#answer(() => holds.list({ subject }), startedAt)).holds
  }

  /** @throws {QuotaError} `holds_unsupported` */
  *holds<A>(call: (holds: Holds) => Answer<A>): Task<A> {
    const { counters, can } = this.#deps
    const { holds } = counters
    if (holds === undefined) throw unsupported('holds_unsupported', 'this store has no holds', can)
    return yield* this.#answer(() => call(holds))
  }

  /**
   * Calls holds with a subject's effective quotas. Repeats it while the store has newer settings, or its clock is
   * outside the periods.
   *
   * @param request makes the request of each attempt
   */
  *holdsInForce<Q, A extends { readonly outcome: string; readonly now: number }>(
    of: RequestTerms & { readonly subject: Subject },
    request: (quotas: Quotas) => Q,
    call: (holds: Holds, request: Q) => Answer<A>,
  ): Task<Call<Q, A>> {
    const { live, periods, sync, settingsSync } = this.#deps
    for (let tries = 1; ; tries++) {
      const startedAt = yield* this.ready()
      const sent = request(yield* this.quotasOf(of.subject, of, startedAt))
      const reply = yield* this.holds((holds) => call(holds, sent))
      if (reply.outcome !== 'stale') return { request: sent, reply }
      if (tries === MAX_STALE) throw unavailable(new QuotaError('store_error', 'settings and clock changed too fast'))
      const { settingsRevision } = reply as { readonly settingsRevision?: string | undefined }
      if (settingsRevision === undefined) periods.resetTo(reply.now)
      else if (sync && settingsSync) throw unavailable(otherSettings())
      else yield* this.call(() => live.catchUp(settingsRevision), 'the settings store')
    }
  }

  /** Settles a reservation that isn't a hold. */
  *settle(request: SettleRequest): Task<void> {
    yield* this.#answer(() => this.#deps.counters.settle(request))
  }

  *reset(request: ResetRequest): Task<void> {
    yield* this.#answer(() => this.#deps.counters.reset(request))
  }

  /** Calls the counters. @param startedAt see {@link ready}; absent: now */
  *#answer<A>(call: () => Answer<A>, startedAt?: number): Task<A> {
    const { sync, keepsTime } = this.#deps
    if (!sync) return yield* this.call(call, undefined, startedAt ?? (keepsTime ? undefined : systemStopwatch()))
    try {
      return call() as A
    } catch (error) {
      throw unavailable(error)
    }
  }

  /**
   * Calls an asynchronous store. Errors become `quota_unavailable`.
   *
   * @param startedAt when the caller started to wait, by the system stopwatch; absent: the store enforces the deadline
   */
  *call<A>(call: () => Answer<A>, of?: StoreName, startedAt?: number): Task<A> {
    try {
      const answer = call()
      if (startedAt === undefined) return (yield answer as PromiseLike<A>) as A
      return (yield this.#deps.deadline.within(answer, startedAt)) as A
    } catch (error) {
      throw unavailable(error, of)
    }
  }
}
