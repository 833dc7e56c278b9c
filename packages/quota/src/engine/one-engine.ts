import type { Decision } from '../decision/decision.ts'
import type { Asked } from '../decision/outcome.ts'
import { QuotaError } from '../errors/quota-error.ts'
import type { Quotas } from '../policy/limits.ts'
import { costsOf, isFree, takesSlots } from '../policy/units.ts'
import type { Answer } from '../store/answer.ts'
import type { AsyncHolds, HoldRecord, SyncHolds } from '../store/hold-port.ts'
import type { Counters, ReadReply, ReadRequest, ResetRequest, SettleRequest } from '../store/quota-store.ts'
import { type Subject, storeSchema } from '../store/schema.ts'
import { systemStopwatch } from '../time/clock.ts'
import { orAborted } from './decide/abort.ts'
import { type Answered, Asking, NoAnswer } from './decide/asking.ts'
import { checkTokens, type ReservationTerms } from './decide/check.ts'
import type { Decider, Reserved } from './decide/decider.ts'
import { LATER, NOW, promised, type Steps } from './decide/driver.ts'
import { unavailable } from './decide/unavailable.ts'
import { Engine } from './engine.ts'
import type { EngineParts } from './engine-parts.ts'
import type { QuotaWithin, SyncQuota } from './quota.ts'
import type {
  QuotaRequest,
  QuotaStatus,
  Reservation,
  ReservationCalls,
  ReserveRequest,
  StatusOptions,
  SyncReservation,
} from './requests.ts'
import {
  awaited,
  HandleLater,
  HandleNow,
  type HandleWork,
  refusedReservation,
  repeatedReservation,
} from './reservations/handle.ts'
import { commitAbove, type HeldTokens } from './reservations/hold.ts'

/** How often something is asked again since the store's clock, or the settings, were not what they were last. */
const MAX_TURNS = 3
const NO_TERMS: ReservationTerms = {}
const NO_HOLDS: readonly HoldRecord[] = []

export type Held = Extract<Reserved, { kind: 'held' }>

/** How the first look at the settings went. */
interface FirstLook {
  /** Since when somebody waits for it, by the machine's stopwatch. */
  readonly askedAt: number
  /** Why there is nothing to decide by; never `undefined` where that is so. */
  readonly error?: unknown
}

/** What every engine does, in steps: one after the other at once where all stores answer at once, else as they answer. */
export class OneEngine extends Engine {
  readonly sync: boolean
  readonly #counters: Counters
  /** How the counters answer, how the settings do, and how the two do together. */
  readonly #say: Steps
  readonly #settings: Steps
  readonly #all: Steps
  /** Whether the counters answer in time by themselves. */
  readonly #keepsTime: boolean
  readonly #asking: Asking
  readonly #decider: Decider
  readonly #plain: HandleWork<Held>
  readonly #held: HandleWork<Held>

  constructor(parts: EngineParts) {
    super(parts)
    const { live, periods, deadlineMs, store } = parts
    this.#counters = store.open(storeSchema(parts.policy))
    this.#say = store.sync ? NOW : LATER
    this.#settings = parts.settingsStore.sync ? NOW : LATER
    this.sync = store.sync && parts.settingsStore.sync
    this.#all = this.sync ? NOW : LATER
    // An answer that is here at once cannot be late.
    this.#keepsTime = store.sync || store.deadlineMs !== undefined
    this.#asking = new Asking({
      live,
      periods,
      counters: this.#counters,
      sync: store.sync,
      keepTime: this.#keepsTime,
      deadlineMs,
      late: (asked, answer, terms) => this.#giveBack(asked, answer, terms),
    })
    // Posted once, whether that arrives or not.
    this.#decider = parts.decider((posting) => void promised(() => this.#settle(posting)).catch(() => undefined))
    this.#plain = this.#plainWork()
    this.#held = this.#heldWork()
  }

  consume(request: QuotaRequest): Promise<Decision> {
    return promised(() => (request.signal === undefined ? this.#consume(request) : this.#consumeOrAbort(request)))
  }

  peek(request: QuotaRequest): Promise<Decision> {
    return promised(() => this.#peek(request))
  }

  reserve(request: ReserveRequest): Promise<Reservation> {
    return promised(() => {
      const { signal } = request
      signal?.throwIfAborted()
      const reservation = this.#all.then(this.#reserve(request), (reserved) => this.#handleLater(reserved))
      return signal === undefined ? reservation : orAborted(Promise.resolve(reservation), signal)
    })
  }

  status(subject: Subject, options?: StatusOptions): Promise<QuotaStatus> {
    return promised(() => this.#status(subject, options))
  }

  protected consuming(request: QuotaRequest): Answer<Decision> {
    return this.#consume(request)
  }

  protected peeking(request: QuotaRequest): Answer<Decision> {
    return this.#peek(request)
  }

  protected reserving(request: ReserveRequest): SyncReservation {
    return this.#handleNow(this.#reserve(request) as Reserved)
  }

  protected looking(subject: Subject, options?: StatusOptions): Answer<QuotaStatus> {
    return this.#status(subject, options)
  }

  #consume(request: QuotaRequest): Answer<Decision> {
    this.requireOpen()
    return this.parts.live.loaded
      ? this.#consumed(this.#asking, request, undefined)
      : LATER.then(this.#lookFirst(), (first) => this.#consumed(this.#asking, request, first))
  }

  #consumed(asking: Asking, request: QuotaRequest, first: FirstLook | undefined): Answer<Decision> {
    const asked = this.#decider.asked(request)
    this.parts.check.consumable(asked)
    if (isFree(asked.costs) && first?.error === undefined) return this.#decider.free(asked)
    const startedAtMs = this.parts.telling.start()
    const answer = this.#take(asking, asked, NO_TERMS, first)
    if (this.#all.sync) return this.#decider.decision(asked, startedAtMs, answer as Answered | NoAnswer)
    return LATER.then(answer, (each) => this.#decider.decision(asked, startedAtMs, each))
  }

  #peek(request: QuotaRequest): Answer<Decision> {
    return this.#ready((askedAt) => {
      const asked = this.#decider.asked(request)
      if (isFree(asked.costs) && !takesSlots(asked.costs)) return this.#decider.free(asked)
      return this.#quotasOf(asked.subject, asked.plan, askedAt, (byCategory) => {
        const quotas = byCategory[asked.category]!
        const lookNow = (): ReadRequest => this.#decider.lookFor(asked, quotas)
        return this.#look(lookNow, askedAt, (look, reply) => this.#decider.foreseen(asked, quotas, look, reply))
      })
    })
  }

  #status(subject: Subject, { plan }: StatusOptions = {}): Answer<QuotaStatus> {
    return this.#ready((askedAt) => {
      this.parts.check.subject(subject, plan)
      return this.#quotasOf(subject, plan, askedAt, (quotas) => {
        const held = this.#heldBy(subject, askedAt)
        const lookNow = (): ReadRequest => this.#decider.lookAt(subject, quotas)
        return this.#look(lookNow, askedAt, (look, reply) =>
          this.#say.then(held, (holds) => this.#decider.status(subject, quotas, look, reply, holds)),
        )
      })
    })
  }

  #reserve(request: ReserveRequest): Answer<Reserved> {
    this.requireOpen()
    return this.parts.live.loaded
      ? this.#reserved(request, undefined)
      : LATER.then(this.#lookFirst(), (first) => this.#reserved(request, first))
  }

  #reserved(request: ReserveRequest, first: FirstLook | undefined): Answer<Reserved> {
    const asked = this.#decider.asked(request)
    const terms = this.parts.check.terms(request, asked)
    if (isFree(asked.costs) && terms.id === undefined && first?.error === undefined) return this.#decider.freely(asked)
    const startedAtMs = this.parts.telling.start()
    return this.#all.then(this.#take(this.#asking, asked, terms, first), (answer) =>
      this.#decider.reservation(asked, startedAtMs, answer, terms),
    )
  }

  #take(
    asking: Asking,
    asked: Asked,
    terms: ReservationTerms,
    first: FirstLook | undefined,
  ): Answer<Answered | NoAnswer> {
    if (first?.error === undefined) return asking.take(asked, terms, first?.askedAt)
    return new NoAnswer(first.error, this.parts.live.compiled.defaults[asked.category]!, true)
  }

  #handleNow(reserved: Reserved): SyncReservation {
    if (reserved.kind === 'refused') return refusedReservation(reserved.decision)
    if (reserved.kind === 'repeated') return repeatedReservation(reserved.status) as SyncReservation
    return new HandleNow(reserved.hold === undefined ? this.#plain : this.#held, reserved)
  }

  #handleLater(reserved: Reserved): Reservation {
    if (reserved.kind === 'refused') return awaited(refusedReservation(reserved.decision))
    if (reserved.kind === 'repeated') return awaited(repeatedReservation(reserved.status)) as Reservation
    return new HandleLater(reserved.hold === undefined ? this.#plain : this.#held, reserved)
  }

  /** Of what is no hold. */
  #plainWork(): HandleWork<Held> {
    return {
      steps: this.#all,
      check: ({ asked, isUnrecorded }, actual) => {
        if (actual === undefined) return
        checkTokens(actual, 'commit', 0)
        const reserved = asked.costs[0]!
        if (actual > reserved && isUnrecorded !== true) throw commitAbove(actual, reserved, 'it is no hold (`ttlMs`)')
      },
      settle: ({ asked, settlement }, as, actual) => {
        const reserved = asked.costs[0]!
        const charged = as === 'cancelled' ? 0 : Math.min(actual ?? reserved, reserved)
        const uncharged = as === 'cancelled' ? 0 : (actual ?? reserved) - charged
        const result = { charged, uncharged }
        // A full commit changes no counter, and only this handle could cancel: the store need not know.
        const isFull = as === 'committed' && charged === reserved
        const request = isFull ? undefined : settlement(reserved - charged, as)
        return request === undefined
          ? result
          : this.#asked(
              this.#say,
              () => this.#settle(request),
              () => result,
            )
      },
      extend: ({ isUnrecorded = false }, ttlMs) => this.parts.endWithoutStore(isUnrecorded, ttlMs),
      add: ({ asked, isUnrecorded = false }, tokens) => {
        this.parts.requireHold(isUnrecorded)
        checkTokens(tokens, 'add', 1)
        const more = { ...asked, costs: costsOf(tokens, false) }
        return this.#all.then(this.#asking.take(more, NO_TERMS), (answer) =>
          this.#decider.decision(more, undefined, answer),
        )
      },
    }
  }

  #heldWork(): HandleWork<Held> {
    const quotasOf = ({ subject, plan, category }: Asked, next: (quotas: Quotas) => Answer<unknown>): Answer<never> =>
      this.#ready((askedAt) => this.#quotasOf(subject, plan, askedAt, (all) => next(all[category]!))) as Answer<never>
    return {
      steps: this.#all,
      check: ({ hold }, actual) => hold!.checkSettle(actual),
      extend: ({ hold }, ttlMs) => {
        const request = hold!.extendRequest(ttlMs)
        return this.#holdsAsked(
          (holds) => holds.extend(request),
          (reply) => hold!.extended(reply),
        )
      },
      add: ({ hold }, tokens) =>
        quotasOf(hold!.asked, (quotas) =>
          this.#inForce(
            () => hold!.growRequest(tokens, quotas),
            (request) => (holds) => holds.grow(request),
            (request, reply) => hold!.grown(request, reply),
          ),
        ),
      settle: ({ hold }, as, actual) =>
        quotasOf(hold!.asked, (quotas) =>
          this.#inForce(
            () => hold!.settleRequest(as, actual, quotas),
            (request) => (holds) => holds.settle(request),
            (request, reply) => hold!.settled(request, reply),
          ),
        ),
    }
  }

  protected holdCalls(hold: HeldTokens): ReservationCalls {
    return new HandleLater(this.#held, { kind: 'held', asked: hold.asked, hold, isNamed: true } as Held)
  }

  protected async closeWindows(request: ResetRequest): Promise<void> {
    await this.#done(this.#counters.reset(request))
  }

  protected async askHolds<T>(ask: (holds: SyncHolds | AsyncHolds) => Answer<T>): Promise<T> {
    // In a box: what holds that answer at once say is the answer.
    const box = await this.#holdsAsked(ask, (value) => ({ value }))
    return box.value
  }

  override within(transaction: unknown): QuotaWithin {
    this.requireOpen()
    const { store, settingsStore, live, periods, deadlineMs, policy } = this.parts
    const counters = store.sync ? undefined : store.within?.(storeSchema(policy), transaction)
    if (counters === undefined) return super.within(transaction)
    const late = (): void => undefined
    const settings = settingsStore.within?.(transaction)
    const inTransaction = { counters, sync: false, keepTime: true, settings }
    // What comes late is a part of the transaction all the same, and goes with it.
    const asking = new Asking({ live, periods, deadlineMs, late, ...inTransaction })
    const consume = (request: QuotaRequest): Answer<Decision> => {
      const asked = this.#decider.asked(request)
      this.parts.check.consumable(asked)
      if (isFree(asked.costs)) return this.#decider.free(asked)
      const startedAtMs = this.parts.telling.start()
      return LATER.then(asking.take(asked, NO_TERMS), (answer) => {
        if (answer instanceof NoAnswer)
          throw unavailable(answer.error, answer.ofSettings ? 'the settings store' : undefined)
        return this.#decider.decision(asked, startedAtMs, answer)
      })
    }
    return {
      consume: (request) =>
        promised(() => {
          this.requireOpen()
          if (live.loaded) return consume(request)
          return this.#asked(
            LATER,
            () => live.ready(settings),
            () => consume(request),
            'the settings store',
          )
        }),
    }
  }

  /** A consumption that can be taken back until the signal is too late: a reservation that is never settled. */
  #consumeOrAbort(request: QuotaRequest): Answer<Decision> {
    const { signal } = request
    signal!.throwIfAborted()
    if (this.sync) return this.#consume(request)
    const { live } = this.parts
    if (live.loaded) this.parts.check.consumable(this.#decider.asked(request))
    const { ttlMs: _, ...plain }: ReserveRequest = request
    return LATER.then(this.reserve(plain), (reservation) => reservation.decision as Decision)
  }

  async #lookFirst(): Promise<FirstLook> {
    const askedAt = systemStopwatch()
    try {
      await this.parts.live.ready()
      return { askedAt }
    } catch (error) {
      return { askedAt, error }
    }
  }

  /** What is no decision waits for the very first look at the settings as well; since when, by the machine's stopwatch. */
  #ready<T>(next: (askedAt: number) => Answer<T>): Answer<T> {
    this.requireOpen()
    if (this.parts.live.loaded) return next(this.sync ? 0 : systemStopwatch())
    return LATER.then(this.#lookFirst(), ({ askedAt, error }) => {
      if (error !== undefined) throw unavailable(error, 'the settings store')
      return next(askedAt)
    })
  }

  /** Asks, in time where that is to be waited for; what goes wrong is `quota_unavailable`. */
  #asked<A, B>(
    steps: Steps,
    ask: () => Answer<A>,
    next: (value: A) => Answer<B>,
    of?: 'the settings store',
    askedAt?: number,
  ): Answer<B> {
    const { deadlineMs } = this.parts
    const inTime =
      askedAt === undefined
        ? ask
        : () => steps.inTime(ask, Math.max(0, deadlineMs - (steps.sync ? 0 : systemStopwatch() - askedAt)))
    return steps.ask(inTime, next, (error) => {
      throw unavailable(error, of)
    })
  }

  #quotasOf<T>(
    subject: Subject,
    plan: string | undefined,
    askedAt: number,
    next: (quotas: readonly Quotas[]) => Answer<T>,
  ): Answer<T> {
    const { live } = this.parts
    const ask = (): Answer<readonly Quotas[]> =>
      live.known(subject, plan) ?? LATER.then(live.fetch(subject), (settings) => live.quotasOf(settings, plan, subject))
    return this.#asked(this.#settings, ask, next, 'the settings store', askedAt)
  }

  /** The open holds of a subject; a status waits for them as for its windows. */
  #heldBy(subject: Subject, askedAt: number): Answer<readonly HoldRecord[]> {
    const { holds } = this.#counters
    if (holds === undefined) return NO_HOLDS
    const listed = this.#asked(
      this.#say,
      () => holds.list({ subject }),
      (reply) => reply.holds,
      undefined,
      askedAt,
    )
    // Whoever waits for the windows first hears of their failure.
    if (!this.#say.sync) (listed as Promise<unknown>).catch(() => undefined)
    return listed
  }

  #look<T>(
    lookNow: () => ReadRequest,
    askedAt: number,
    next: (look: ReadRequest, reply: ReadReply) => Answer<T>,
    turns = 1,
  ): Answer<T> {
    const look = lookNow()
    return this.#asked(
      this.#say,
      () => this.#counters.read(look),
      (reply) => {
        if (reply.isStale !== true || turns === MAX_TURNS) return next(look, reply)
        this.parts.periods.stale(reply.now)
        return this.#look(lookNow, askedAt, next, turns + 1)
      },
      undefined,
      askedAt,
    )
  }

  #holdsAsked<A, B>(ask: (holds: SyncHolds | AsyncHolds) => Answer<A>, next: (reply: A) => Answer<B>): Answer<B> {
    const holds = this.requireHolds(this.#counters.holds)
    return this.#asked(this.#say, () => ask(holds), next, undefined, this.#keepsTime ? undefined : systemStopwatch())
  }

  /** Asks the holds, again where they know other settings, or their clock is outside of the periods that it was told. */
  #inForce<Q, A extends { readonly outcome: string; readonly now: number }, B>(
    requestNow: () => Q,
    ask: (request: Q) => (holds: SyncHolds | AsyncHolds) => Answer<A>,
    next: (request: Q, reply: A) => B,
    turns = 1,
  ): Answer<B> {
    const request = requestNow()
    return this.#holdsAsked(ask(request), (reply): Answer<B> => {
      if (reply.outcome !== 'stale') return next(request, reply)
      if (turns === MAX_TURNS) throw unavailable(new QuotaError('store_error', 'settings and clock changed too fast'))
      const again = (): Answer<B> => this.#inForce(requestNow, ask, next, turns + 1)
      const { settingsRevision } = reply as { readonly settingsRevision?: string | undefined }
      if (settingsRevision !== undefined) {
        return this.#asked(LATER, () => this.parts.live.catchUp(settingsRevision), again, 'the settings store')
      }
      this.parts.periods.stale(reply.now)
      return again()
    })
  }

  #settle(request: SettleRequest): Answer<void> {
    return this.#done(this.#counters.settle(request))
  }

  /** Waits for counters that have nothing to say, in time. */
  #done(answer: Answer<void>): Answer<void> {
    return this.#keepsTime ? answer : LATER.inTime(() => answer, this.parts.deadlineMs)
  }

  /** An admission whose caller was told that there was no answer. A refund that fails leaves the tokens charged. */
  #giveBack(asked: Asked, { states, quotas, endsAt }: Answered, { id, hold }: ReservationTerms): void {
    const { subject, category, costs } = asked
    const posting = { subject, category, layers: quotas.layers, states, giveBack: costs.slice(0, -1), id }
    void promised<unknown>(() =>
      hold === undefined
        ? this.#settle({ ...posting, as: 'cancelled' })
        : this.holdCalls(this.parts.held(asked, id!, hold.ttlMs, endsAt!)).cancel(),
    ).catch(() => undefined)
  }
}

/** An engine all of whose stores answer at once: every question can be asked without waiting. */
export class OneSyncEngine extends OneEngine implements SyncQuota {
  override readonly sync = true

  consumeSync(request: QuotaRequest): Decision {
    return this.consuming(request) as Decision
  }

  peekSync(request: QuotaRequest): Decision {
    return this.peeking(request) as Decision
  }

  reserveSync(request: ReserveRequest): SyncReservation {
    return this.reserving(request)
  }

  statusSync(subject: Subject, options?: StatusOptions): QuotaStatus {
    return this.looking(subject, options) as QuotaStatus
  }
}
