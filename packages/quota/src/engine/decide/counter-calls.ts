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
import type { Subject } from '../../store/schema.ts'
import { systemStopwatch } from '../../time/clock.ts'
import type { RequestTerms } from '../settings/compiled-settings.ts'
import type { LiveSettings } from '../settings/live-settings.ts'
import type { LivePeriods } from '../settings/live-subjects.ts'
import {
  type CallDeadline,
  MAX_STALE,
  otherSettings,
  runAsync,
  type StoreName,
  type Task,
  unavailable,
  unsupported,
} from './store-call.ts'

const NO_HOLDS: readonly HoldRecord[] = []

type Holds = SyncHolds | AsyncHolds

/** The last request of a series, and its reply. */
interface Exchange<Q, A> {
  readonly request: Q
  readonly reply: A
}

/** Whose counters are read: with `set`, an index of the schema's `sets`. */
interface ReadOf {
  readonly subject: Subject
  readonly set: number
  readonly quotas: Quotas
}

export interface CounterCallsDeps {
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

  /** Returns a subject's quotas, if they are cached or their store is synchronous. */
  cachedQuotas(subject: Subject, terms: RequestTerms): Quotas | undefined {
    try {
      return this.#deps.live.cached(subject, terms)
    } catch (error) {
      throw unavailable(error, 'the settings store')
    }
  }

  /** Returns a subject's quotas. @param startedAt see {@link ready} */
  *quotasOf(subject: Subject, terms: RequestTerms, startedAt: number): Task<Quotas> {
    const { live } = this.#deps
    const cached = this.cachedQuotas(subject, terms)
    if (cached !== undefined) return cached
    const settings = yield* this.call(() => live.fetch(subject), 'the settings store', startedAt)
    return live.quotasOf(settings, terms, subject)
  }

  /** {@link read} for synchronous counters. */
  readSync({ subject, set, quotas }: ReadOf): Exchange<ReadRequest, ReadReply> {
    const { counters, periods } = this.#deps
    for (let tries = 1; ; tries++) {
      const request = { subject, set, layers: quotas.layers, periods: periods.of(quotas) }
      const reply = callSync(() => counters.read(request))
      if (reply.isStale !== true || tries === MAX_STALE) return { request, reply }
      periods.resetTo(reply.now)
    }
  }

  /**
   * Reads counters. Repeats it while their clock is outside the request's periods. @param startedAt see {@link ready}
   */
  *read(of: ReadOf, startedAt: number): Task<Exchange<ReadRequest, ReadReply>> {
    const { counters, sync, periods } = this.#deps
    if (sync) return this.readSync(of)
    const { subject, set, quotas } = of
    for (let tries = 1; ; tries++) {
      const request = { subject, set, layers: quotas.layers, periods: periods.of(quotas) }
      const reply = yield* this.call(() => counters.read(request), undefined, startedAt)
      if (reply.isStale !== true || tries === MAX_STALE) return { request, reply }
      periods.resetTo(reply.now)
    }
  }

  /** Returns a subject's open holds, for synchronous counters. */
  holdsOfSync(subject: Subject): readonly HoldRecord[] {
    const { holds } = this.#deps.counters
    return holds === undefined ? NO_HOLDS : callSync(() => holds.list({ subject })).holds
  }

  /** Starts reading a subject's open holds. An error is thrown where the result is awaited. */
  holdsOf(subject: Subject, startedAt: number): Answer<readonly HoldRecord[]> {
    const { counters, sync } = this.#deps
    const { holds } = counters
    if (sync || holds === undefined) return this.holdsOfSync(subject)
    const listed = runAsync(this.#listed(holds, subject, startedAt))
    listed.catch(() => undefined)
    return listed
  }

  *#listed(holds: Holds, subject: Subject, startedAt: number): Task<readonly HoldRecord[]> {
    return (yield* this.call(() => holds.list({ subject }), undefined, startedAt)).holds
  }

  /** @throws {QuotaError} `holds_unsupported` */
  *holds<A>(call: (holds: Holds) => Answer<A>): Task<A> {
    const { counters, sync, can } = this.#deps
    const { holds } = counters
    if (holds === undefined) throw unsupported('holds_unsupported', 'this store has no holds', can)
    return sync ? callSync(() => call(holds)) : yield* this.call(() => call(holds), undefined, this.#since())
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
  ): Task<Exchange<Q, A>> {
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
    const { counters, sync } = this.#deps
    if (sync) this.settleSync(request)
    else yield* this.call(() => counters.settle(request), undefined, this.#since())
  }

  /** {@link settle} for synchronous counters. */
  settleSync(request: SettleRequest): void {
    callSync(() => this.#deps.counters.settle(request))
  }

  *reset(request: ResetRequest): Task<void> {
    const { counters, sync } = this.#deps
    if (sync) callSync(() => counters.reset(request))
    else yield* this.call(() => counters.reset(request), undefined, this.#since())
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

  #since(): number | undefined {
    return this.#deps.keepsTime ? undefined : systemStopwatch()
  }
}

/** Calls a synchronous store. Errors become `quota_unavailable`. */
function callSync<A>(call: () => Answer<A>): A {
  try {
    return call() as A
  } catch (error) {
    throw unavailable(error)
  }
}
